import { type Static, Type } from 'typebox'
import {
  sessionEventsCounted,
  sessionIdLengthMax,
  sessionsPageDefault,
  sessionsPageMax,
  stepsPageMax,
} from '../../../../contract/limits.ts'
import { patterns } from '../../../../contract/literals.ts'
import { object } from '../../../../contract/object-schema.ts'
import { NextCursor } from '../../../../contract/response-schemas.ts'

const exampleTime = '2026-01-05T09:30:00.123456Z'
const exampleTrace = '4bf92f3577b34da6a3ce929d0e0e4736'
const exampleSession = 'support-chat-8812'
const exampleRecord = '019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'

const time = (description: string) => Type.String({ format: 'date-time', description, examples: [exampleTime] })
const bound = (description: string) => Type.Optional(Type.String({ description, examples: [exampleTime] }))
const filter = (pattern: string, example: string) =>
  Type.Optional(Type.String({ pattern, description: 'Only sessions with an event of this value', examples: [example] }))
const count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] })
const text = (example: string, description?: string) =>
  Type.String({ examples: [example], ...(description === undefined ? {} : { description }) })
const cursor = Type.Optional(Type.String({ minLength: 1, description: '`next_cursor` of the previous page' }))

const SessionId = Type.String({
  minLength: 1,
  maxLength: sessionIdLengthMax,
  description: 'Id of the session, as its events name it',
  examples: [exampleSession],
})
const TraceId = Type.String({ pattern: patterns.traceId, description: 'Id of the trace', examples: [exampleTrace] })

export const sessionParams = object({ session_id: SessionId })
export const traceParams = object({ trace_id: TraceId })

export const stepsQuery = object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: stepsPageMax,
      default: stepsPageMax,
      description: 'Maximum number of events that a page reads, in the order of storage',
    }),
  ),
  cursor,
})
export type StepsQuery = Static<typeof stepsQuery>

export const sessionsQuery = object({
  skill_id: filter(patterns.identifier, 'summarise-ticket'),
  archetype_id: filter(patterns.identifier, 'support-agent'),
  user_id: filter(patterns.userId, 'user:kim@example.com'),
  created_at__gte: bound('RFC 3339; the newest event was stored at or after this time'),
  created_at__lt: bound('RFC 3339; only events stored before this time'),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: sessionsPageMax,
      default: sessionsPageDefault,
      description: 'Maximum number of sessions of a page',
    }),
  ),
  cursor,
})
export type SessionsQuery = Static<typeof sessionsQuery>

const totals = {
  started_at: time('Start of the first event'),
  ended_at: time('End of the last event: its start and its latency'),
  events: count('Events', 12),
  failures: count('Events that failed', 1),
  tokens_in: count('Input tokens', 15_200),
  tokens_out: count('Output tokens', 3100),
  cost_usd_estimate: Type.Number({ description: 'Reported cost', examples: [0.109] }),
  cost_usd_computed: Type.Number({ description: 'Calculated cost by the last pricing', examples: [0.0714] }),
  unpriced: count('Events without a calculated cost', 0),
}

export const TotalsSchema = object(totals, { description: 'Sums over the steps of this page. Absent if it has none' })

export const StepSchema = object({
  record_id: text(exampleRecord, 'Id of the telemetry event'),
  parent_record_id: Type.Optional(
    text(
      exampleRecord,
      'The step on this page that called this one. Absent for a root, and if the parent is elsewhere',
    ),
  ),
  depth: count('Number of steps above it in the tree of this page', 1),
  ts: time('Start of the invocation'),
  offset_ms: Type.Number({ description: 'Milliseconds from `started_at` of the totals to `ts`', examples: [420.5] }),
  latency_ms: count('Duration of the invocation', 1840),
  skill_id: text('summarise-ticket'),
  skill_version: text('1.4.0'),
  archetype_id: text('support-agent'),
  user_id: text('user:kim@example.com'),
  llm_platform: text('claude'),
  llm_model: Type.Optional(text('claude-sonnet-4-5')),
  success: Type.Boolean({ examples: [true] }),
  error_code: Type.Optional(text('timeout')),
  tokens_in: count('Input tokens', 1250),
  tokens_out: count('Output tokens', 310),
  cost_usd_estimate: Type.Number({ description: 'Reported cost', examples: [0.0084] }),
  cost_usd_computed: Type.Optional(
    Type.Number({ description: 'Calculated cost by the last pricing. Absent when unpriced', examples: [0.0081] }),
  ),
  session_id: Type.Optional(text(exampleSession)),
  trace_id: Type.Optional(text(exampleTrace)),
  span_id: Type.Optional(text('00f067aa0ba902b7')),
  parent_span_id: Type.Optional(text('53995c3f42cd8ad8')),
})
export type Step = Static<typeof StepSchema>

const steps = {
  totals: Type.Optional(TotalsSchema),
  steps: Type.Array(StepSchema, {
    description: 'Each root by its start, followed by the steps below it, which are in the same order',
  }),
  unreadable: count('Events of this page that are left out: edited, or their key was destroyed', 0),
  next_cursor: NextCursor,
}

export const SessionSteps = object({ session_id: SessionId, ...steps }, { title: 'Session' })
export const TraceSteps = object({ trace_id: TraceId, ...steps }, { title: 'Trace' })
export type Steps = Omit<Static<typeof TraceSteps>, 'trace_id'>

export const SessionList = object({
  items: Type.Array(
    object({
      session_id: SessionId,
      ...totals,
      skill_ids: Type.Array(text('summarise-ticket'), {
        maxItems: 10,
        description: 'Up to 10 skills, by their first event',
      }),
      user_ids: Type.Array(text('user:kim@example.com'), {
        maxItems: 10,
        description: 'Up to 10 people, by their first event',
      }),
      is_partial: Type.Boolean({
        description: `Whether it has more events than the newest ${sessionEventsCounted}, over which all members count`,
        examples: [false],
      }),
    }),
    { description: 'By the newest event, the last stored one first' },
  ),
  next_cursor: NextCursor,
})
export type SessionList = Static<typeof SessionList>
