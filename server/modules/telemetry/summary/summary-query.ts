import { type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { eventFutureMinutesMax, summaryDaysDefault, summaryDaysMax } from '../../../../contract/limits.ts'
import { parseTimestamp } from '../../../../contract/timestamp.ts'
import { isTimeZone, notATimeZone } from '../../../http/time-zone.ts'
import { quarterOf } from '../rollups/rollup-delta.ts'
import { type Dimension, quarterHourMs, quarterHoursPerDay } from '../rollups/rollup-types.ts'
import type { SummaryQuery } from './summary-schemas.ts'
import { type Filters, groupings, type Interval, type QuarterRange, type SummaryRequest } from './summary-types.ts'

/**
 * Reads the parameters. Throws `validation-failed`.
 *
 * @param openedFor the range of the first page, for a later page: the default range moves on
 */
export function readSummaryQuery(query: SummaryQuery, nowMs: number, openedFor?: QuarterRange): SummaryRequest {
  const { interval, time_zone: timeZone = 'UTC' } = query
  const errors: PointedError[] = []
  const range = openedFor ?? rangeOf(query, nowMs, errors)
  if (!isTimeZone(timeZone)) errors.push({ pointer: '/query/time_zone', detail: notATimeZone })
  if (errors.length > 0) throw validationFailed(errors)
  return {
    range,
    starts: interval ? intervalStarts(range, interval, timeZone) : [range.first],
    groupBy: query.group_by && groupings[query.group_by],
    filters: filtersOf(query),
    // Grouping by error code counts failed events only, in the totals, too.
    success: query.success ?? (query.group_by === 'error_code' ? false : undefined),
  }
}

function rangeOf(query: SummaryQuery, nowMs: number, errors: PointedError[]): QuarterRange {
  const from = boundOf(query, 'from', errors)
  const to = boundOf(query, 'to', errors)
  const end = to ?? latestQuarter(nowMs) + 1
  const range = { first: from ?? end - summaryDaysDefault * quarterHoursPerDay, end }
  const fault = errors.length === 0 ? faultOf(range, query) : undefined
  if (fault) errors.push({ pointer: '/query/from', detail: fault })
  return range
}

function boundOf(query: SummaryQuery, name: 'from' | 'to', errors: PointedError[]): number | undefined {
  const text = query[name]
  if (text === undefined) return undefined
  const time = parseTimestamp(text)
  const quarter = time && time.epochMs / quarterHourMs
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
  return end - first > daysMax * quarterHoursPerDay
    ? `must be at most ${daysMax} days before \`to\` when the interval is ${interval}`
    : undefined
}

function filtersOf(query: SummaryQuery): Filters {
  const names: Dimension[] = Object.values(groupings)
  return Object.fromEntries(names.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])))
}

const unitMs: Record<Interval, number> = { hour: 3_600_000, day: 86_400_000 }

/** A period in which the local clock is ahead of UTC by the same amount. */
interface OffsetSpan {
  beginMs: number
  endMs: number
  offsetMs: number
}

/**
 * Returns the quarters with which the local hours or days of a range begin, ascending; the first is that of the range.
 * A quarter belongs to the hour or day in which it begins, which matters only for a clock that was once set by other
 * than whole quarters. If the clock is set, days have 23 or 25 hours, and the hour begins again: an hour that occurs
 * twice is two hours.
 */
export function intervalStarts(range: QuarterRange, interval: Interval, timeZone: string): number[] {
  const unit = unitMs[interval]
  const starts = [range.first]
  let latest = Number.NEGATIVE_INFINITY
  const begin = (local: number, atMs: number) => {
    // A day whose midnight occurs twice begins with the first.
    if (interval === 'day' && local <= latest) return
    latest = local
    const quarter = Math.ceil(atMs / quarterHourMs)
    if (quarter > starts.at(-1)! && quarter < range.end) starts.push(quarter)
  }
  for (const { beginMs, endMs, offsetMs } of offsetSpans(
    range.first * quarterHourMs,
    range.end * quarterHourMs,
    timeZone,
  )) {
    const begun = Math.floor((beginMs + offsetMs) / unit)
    begin(begun, beginMs)
    for (let local = begun + 1; local * unit - offsetMs < endMs; local += 1) begin(local, local * unit - offsetMs)
  }
  return starts
}

function* offsetSpans(fromMs: number, toMs: number, timeZone: string): Generator<OffsetSpan> {
  let at = Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO(timeZone)
  for (;;) {
    const next = at.getTimeZoneTransition('next')
    const endMs = next === null ? toMs : Math.min(next.epochMilliseconds, toMs)
    yield { beginMs: at.epochMilliseconds, endMs, offsetMs: at.offsetNanoseconds / 1_000_000 }
    if (next === null || endMs === toMs) return
    at = next
  }
}
