import { type Static, type TObject, type TProperties, Type } from 'typebox'
import { dimensionFilters } from '../../../../contract/dimension-filters.ts'
import { summaryDaysMax } from '../../../../contract/limits.ts'
import { patterns } from '../../../../contract/literals.ts'
import { object } from '../../../../contract/object-schema.ts'
import { PageQuery } from '../../../../contract/request-schemas.ts'
import { NextCursor } from '../../../../contract/response-schemas.ts'
import { type Grouping, groupings, intervals } from './summary-types.ts'

const from = '2026-01-05T00:00:00Z'
const to = '2026-01-06T00:00:00Z'

/** The parameters of summary and reconciliation: the events to count, and the rows. */
export const summaryQuery = object({
  from: Type.Optional(
    Type.String({
      description: 'RFC 3339, on a quarter of an hour; inclusive, compared with `ts`. Default: 30 days before `to`',
      examples: [from],
    }),
  ),
  to: Type.Optional(
    Type.String({
      description:
        'RFC 3339, on a quarter of an hour; exclusive. Default: the end of the quarter five minutes from now, ' +
        'so that every accepted event is counted',
      examples: [to],
    }),
  ),
  interval: Type.Optional(
    Type.Enum([...intervals], {
      description: `One row for each hour or day of \`time_zone\` that has events. The range is at most ${summaryDaysMax.hour} days for \`hour\`, ${summaryDaysMax.day} for \`day\``,
      examples: ['day'],
    }),
  ),
  time_zone: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      default: 'UTC',
      description:
        'IANA time zone of `interval`; ignored without it. A day has 23 or 25 hours when daylight saving time ' +
        'changes, and a repeated hour is two rows. A quarter belongs to the day in which it starts',
      examples: ['Europe/Berlin'],
    }),
  ),
  group_by: Type.Optional(
    Type.Enum(Object.keys(groupings) as Grouping[], {
      description: 'One row for each value, in `key`. `error_code` counts failed events only, in the totals, too',
      examples: ['skill'],
    }),
  ),
  ...dimensionFilters,
  success: Type.Optional(
    Type.Boolean({ description: 'Only events that succeeded, or that failed', examples: [false] }),
  ),
  error_code: Type.Optional(
    Type.String({
      pattern: patterns.identifier,
      description: 'Only failed events with this error code',
      examples: ['timeout'],
    }),
  ),
  ...PageQuery.properties,
})

export type SummaryQuery = Static<typeof summaryQuery>

const rowPlace = {
  start: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Start of the hour or day in UTC; for the first row `from`. Only with `interval`',
      examples: ['2026-01-05T00:00:00.000000Z'],
    }),
  ),
  key: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: 'Value of the `group_by` dimension. Null for events without a model. Absent without `group_by`',
      examples: ['summarise-ticket'],
    }),
  ),
}
export type RowPlace = Static<TObject<typeof rowPlace>>

const count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] })

const invocations = count('Events', 1280)
const unpriced = count('Events without a calculated cost', 4)
const costEstimate = Type.Number({ description: 'Exact sum of reported costs', examples: [10.752013] })
const costComputed = Type.Number({
  description: 'Exact sum of calculated costs; unpriced events add nothing',
  examples: [10.417211],
})

const percentile = (example: number) => Type.Number({ minimum: 0, examples: [example] })

const summaryMembers = {
  invocations,
  failures: count('Events with `success` false', 12),
  tokens_in: count('Input tokens', 1_600_000),
  tokens_out: count('Output tokens', 396_800),
  cost_usd_estimate: costEstimate,
  cost_usd_computed: costComputed,
  unpriced,
  latency_ms: object(
    { p50: percentile(1810), p95: percentile(4105), p99: percentile(7420) },
    { description: 'Within 2 % of the exact percentile. All 0 without events' },
  ),
}

/** Returns the schema of a page: rows, and totals that have the rows' members without `start` and `key`. */
function pageOf<Place extends TProperties, Numbers extends TProperties>(place: Place, members: Numbers) {
  return object({
    rows: Type.Array(object({ ...place, ...members }), {
      description: 'Ascending by `start`, then by `key` in code point order, null first',
    }),
    totals: object(members, { description: 'Totals of all matching rows, on every page' }),
    next_cursor: NextCursor,
  })
}

export const SummaryPage = pageOf(rowPlace, summaryMembers)

const reconciliationMembers = {
  invocations,
  unpriced,
  cost_usd_estimate: costEstimate,
  cost_usd_computed: costComputed,
  variance_usd: Type.Number({
    description:
      '`cost_usd_estimate` − `cost_usd_computed`, exact; positive if the reported cost is higher. Unpriced events ' +
      'count in the reported cost only',
    examples: [0.334802],
  }),
  variance_ratio: Type.Optional(
    Type.Number({
      description: '`variance_usd` / `cost_usd_computed`, to six decimals. Absent if the calculated cost is 0',
      examples: [0.032139],
    }),
  ),
}

export const ReconciliationPage = pageOf(rowPlace, reconciliationMembers)
