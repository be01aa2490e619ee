import { type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { eventFutureMinutesMax, summaryDaysDefault, summaryDaysMax } from '../../../../contract/limits.ts'
import { parseTimestamp } from '../../../../contract/timestamp.ts'
import { type Dimension, quarterMs, quarterOf, quartersPerDay } from '../rollups/rollup-types.ts'
import { intervalStarts, isTimeZone } from './summary-intervals.ts'
import type { SummaryQuery } from './summary-schemas.ts'
import { type Filters, groupings, type QuarterRange, type SummaryRequest } from './summary-types.ts'

/**
 * Reads the parameters. Throws `validation-failed`.
 *
 * @param openedFor the range of the first page, for a later page: the default range moves on
 */
export function readSummaryQuery(query: SummaryQuery, nowMs: number, openedFor?: QuarterRange): SummaryRequest {
  const { interval, time_zone: timeZone = 'UTC' } = query
  const errors: PointedError[] = []
  const range = openedFor ?? rangeOf(query, nowMs, errors)
  if (!isTimeZone(timeZone)) {
    const detail = 'must be the name of a time zone in the IANA database, such as Europe/Berlin'
    errors.push({ pointer: '/query/time_zone', detail })
  }
  if (errors.length > 0) throw validationFailed(errors)
  return {
    range,
    starts: interval ? intervalStarts(range, interval, timeZone) : [range.first],
    groupBy: query.group_by && groupings[query.group_by],
    filters: filtersOf(query),
  }
}

function rangeOf(query: SummaryQuery, nowMs: number, errors: PointedError[]): QuarterRange {
  const from = boundOf(query, 'from', errors)
  const to = boundOf(query, 'to', errors)
  const end = to ?? latestQuarter(nowMs) + 1
  const range = { first: from ?? end - summaryDaysDefault * quartersPerDay, end }
  const fault = errors.length === 0 ? faultOf(range, query) : undefined
  if (fault) errors.push({ pointer: '/query/from', detail: fault })
  return range
}

function boundOf(query: SummaryQuery, name: 'from' | 'to', errors: PointedError[]): number | undefined {
  const text = query[name]
  if (text === undefined) return undefined
  const time = parseTimestamp(text)
  const quarter = time && time.epochMs / quarterMs
  if (time?.microsOfMs === 0 && Number.isInteger(quarter)) return quarter
  const detail = time
    ? 'must be a whole quarter of an hour, such as 09:00, 09:15, 09:30 or 09:45'
    : 'must be an RFC 3339 timestamp; a `+` is written %2B in a query'
  errors.push({ pointer: `/query/${name}`, detail })
  return undefined
}

/** Returns the last quarter in which an event of now may be. */
function latestQuarter(nowMs: number): number {
  return quarterOf(nowMs + eventFutureMinutesMax * 60_000)
}

function faultOf({ first, end }: QuarterRange, { interval }: SummaryQuery): string | undefined {
  if (first >= end) return 'must be before `to`'
  if (interval === undefined) return undefined
  const daysMax = summaryDaysMax[interval]
  return end - first > daysMax * quartersPerDay
    ? `must be at most ${daysMax} days before \`to\` when the interval is ${interval}`
    : undefined
}

function filtersOf(query: SummaryQuery): Filters {
  const names: Dimension[] = Object.values(groupings)
  return Object.fromEntries(names.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])))
}
