import { Type } from 'typebox'
import { isJsonObject, type JsonObject } from '../../../../provenance/json.ts'
import { fittingPage } from './result-size.ts'
import { closed, cursorInput, cut, defineTool, nextCursor, object } from './tool.ts'

const pageSize = (most: number) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: most, description: `Maximum number of items; default ${most}` }))

const filter = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 259, description }))

const numbers = {
  invocations: Type.Integer(),
  failures: Type.Integer(),
  tokens_in: Type.Integer(),
  tokens_out: Type.Integer(),
  cost_usd_estimate: Type.Number({ description: 'Cost as reported by the senders' }),
  cost_usd_computed: Type.Number({ description: 'Cost by list prices, or the prices of the organization' }),
  unpriced: Type.Integer({ description: 'Events without a calculated cost' }),
  latency_ms: Type.Object(
    { p50: Type.Number(), p95: Type.Number(), p99: Type.Number() },
    { description: 'Percentiles, within 2 percent' },
  ),
}

const rowsMax = 50
const quarterHourMs = 15 * 60 * 1000

/** Returns the time on the quarter of an hour before (`floor`) or behind (`ceil`) it; other texts are left to the API. */
function onQuarter(time: string | undefined, round: 'floor' | 'ceil'): string | undefined {
  const ms = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(ms) ? time : new Date(Math[round](ms / quarterHourMs) * quarterHourMs).toISOString()
}

export const telemetrySummary = defineTool({
  name: 'telemetry_summary',
  title: 'Summarize usage',
  description: `Sums up the organization's use of AI skills in a time range: invocations, failures, tokens, reported and calculated cost, and latency, in total and by one dimension.

Use it for questions such as "what did we spend on each model last week", "which skill fails most", "how much is the support team using". Compare \`failures\` with \`invocations\` for error rates. For single events use search_records or the records that it links.

Bounds: times are rounded outwards to quarters of an hour; default is the last 30 days; ${rowsMax} rows a result. \`totals\` is of all matching events, on every page. Needs the scope telemetry:read.

Example: {"from": "2026-03-01T00:00:00Z", "to": "2026-03-08T00:00:00Z", "group_by": "skill"}`,
  operation: 'summarizeTelemetry',
  isReadOnly: true,
  input: object(
    {
      from: filter('Start, inclusive, RFC 3339 such as 2026-03-01T00:00:00Z'),
      to: filter('End, exclusive, RFC 3339'),
      interval: Type.Optional(
        Type.Enum(['hour', 'day'], { description: 'One row for each hour or day that has events' }),
      ),
      time_zone: filter('IANA time zone of the intervals, such as Europe/Berlin; default UTC'),
      group_by: Type.Optional(
        Type.Enum(['skill', 'archetype', 'user', 'platform', 'model', 'error_code'], {
          description: 'One row for each value, in `key`; error_code counts failed events only',
        }),
      ),
      skill_id: filter('Only events of this skill'),
      archetype_id: filter('Only events of this archetype'),
      user_id: filter('Only events of this person, such as user:ada@example.com'),
      llm_platform: filter('Only events of this platform: claude, chatgpt, gemini, copilot, slack or custom:<name>'),
      llm_model: filter('Only events of this model'),
      success: Type.Optional(Type.Boolean({ description: 'Only events that succeeded, or that failed' })),
      error_code: filter('Only failed events with this error code'),
      limit: pageSize(rowsMax),
      cursor: cursorInput,
    },
    closed,
  ),
  output: object({
    rows: Type.Array(
      object({
        start: Type.Optional(Type.String({ description: 'Start of the interval' })),
        key: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: 'Value of the dimension' })),
        ...numbers,
      }),
    ),
    totals: object(numbers),
    next_cursor: nextCursor,
  }),
  run: async ({ from, to, limit = rowsMax, ...rest }, { call }) =>
    fittingPage(limit, (count) =>
      call('summarizeTelemetry', {
        query: { ...rest, from: onQuarter(from, 'floor'), to: onQuarter(to, 'ceil'), limit: count },
      }),
    ),
})

const skillsMax = 50

export const listSkills = defineTool({
  name: 'list_skills',
  title: 'List skills',
  description: `Lists the registered skills of the organization with their state and latest version.

Use it to find the skill_id for record_output or for a filter of telemetry_summary, or to answer which skills exist. Only \`published\` skills are meant for use; \`retired\` ones accept nothing.

Bounds: ${skillsMax} skills a result. Needs the scope skill_entitlement:read.

Example: {}`,
  operation: 'listSkills',
  isReadOnly: true,
  input: object({ limit: pageSize(skillsMax), cursor: cursorInput }, closed),
  output: object({
    skills: Type.Array(
      object({
        skill_id: Type.String(),
        name: Type.String({ description: 'Name of the latest version' }),
        state: Type.String({ description: 'draft, published, deprecated or retired' }),
        latest_version: Type.String(),
        updated_at: Type.String(),
      }),
    ),
    next_cursor: nextCursor,
  }),
  run: async ({ limit = skillsMax, cursor }, { call }) =>
    fittingPage(limit, async (count) => {
      const { items = [], next_cursor = null } = await call('listSkills', { query: { limit: count, cursor } })
      return { skills: (items as readonly JsonObject[]).map(toSkill), next_cursor }
    }),
})

function toSkill({ skill_id = '', name = '', state = '', versions = [], updated_at = '' }: JsonObject): JsonObject {
  const latest = Array.isArray(versions) ? versions.at(-1) : undefined
  const latest_version = isJsonObject(latest) ? String(latest.skill_version) : ''
  return { skill_id, name: cut(String(name), 200), state, latest_version, updated_at }
}
