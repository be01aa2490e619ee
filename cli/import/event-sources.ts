import { latencyMsLimit } from '../../contract/limits.ts'
import { patterns } from '../../contract/literals.ts'
import { costUsdMax, usdOfMicros } from '../../contract/money.ts'
import { parseTimestamp } from '../../contract/timestamp.ts'
import type { JsonValue } from '../../provenance/index.ts'
import {
  identifierOf,
  modelOf,
  platformOf,
  userOf,
  versionOf,
  withoutAbsent,
} from '../../server/modules/otlp/mapping/event-values.ts'
import { createPriceBook } from '../../server/modules/telemetry/prices/list-price-book.ts'
import { EventSchema, envelopeNames } from '../../server/modules/telemetry/telemetry-schemas.ts'
import { Row } from './row.ts'

/** Members for events whose row does not name them. */
export interface EventDefaults {
  skill?: string
  skillVersion?: string
  archetype?: string
  user?: string
  platform?: string
  /** Send the envelope of interface 2.3 only, as Mode C requires. */
  envelopeOnly?: boolean
}

type Event = Record<string, JsonValue>
type Members = Record<string, JsonValue | undefined>

/** Returns the events of a row of a file: none if the row is no call of a model. */
export type EventSource = (members: Record<string, unknown>, defaults: EventDefaults) => Event[]

const prices = createPriceBook()
const isTraceId = new RegExp(patterns.traceId)
const isSpanId = new RegExp(patterns.spanId)

/** The formats of `--from`, by name. The first is the Hub's own, as JSON lines or CSV. */
export const eventSources: Readonly<Record<string, EventSource>> = {
  events: (members, defaults) => [eventOf(ownMembers(members), defaults)],

  /** Langfuse: rows of observations, with the names of its exports to files or of its API. Spans are no calls. */
  'langfuse-export': (members, defaults) => {
    const row = new Row(members)
    if (!['GENERATION', 'EMBEDDING'].includes(row.text('type')?.toUpperCase() ?? '')) return []
    const metadata = row.object('metadata')
    const usage = row.object('usageDetails', 'usage_details', 'usage')
    const model = row.text('providedModelName', 'provided_model_name', 'model')
    const isFailed = row.text('level') === 'ERROR'
    return [
      eventOf(
        {
          skill_id: skillIn(metadata) ?? defaults.skill ?? identifierOf(row.text('name')),
          skill_version: versionOf(metadata.text('skill_version', 'skill.version') ?? defaults.skillVersion),
          archetype_id: identifierOf(metadata.text('archetype_id', 'archetype.id')),
          user_id: userOf(row.text('userId', 'user_id')),
          llm_platform: defaults.platform ?? platformOf(providerOfModel(model) ?? 'langfuse'),
          llm_model: modelOf(model),
          ...timesOf(row.text('startTime', 'start_time'), row.text('endTime', 'end_time')),
          success: !isFailed,
          error_code: isFailed ? 'error' : undefined,
          tokens_in: usage.sum(/^(?!.*(cost|price)).*(input|prompt)/i) ?? row.number('promptTokens', 'inputUsage') ?? 0,
          tokens_out:
            usage.sum(/^(?!.*(cost|price)).*(output|completion)/i) ??
            row.number('completionTokens', 'outputUsage') ??
            0,
          cost_usd_estimate:
            row.number('totalCost', 'total_cost', 'calculatedTotalCost') ??
            row.object('costDetails', 'cost_details').number('total'),
          trace_id: matching(isTraceId, row.text('traceId', 'trace_id')),
          span_id: matching(isSpanId, row.text('id')),
          parent_span_id: matching(isSpanId, row.text('parentObservationId', 'parent_observation_id')),
          session_id: row.text('sessionId', 'session_id')?.slice(0, 128),
          metadata: { source: 'langfuse', ...withoutAbsent({ observation_id: row.text('id') }) },
        },
        defaults,
      ),
    ]
  },

  /** LiteLLM: rows of its table of spend logs, as the proxy answers them or the database dumps them. */
  'litellm-spend-logs': (members, defaults) => {
    const row = new Row(members)
    const metadata = row.object('metadata')
    const isFailed = (row.text('status') ?? metadata.text('status')) === 'failure'
    const error = metadata.object('error_information')
    const users = [metadata.text('user_api_key_user_email'), row.text('user'), row.text('end_user')]
    return [
      eventOf(
        {
          skill_id: skillIn(metadata.object('spend_logs_metadata')),
          skill_version: versionOf(
            metadata.object('spend_logs_metadata').text('skill_version') ?? defaults.skillVersion,
          ),
          archetype_id: identifierOf(metadata.object('spend_logs_metadata').text('archetype_id')),
          // LiteLLM names calls with its master key after this user.
          user_id: userOf(users.find((user) => user !== undefined && user !== 'default_user_id')),
          llm_platform: platformOf(
            providerNames[row.text('custom_llm_provider') ?? ''] ?? row.text('custom_llm_provider'),
          ),
          llm_model: modelOf(row.text('model')?.replace(/^[a-z_]+\//, '')),
          ...timesOf(row.text('startTime'), row.text('endTime')),
          success: !isFailed,
          error_code: isFailed ? (identifierOf(error.text('error_class', 'error_code')) ?? 'error') : undefined,
          tokens_in: row.number('prompt_tokens') ?? 0,
          tokens_out: row.number('completion_tokens') ?? 0,
          cost_usd_estimate: row.number('spend'),
          session_id: row.text('session_id')?.slice(0, 128),
          metadata: { source: 'litellm', ...withoutAbsent({ request_id: row.text('request_id') }) },
        },
        defaults,
      ),
    ]
  },

  /** OpenAI: buckets of its usage API for completions. Each result, a sum, becomes one event. */
  'openai-usage': (members, defaults) => {
    const bucket = new Row(members)
    return bucket.list('results').map((result) =>
      eventOf(
        {
          user_id: userOf(result.text('user_id')),
          llm_platform: 'chatgpt',
          llm_model: modelOf(result.text('model')),
          ...sumAt(isoOfSeconds(bucket.number('start_time'))),
          tokens_in: result.number('input_tokens') ?? 0,
          tokens_out: result.number('output_tokens') ?? 0,
          metadata: {
            source: 'openai-usage',
            ...withoutAbsent({
              requests: result.number('num_model_requests'),
              tokens_cache_read: result.number('input_cached_tokens'),
              project_id: result.text('project_id'),
              api_key_id: result.text('api_key_id'),
            }),
          },
        },
        defaults,
      ),
    )
  },

  /** Anthropic: buckets of its usage report for messages. Each result, a sum, becomes one event. */
  'anthropic-usage': (members, defaults) => {
    const bucket = new Row(members)
    return bucket.list('results').map((result) => {
      const written =
        result.object('cache_creation').sum(/^ephemeral_.*_input_tokens$/) ??
        result.sum(/^cache_creation_.*input_tokens$/) ??
        0
      const read = result.number('cache_read_input_tokens') ?? 0
      return eventOf(
        {
          user_id: userOf(result.text('account_id')),
          llm_platform: 'claude',
          llm_model: modelOf(result.text('model')),
          ...sumAt(bucket.text('starting_at')),
          tokens_in: (result.number('uncached_input_tokens') ?? 0) + read + written,
          tokens_out: result.number('output_tokens') ?? 0,
          metadata: {
            source: 'anthropic-usage',
            tokens_cache_read: read,
            tokens_cache_write: written,
            ...withoutAbsent({
              workspace_id: result.text('workspace_id'),
              api_key_id: result.text('api_key_id'),
              service_tier: result.text('service_tier'),
            }),
          },
        },
        defaults,
      )
    })
  },
}

/** Names of providers in LiteLLM that the conventions of OpenTelemetry spell otherwise. */
const providerNames: Readonly<Record<string, string>> = {
  gemini: 'gcp.gemini',
  github_copilot: 'github.copilot',
  vertex_ai: 'gcp.vertex_ai',
}

/** Completes members of a row: defaults, a reported cost, and the envelope only where wanted. */
function eventOf(members: Members, defaults: EventDefaults): Event {
  const complete: Members = {
    ...members,
    skill_id: members.skill_id ?? defaults.skill,
    skill_version: members.skill_version ?? versionOf(defaults.skillVersion),
    archetype_id: members.archetype_id ?? defaults.archetype,
    user_id: members.user_id ?? userOf(defaults.user),
    llm_platform: members.llm_platform ?? defaults.platform,
  }
  if (complete.cost_usd_estimate === undefined) complete.cost_usd_estimate = listCost(complete)
  if (!defaults.envelopeOnly) return withoutAbsent(complete)
  return withoutAbsent(Object.fromEntries(Object.entries(complete).filter(([name]) => envelopeNames.has(name))))
}

/** Returns the cost by the catalogue's prices of the event's time, where the source states none; 0 without a price. */
function listCost({ llm_platform, llm_model, ts, tokens_in, tokens_out }: Members): number | undefined {
  const at = typeof ts === 'string' ? parseTimestamp(ts) : undefined
  if (at === undefined || typeof llm_platform !== 'string') return undefined
  const model = typeof llm_model === 'string' ? llm_model : ''
  const tokens = [tokens_in, tokens_out].map(Number) as [number, number]
  if (!tokens.every((count) => Number.isSafeInteger(count) && count >= 0)) return undefined
  const priced = prices.priceOf(llm_platform, model, at.epochMs, ...tokens)
  return Math.min(usdOfMicros(priced?.costMicros ?? 0), costUsdMax)
}

/** Gives text of CSV the types of the schema. JSON already has them. */
function ownMembers(members: Record<string, unknown>): Members {
  return Object.fromEntries(
    Object.entries(members)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [name, typeof value === 'string' ? typedText(name, value) : (value as JsonValue)]),
  )
}

function typedText(name: string, text: string): JsonValue {
  const { type } = (EventSchema.properties as Record<string, { type?: string }>)[name] ?? {}
  if (type === 'integer' || type === 'number') return Number.isNaN(Number(text)) ? text : Number(text)
  if (type === 'boolean') return { true: true, false: false }[text.toLowerCase()] ?? text
  if (type !== 'object' && type !== 'array') return text
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return text
  }
}

function skillIn(metadata: Row): string | undefined {
  return identifierOf(metadata.text('skill_id', 'skill.name'))
}

function providerOfModel(model: string | undefined): string | undefined {
  if (/^(anthropic[./])?claude/i.test(model ?? '')) return 'anthropic'
  if (/^(openai[./])?(gpt|o\d|chatgpt|text-embedding)/i.test(model ?? '')) return 'openai'
  return /^(google[./]|models\/)?gemini/i.test(model ?? '') ? 'gcp.gemini' : undefined
}

/** Returns the start and the milliseconds until the end: at least 1, as the interface requires. */
function timesOf(start: string | undefined, end: string | undefined): Members {
  const [ts, endTs] = [zoned(start), zoned(end)]
  const latency = ts === undefined || endTs === undefined ? Number.NaN : Date.parse(endTs) - Date.parse(ts)
  return { ts, latency_ms: Number.isNaN(latency) ? 1 : Math.min(Math.max(1, Math.round(latency)), latencyMsLimit - 1) }
}

/** A sum of many calls states no duration and no failures. */
function sumAt(ts: string | undefined): Members {
  return { ts, latency_ms: 1, success: true }
}

/** Databases and exports write UTC without a zone, and a space for the T. */
function zoned(time: string | undefined): string | undefined {
  const text = time?.replace(' ', 'T')
  return text === undefined || /(Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`
}

function isoOfSeconds(seconds: number | undefined): string | undefined {
  return seconds === undefined || Math.abs(seconds) > 8.64e12 ? undefined : new Date(seconds * 1000).toISOString()
}

function matching(pattern: RegExp, text: string | undefined): string | undefined {
  return text !== undefined && pattern.test(text) ? text : undefined
}
