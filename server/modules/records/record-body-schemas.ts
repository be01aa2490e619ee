import { type Static, Type } from 'typebox'
import { customKindPattern } from '../../../contract/governance-kinds.ts'
import { relatedRecordsMax, skillVersionLengthMax } from '../../../contract/limits.ts'
import { patterns } from '../../../contract/literals.ts'
import { costUsdMax } from '../../../contract/money.ts'
import { object } from '../../../contract/object-schema.ts'

/** Schemas of client-written records: the fields of each record type (interface 2.2; decisions section 2). */

const text = (maxLength: number, description: string, example: string) =>
  Type.String({ minLength: 1, maxLength, description, examples: [example] })
const identifier = (description: string, example: string) =>
  Type.String({ pattern: patterns.identifier, description, examples: [example] })

const semver = Type.String({
  pattern: patterns.semver,
  maxLength: skillVersionLengthMax,
  description: 'Semantic version',
  examples: ['1.4.0'],
})
const content = Type.Unknown({ description: 'Any JSON', examples: [{ summary: 'Renewal risk is low' }] })

const relatedRecords = Type.Optional(
  Type.Array(Type.String({ pattern: patterns.uuid, examples: ['019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'] }), {
    maxItems: relatedRecordsMax,
    description: 'Unique ids of records of this tenant',
  }),
)

const metadata = Type.Optional(
  Type.Record(
    Type.String({ minLength: 1, maxLength: 128 }),
    Type.Union([Type.String({ maxLength: 1000 }), Type.Number(), Type.Boolean(), Type.Null()], {
      'x-must-be': 'text of at most 1000 characters, a number, true, false or null: metadata is flat',
    }),
    {
      maxProperties: 50,
      description: 'Flat, at most 50 members; programs name themselves here',
      examples: [{ client_name: 'claude-code', client_version: '2.1.0' }],
    },
  ),
)

const OutputBody = object(
  {
    record_type: Type.Literal('output'),
    skill_id: identifier('A registered skill that is not retired', 'summarise-contract'),
    title: Type.Optional(text(500, 'Kind of the subject', 'Summary of the renewal')),
    content: Type.Optional(content),
    content_type: Type.Optional(text(255, 'Media type of the content', 'application/json')),
    skill_version: Type.Optional(semver),
    archetype_id: Type.Optional(identifier('Archetype of the output', 'account-manager')),
    user_id: Type.Optional(
      Type.String({ pattern: patterns.userId, description: 'Recipient', examples: ['user:ada@example.com'] }),
    ),
    llm_platform: Type.Optional(
      Type.String({ pattern: patterns.llmPlatform, description: 'Platform of the output', examples: ['claude'] }),
    ),
    llm_model: Type.Optional(Type.String({ pattern: patterns.llmModel, examples: ['claude-sonnet-4-5'] })),
    cost_usd_estimate: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: costUsdMax,
        description: 'US dollars, rounded half up to 6 decimals',
        examples: [0.012345],
      }),
    ),
    metadata,
    related_records: relatedRecords,
  },
  { title: 'Output' },
)

const ArtifactBody = object(
  {
    record_type: Type.Literal('artifact'),
    title: text(500, 'Kind of the subject', 'Master services agreement'),
    media_type: Type.Optional(text(255, 'Media type', 'application/pdf')),
    uri: Type.Optional(
      Type.String({
        pattern: '^\\S{1,2048}$',
        description: 'Storage location',
        'x-must-be': '1 to 2048 characters without spaces',
        examples: ['https://files.example.com/msa.pdf'],
      }),
    ),
    content: Type.Optional(content),
    sha256: Type.Optional(
      Type.String({
        pattern: '^[0-9a-fA-F]{64}$',
        description: 'Digest of the resource at the URI, in hexadecimal',
        'x-must-be': '64 hexadecimal digits',
        examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
      }),
    ),
    size_bytes: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, examples: [48213] })),
    related_records: relatedRecords,
  },
  { title: 'Artifact' },
)

const DecisionBody = object(
  {
    record_type: Type.Literal('decision'),
    decision_id: text(4000, 'Your own id of the decision', 'DEC-2031'),
    decision_subject: text(4000, 'Subject of the decision', 'Renewal of the Northwind contract'),
    decision_outcome: text(4000, 'The decision', 'approved'),
    decision_rationale: text(4000, 'Rationale', 'Usage grew by a third.'),
    decision_actor_role: text(4000, 'Role of the person who decided', 'account-manager'),
    metadata,
    related_records: relatedRecords,
  },
  { title: 'Decision' },
)

const GovernanceEventBody = object(
  {
    record_type: Type.Literal('governance_event'),
    event_kind: Type.String({
      pattern: customKindPattern,
      description: 'Starts with `custom.`; only the service writes other kinds',
      'x-must-be': 'a kind that starts with `custom.`: only the service writes other kinds',
      examples: ['custom.policy_reviewed'],
    }),
    subject: Type.Optional(text(500, 'Subject of the event', 'policy:retention')),
    details: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'Any JSON object', examples: [{ reviewer: 'legal' }] }),
    ),
    related_records: relatedRecords,
  },
  { title: 'Governance event' },
)

const SkillDefinitionBody = object(
  {
    record_type: Type.Literal('skill_definition'),
    skill_id: identifier('Id of the skill', 'summarise-contract'),
    skill_version: semver,
    name: text(200, 'Display name', 'Summarise a contract'),
    description: Type.Optional(text(4000, 'Description of the skill', 'Sums up obligations and dates.')),
    owner: Type.Optional(text(200, 'Owner of the skill', 'legal-operations')),
    manifest: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'Any JSON object', examples: [{ inputs: ['text'] }] }),
    ),
    related_records: relatedRecords,
  },
  { title: 'Skill definition' },
)

const variants = [OutputBody, ArtifactBody, DecisionBody, GovernanceEventBody, SkillDefinitionBody] as const

export type RecordBody = Static<(typeof variants)[number]>

/** A union by `record_type`, so that errors refer to the fields of the intended type. */
export const RecordBody = Type.Unsafe<RecordBody>({
  type: 'object',
  title: 'New record',
  description: 'The fields of one record type. The server sets all other fields.',
  required: ['record_type'],
  discriminator: { propertyName: 'record_type' },
  oneOf: [...variants],
  'x-must-be':
    'output, artifact, decision, governance_event or skill_definition; a telemetry_event is sent to POST ' +
    '/api/v1/telemetry/events or POST /api/v1/telemetry/events:batch',
})
