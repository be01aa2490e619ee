import { type Static, Type } from 'typebox'
import { pageSizeDefault, pageSizeMax, relatedAnswerMax, relatedDepthMax } from '../../../contract/limits.ts'
import { recordTypes } from '../../../contract/literals.ts'
import { NextCursor, replayedHeader } from '../../../contract/response-schemas.ts'
import {
  exampleId,
  exampleTime,
  object,
  RecordSchema,
  timestamp,
  uuid,
  VerificationSummarySchema,
} from '../../records/record-schemas.ts'

export const ifMatchHeader = object({
  'if-match': Type.Optional(
    Type.String({
      description: 'Entity tags, of which one must be the current one of the record, or `*`',
      examples: [`"${exampleId}-0"`],
    }),
  ),
})

export const ifNoneMatchHeader = object({
  'if-none-match': Type.Optional(
    Type.String({
      description: 'Entity tags, strong or weak, or `*`: 304 when one is the current one of the record',
      examples: [`"${exampleId}-0"`],
    }),
  ),
})

const verifyParameter = Type.Optional(
  Type.Boolean({ default: false, description: 'Verify provenance and cosignature', examples: [true] }),
)

export const verifyQuery = object({ verify: verifyParameter })

export const recordsQuery = object({
  record_type: Type.Optional(Type.Enum([...recordTypes], { description: 'Only records of this type' })),
  record_id: Type.Optional(uuid('Only this record')),
  skill_id: Type.Optional(
    Type.String({ minLength: 1, description: 'Output and telemetry records only', examples: ['summarise-contract'] }),
  ),
  archetype_id: Type.Optional(
    Type.String({ minLength: 1, description: 'Grants of this archetype', examples: ['account-manager'] }),
  ),
  user_id: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'The user id as telemetry and outputs name it',
      examples: ['user:ada@example.com'],
    }),
  ),
  created_by: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Client id of a service account, id of a user, or `service:…` of the Hub itself',
      examples: ['service:hub'],
    }),
  ),
  created_at__gte: Type.Optional(Type.String({ description: 'RFC 3339; inclusive', examples: [exampleTime] })),
  created_at__lt: Type.Optional(Type.String({ description: 'RFC 3339; exclusive', examples: [exampleTime] })),
  event_kind: Type.Optional(
    Type.String({ minLength: 1, description: 'Governance events of this kind', examples: ['hub.record_purged'] }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: pageSizeMax,
      default: pageSizeDefault,
      description: 'Maximum number of records. A page of very large records ends early; `next_cursor` continues it',
    }),
  ),
  cursor: Type.Optional(Type.String({ minLength: 1, description: '`next_cursor` of the page before' })),
  sort: Type.Optional(
    Type.Enum(['created_at', '-created_at', 'cost_usd_estimate', '-cost_usd_estimate'], {
      default: 'created_at',
      description: 'Sorting by cost finds only records that have one',
    }),
  ),
  verify: verifyParameter,
  include_purged: Type.Optional(
    Type.Boolean({ default: false, description: 'Purged records too, while they can be restored' }),
  ),
})

/** The query parameters of interface 4.2. */
export type RecordQuery = Static<typeof recordsQuery>

export const relatedQuery = object({
  depth: Type.Optional(Type.Integer({ minimum: 1, maximum: relatedDepthMax, default: 1, description: 'Hops' })),
  direction: Type.Optional(
    Type.Enum(['both', 'out', 'in'], {
      default: 'both',
      description: '`out` follows related_records, `in` follows them backwards',
    }),
  ),
})

export const purgeQuery = object({
  reason: Type.String({ minLength: 1, maxLength: 500, description: 'Why it goes', examples: ['Entered twice'] }),
})

export const RecordPage = object({
  records: Type.Array(RecordSchema),
  next_cursor: NextCursor,
  verification_summary: Type.Optional(VerificationSummarySchema),
})

export const PurgedSchema = object({
  record_id: uuid('Id of the record'),
  is_purged: Type.Literal(true),
  purged_at: timestamp('When it was purged'),
  hard_delete_after: timestamp('Until then the record can be restored; longer if a hold applies or applied to it'),
})

export const RestoredSchema = object({ record_id: uuid('Id of the record'), is_purged: Type.Literal(false) })

export const RelatedSchema = object({
  root: uuid('The record at which the traversal started'),
  records: Type.Array(RecordSchema, {
    description: `The root first, then breadth first; at most ${relatedAnswerMax}, fewer of very large ones`,
  }),
  edges: Type.Array(object({ from: uuid('The record that names the other'), to: uuid('The record that is named') })),
  truncated: Type.Boolean({ description: 'There are more records within the depth than were answered' }),
})

export const NotModified = Type.Null({ description: 'The record is in the state that `If-None-Match` names' })

export const etagHeader = { ETag: Type.String({ description: 'State of the record', examples: [`"${exampleId}-0"`] }) }

export const locationHeader = {
  Location: Type.String({ examples: [`/api/v1/hub/records/${exampleId}`] }),
  ...replayedHeader,
}
