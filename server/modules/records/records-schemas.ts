import { type Static, Type } from 'typebox'
import { eventFilterMembers } from '../../../contract/event-filter.ts'
import {
  pageSizeDefault,
  pageSizeMax,
  relatedDepthMax,
  relatedResponseMax,
  sessionIdLengthMax,
} from '../../../contract/limits.ts'
import { patterns, recordTypes } from '../../../contract/literals.ts'
import { object } from '../../../contract/object-schema.ts'
import { NextCursor, replayedHeader } from '../../../contract/response-schemas.ts'
import {
  exampleId,
  exampleTime,
  RecordSchema,
  timestamp,
  uuid,
  VerificationSummarySchema,
} from '../../records/record-schemas.ts'

export const ifMatchHeader = object({
  'if-match': Type.Optional(
    Type.String({
      description: 'Entity tags of which one must be current, or `*`',
      examples: [`"${exampleId}-0"`],
    }),
  ),
})

export const ifNoneMatchHeader = object({
  'if-none-match': Type.Optional(
    Type.String({
      description: 'Entity tags, strong or weak, or `*`. The response is 304 if one of them is current',
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
    Type.String({
      minLength: 1,
      description: 'Applies to output and telemetry records',
      examples: ['summarise-contract'],
    }),
  ),
  archetype_id: Type.Optional(
    Type.String({ minLength: 1, description: 'Only grants of this archetype', examples: ['account-manager'] }),
  ),
  user_id: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'User id in telemetry events and outputs',
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
  trace_id: Type.Optional(
    Type.String({
      pattern: patterns.traceId,
      description: 'Telemetry events of this trace',
      examples: ['4bf92f3577b34da6a3ce929d0e0e4736'],
    }),
  ),
  session_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: sessionIdLengthMax,
      description: 'Telemetry events of this session',
      examples: ['support-chat-8812'],
    }),
  ),
  ...eventFilterMembers,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: pageSizeMax,
      default: pageSizeDefault,
      description:
        'Maximum number of records. A page of very large records, or of rare ones, ends early; `next_cursor` continues it',
    }),
  ),
  cursor: Type.Optional(Type.String({ minLength: 1, description: '`next_cursor` of the previous page' })),
  sort: Type.Optional(
    Type.Enum(['created_at', '-created_at', 'cost_usd_estimate', '-cost_usd_estimate'], {
      default: 'created_at',
      description: 'Sorting by cost returns only records with a cost',
    }),
  ),
  verify: verifyParameter,
  include_purged: Type.Optional(
    Type.Boolean({ default: false, description: 'Include purged records that can still be restored' }),
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
  reason: Type.String({
    minLength: 1,
    maxLength: 500,
    description: 'Reason for the purge',
    examples: ['Entered twice'],
  }),
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
  hard_delete_after: timestamp('The record can be restored until this time, or longer if a hold covers or covered it'),
})

export const RestoredSchema = object({ record_id: uuid('Id of the record'), is_purged: Type.Literal(false) })

export const RelatedSchema = object({
  root: uuid('The record at which the traversal started'),
  records: Type.Array(RecordSchema, {
    description: `Breadth first from the root; at most ${relatedResponseMax} records, fewer if they are very large`,
  }),
  edges: Type.Array(object({ from: uuid('The record with the link'), to: uuid('The linked record') })),
  truncated: Type.Boolean({ description: 'More records exist within the depth than are returned' }),
})

export const NotModified = Type.Null({ description: 'The record is in the state that `If-None-Match` names' })

export const etagHeader = { ETag: Type.String({ description: 'State of the record', examples: [`"${exampleId}-0"`] }) }

export const locationHeader = {
  Location: Type.String({ examples: [`/api/v1/hub/records/${exampleId}`] }),
  ...replayedHeader,
}
