import { type Static, Type } from 'typebox'
import {
  batchErrorsMax,
  batchEventsMax,
  eventRelatedRecordsMax,
  latencyMsLimit,
  metadataBytesMax,
  sessionIdLengthMax,
  skillVersionLengthMax,
} from '../../../contract/limits.ts'
import { patterns, patternWords } from '../../../contract/literals.ts'
import { costUsdMax } from '../../../contract/money.ts'
import { object } from '../../../contract/object-schema.ts'
import { receiptMembers } from '../../../contract/response-schemas.ts'

const tokensMax = 2 ** 31 - 1

const Tokens = (description: string, example: number) =>
  Type.Integer({ minimum: 0, maximum: tokensMax, description, examples: [example] })

/** The members of interface 2.3, `related_records` of 2.1, and ids of traces. Mode C accepts no others. */
const envelope = {
  skill_id: Type.String({
    pattern: patterns.identifier,
    description: 'A registered skill of the tenant, in any state but `retired`',
    examples: ['summarise-ticket'],
  }),
  skill_version: Type.String({
    pattern: patterns.semver,
    maxLength: skillVersionLengthMax,
    examples: ['1.4.0'],
  }),
  archetype_id: Type.String({
    pattern: patterns.identifier,
    description: 'An archetype of the tenant’s bundle',
    examples: ['support-agent'],
  }),
  user_id: Type.String({
    pattern: patterns.userId,
    description: '`user:<email>` or `user:<scim_external_id>`',
    examples: ['user:kim@example.com'],
  }),
  llm_platform: Type.String({
    pattern: patterns.llmPlatform,
    description: '`claude`, `chatgpt`, `gemini`, `copilot`, `slack` or `custom:<name>`',
    examples: ['claude'],
  }),
  llm_model: Type.Optional(
    Type.String({
      pattern: patterns.llmModel,
      description: 'Recommended: required for a calculated cost',
      examples: ['claude-sonnet-4-5'],
    }),
  ),
  ts: Type.String({
    format: 'date-time',
    description:
      'RFC 3339, at most 5 minutes in the future; kept in UTC with six digits, a leap second as the first instant ' +
      'of the next minute',
    examples: ['2026-01-05T09:30:00.123456Z'],
  }),
  success: Type.Boolean({ examples: [true] }),
  latency_ms: Type.Integer({ exclusiveMinimum: 0, exclusiveMaximum: latencyMsLimit, examples: [1840] }),
  tokens_in: Tokens('Input tokens', 1250),
  tokens_out: Tokens('Output tokens', 310),
  cost_usd_estimate: Type.Number({
    minimum: 0,
    maximum: costUsdMax,
    description: 'Reported cost in US dollars, rounded half up to six decimals',
    examples: [0.0084],
  }),
  error_code: Type.Optional(
    Type.Union([Type.String({ pattern: patterns.identifier }), Type.Null()], {
      'x-must-be': `null or ${patternWords[patterns.identifier]}`,
      description: 'Required when `success` is false',
    }),
  ),
  related_records: Type.Optional(
    Type.Array(Type.String({ pattern: patterns.uuid }), {
      maxItems: eventRelatedRecordsMax,
      description: 'Unique ids of records of this tenant',
    }),
  ),
  trace_id: Type.Optional(
    Type.String({
      pattern: patterns.traceId,
      description: 'The trace (W3C Trace Context) that the invocation belongs to',
      examples: ['4bf92f3577b34da6a3ce929d0e0e4736'],
    }),
  ),
  span_id: Type.Optional(
    Type.String({
      pattern: patterns.spanId,
      description: 'The span of the invocation',
      examples: ['00f067aa0ba902b7'],
    }),
  ),
  parent_span_id: Type.Optional(
    Type.String({
      pattern: patterns.spanId,
      description: 'The span that called this one',
      examples: ['53995c3f42cd8ad8'],
    }),
  ),
  session_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: sessionIdLengthMax,
      description: 'The conversation or run that the invocation belongs to',
      examples: ['support-chat-8812'],
    }),
  ),
}

/** The further members of modes A and B. */
const extras = {
  tokens_total_reported: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'The platform’s own total; `tokens_in` + `tokens_out` must be within 2 % of it. Not in Mode C',
      examples: [1560],
    }),
  ),
  metadata: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()], {
        'x-must-be': 'text, a number, true, false or null: metadata is flat',
      }),
      {
        description: `Flat, at most ${metadataBytesMax} bytes as canonical JSON. Not in Mode C`,
        examples: [{ channel: 'email' }],
      },
    ),
  ),
}

export const envelopeNames: ReadonlySet<string> = new Set(Object.keys(envelope))

export const EventSchema = object(
  { ...envelope, ...extras },
  { title: 'Telemetry event', description: 'A telemetry event' },
)

/** A telemetry event (interface 2.3) in the form of a request. */
export type TelemetryEvent = Static<typeof EventSchema>

export const BatchSchema = object(
  { events: Type.Array(EventSchema, { minItems: 1, maxItems: batchEventsMax }) },
  { description: 'Each event is stored or refused independently' },
)

export const BatchResponseSchema = object({
  accepted: Type.Integer({ minimum: 0, examples: [1] }),
  failed: Type.Integer({ minimum: 0, examples: [0] }),
  records: Type.Array(
    object({ index: Type.Integer({ minimum: 0, description: 'Index in `events`' }), ...receiptMembers }),
    { description: 'One per accepted event, in order' },
  ),
  errors: Type.Optional(
    Type.Array(
      object({
        index: Type.Integer({ minimum: 0, description: 'Index in `events`' }),
        type: Type.String({ format: 'uri' }),
        title: Type.String(),
        status: Type.Integer({ examples: [400, 422] }),
        detail: Type.String({ description: 'Every error of the event' }),
        pointer: Type.String({ examples: ['/events/3/latency_ms'] }),
      }),
      {
        description: `One entry for each refused event, in order; at most ${batchErrorsMax}`,
        maxItems: batchErrorsMax,
      },
    ),
  ),
  errors_omitted: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Number of refused events that `errors` does not list',
      examples: [12],
    }),
  ),
})
