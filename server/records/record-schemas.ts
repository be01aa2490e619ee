import { Type } from 'typebox'
import { patterns, recordTypes } from '../../contract/literals.ts'
import { object } from '../../contract/object-schema.ts'
import { ProvenanceCosign, ProvenanceHash } from '../../contract/response-schemas.ts'

/** Schemas that the endpoints about records share. */

export const exampleId = '019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'
export const exampleTime = '2026-03-14T09:26:53.589793Z'

export const uuid = (description: string) => Type.String({ pattern: patterns.uuid, description, examples: [exampleId] })
export const timestamp = (description: string) =>
  Type.String({ format: 'date-time', description, examples: [exampleTime] })

export const recordIdParams = object({ record_id: uuid('Id of the record') })

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
          'Present if the content was destroyed with the key of the tenant. Then `provenance_hash_matches` means ' +
          'that the stored hash is the sealed one and that a verified governance event records the destruction',
      }),
    ),
  },
  { title: 'Verification' },
)

export const VerificationSummarySchema = object(
  {
    checked: Type.Integer(),
    verified: Type.Integer(),
    tampered: Type.Integer({ description: 'Hash, index columns or stored state disagree with the record' }),
    cosign_invalid: Type.Integer({ description: 'The cosignature does not verify over the stored hash' }),
  },
  { description: 'Only with verify=true' },
)

export const RecordSchema = Type.Object(
  {
    record_id: uuid('UUIDv7'),
    record_type: Type.Enum([...recordTypes]),
    tenant_id: Type.String({ examples: ['acme'] }),
    created_at: timestamp('Time of receipt'),
    created_by: Type.String({ description: 'Subject of the token', examples: ['service:hub'] }),
    schema_version: Type.String({ examples: ['1.0'] }),
    related_records: Type.Array(uuid('A related record')),
    is_purged: Type.Boolean({ examples: [false] }),
    provenance_hash: ProvenanceHash,
    provenance_cosign: ProvenanceCosign,
    content_key_id: Type.Optional(
      Type.String({
        pattern: '^ck_[0-9a-f]{24}$',
        description:
          'Present only if the content cannot be decrypted because this content key was destroyed ' +
          '(`cmek.key_destroyed`). Then `content` is `"unavailable"`, and the other members are those that were ' +
          'stored outside the content: hash and cosignature still verify against seal and log, these members no ' +
          'longer do',
        examples: ['ck_6f49fde12dde270be60fdac6'],
      }),
    ),
    verification: Type.Optional(VerificationSchema),
  },
  { additionalProperties: true, title: 'Record', description: 'The common fields, and those of the record type' },
)
