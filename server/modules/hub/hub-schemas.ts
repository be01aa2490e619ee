import { type Static, type TSchema, Type } from 'typebox'
import { pageSizeDefault, pageSizeMax, relatedAnswerMax, relatedDepthMax } from '../../../contract/limits.ts'
import { patterns, recordTypes } from '../../../contract/literals.ts'
import { NextCursor, ProvenanceCosign, ProvenanceHash, replayedHeader } from '../../../contract/response-schemas.ts'

const exampleId = '019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'
const exampleTime = '2026-03-14T09:26:53.589793Z'

const uuid = (description: string) => Type.String({ pattern: patterns.uuid, description, examples: [exampleId] })
const timestamp = (description: string) => Type.String({ format: 'date-time', description, examples: [exampleTime] })
const object = <Properties extends Record<string, TSchema>>(properties: Properties, options = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options })

export const recordIdParams = object({ record_id: uuid('Id of the record') })

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

export const ReleaseBody = object({
  reason: Type.String({ minLength: 1, maxLength: 500, examples: ['Case 17 is closed'] }),
  expires_at: Type.Optional(timestamp('End of the release; without it, it does not end')),
})

export const VerificationSchema = object(
  {
    verified: Type.Boolean({ description: 'All checks passed' }),
    checks: object({
      provenance_hash_matches: Type.Boolean(),
      provenance_cosign_valid: Type.Boolean(),
      schema_version_supported: Type.Boolean(),
      no_active_legal_hold_violation: Type.Boolean(),
    }),
    content: Type.Optional(
      Type.Literal('unavailable', {
        description:
          'Present if the content was destroyed with the key of the tenant. Then `provenance_hash_matches` means that the ' +
          'stored hash is the sealed one and that a verified governance event records the destruction',
      }),
    ),
  },
  { title: 'Verification' },
)

export const RecordSchema = Type.Object(
  {
    record_id: uuid('UUIDv7'),
    record_type: Type.Enum([...recordTypes]),
    tenant_id: Type.String({ examples: ['acme'] }),
    created_at: timestamp('When the server took it'),
    created_by: Type.String({ description: 'Subject of the token', examples: ['service:hub'] }),
    schema_version: Type.String({ examples: ['1.0'] }),
    related_records: Type.Array(uuid('A record this one names')),
    is_purged: Type.Boolean({ examples: [false] }),
    provenance_hash: ProvenanceHash,
    provenance_cosign: ProvenanceCosign,
    content_key_id: Type.Optional(
      Type.String({
        pattern: '^ck_[0-9a-f]{24}$',
        description:
          'Present only if the content cannot be decrypted because this content key was destroyed (`cmek.key_destroyed`). Then `content` is ' +
          '`"unavailable"`, and the other members are what is kept beside the content: hash and cosignature still verify ' +
          'against seal and log, the other members no longer do',
        examples: ['ck_6f49fde12dde270be60fdac6'],
      }),
    ),
    verification: Type.Optional(VerificationSchema),
  },
  { additionalProperties: true, title: 'Record', description: 'The common fields, and those of the record type' },
)

export const RecordPage = object({
  records: Type.Array(RecordSchema),
  next_cursor: NextCursor,
  verification_summary: Type.Optional(
    object(
      {
        checked: Type.Integer(),
        verified: Type.Integer(),
        tampered: Type.Integer({ description: 'Hash, index columns or stored state disagree with the record' }),
        cosign_invalid: Type.Integer({ description: 'The cosignature does not verify over the stored hash' }),
      },
      { description: 'Only with verify=true' },
    ),
  ),
})

export const PurgedSchema = object({
  record_id: uuid('Id of the record'),
  is_purged: Type.Literal(true),
  purged_at: timestamp('When it was purged'),
  hard_delete_after: timestamp('Until then the record can be restored; longer if a hold applies or applied to it'),
})

export const RestoredSchema = object({ record_id: uuid('Id of the record'), is_purged: Type.Literal(false) })

export const ReleaseSchema = object({
  release_id: uuid('Id of the release'),
  record_id: uuid('The governance event that may now be purged'),
  reason: Type.String(),
  created_at: timestamp('Begin of the release'),
  expires_at: Type.Optional(timestamp('End of the release')),
})

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
