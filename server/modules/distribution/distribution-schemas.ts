import { Type } from 'typebox'
import { patterns } from '../../../contract/literals.ts'
import { object } from '../../../contract/object-schema.ts'

const exampleConnector = 'con_7Kd2mQx9RtVb4LhZs8WcNp3F'
const exampleJob = 'rep_Vb3xQ8ZrT2vYw0LxNp6BdHs9'

const ConnectorId = Type.String({ minLength: 1, maxLength: 64, examples: [exampleConnector] })
const JobId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Id of the republication',
  examples: [exampleJob],
})
const Id = Type.String({ pattern: patterns.identifier, examples: ['sum-up'] })
const time = (description: string) => Type.String({ description, examples: ['2026-07-01T09:30:00.000000Z'] })

export const ManifestQuery = object({
  connector_id: Type.String({ ...ConnectorId, description: 'Slug of the tenant' }),
})

export const ManifestHeaders = object({
  'if-none-match': Type.Optional(
    Type.String({ maxLength: 1000, description: 'ETag of the previous manifest', examples: ['W/"b7e2"'] }),
  ),
})

const ManifestSkill = object({
  skill_id: Id,
  skill_version: Type.String({ examples: ['1.4.0'] }),
  name: Type.String({ examples: ['Sum up'] }),
  description: Type.Optional(Type.String({ examples: ['Sums a document up'] })),
  record_id: Type.String({
    description: 'The skill_definition record of this version',
    examples: ['019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'],
  }),
  provenance_hash: Type.String({
    examples: ['sha256:4e3fded216bc83851e95113fb01eda0701d2f321c948b2f0d4e23ad8ebc688fd'],
  }),
  archetype_ids: Type.Array(Type.String(), {
    description: 'Archetypes that the skill is granted to; empty if none',
    examples: [['analyst']],
  }),
  manifest: Type.Optional(Type.Unknown({ description: 'Id of the record', examples: [{ inputs: ['text'] }] })),
})

export const ManifestSchema = object({
  version: Type.Literal(1),
  tenant: Type.String({ examples: ['acme'] }),
  connector_id: ConnectorId,
  platform: Type.String({ pattern: patterns.llmPlatform, examples: ['claude'] }),
  revision: Type.String({
    description: '`sha256:` and the hash of the canonical skills (RFC 8785); equal for equal skills',
    examples: ['sha256:4e3fded216bc83851e95113fb01eda0701d2f321c948b2f0d4e23ad8ebc688fd'],
  }),
  skills: Type.Array(ManifestSkill, { description: 'Every published skill, sorted by id' }),
  signature: Type.String({
    description: 'C2SP signed note over the SHA-256 of the canonical manifest without this member',
    examples: ['orghub/skills/v1\nlog orghub/log/4k2WcXbFd0aVtnYzS1mQ7e\ntime 1767225600000000\nsha256 4e3f…\n\n— …\n'],
  }),
})

export const manifestHeader = { etag: Type.String({ description: 'For `If-None-Match`', examples: ['W/"b7e2"'] }) }

const Result = object({
  connector_id: ConnectorId,
  status: Type.Enum(['published', 'failed', 'removed', 'pulls'], {
    description: '`pulls`: the connector fetches the manifest, which is always current',
    examples: ['published'],
  }),
  at: Type.Optional(time('Time of the result')),
  error: Type.Optional(
    object({
      code: Type.String({ examples: ['http-5xx'] }),
      detail: Type.String({ examples: ['The receiver failed itself (500).'] }),
      status: Type.Optional(Type.Integer({ examples: [500] })),
    }),
  ),
})

export const RepublishSchema = object({
  job_id: JobId,
  status: Type.Enum(['queued', 'running', 'completed', 'failed'], {
    description: '`completed`: every connector was attempted. `failed`: no connector accepted the skills.',
    examples: ['queued'],
  }),
  created_at: time('Time of the request'),
  created_by: Type.String({ examples: ['saAb3xQ8ZrT2vYw0LxNp6BdHs9'] }),
  started_at: Type.Optional(time('When the first connector was reached')),
  finished_at: Type.Optional(time('When the last connector was reached')),
  progress: object(
    { done: Type.Integer({ minimum: 0 }), total: Type.Integer({ minimum: 0 }) },
    { description: 'Connectors with the delivery `push`', examples: [{ done: 1, total: 3 }] },
  ),
  results: Type.Array(Result),
  error: Type.Optional(object({ detail: Type.String({ examples: ['No connector accepted the skills.'] }) })),
})

export const RepublishParams = object({ job_id: JobId })

export const republishLocation = { location: Type.String({ description: 'The republication' }) }
