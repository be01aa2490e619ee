/** The Hub aggregates by quarters of an hour: ranges begin and end on one. */
export const quarterHourMs = 15 * 60_000

/** Maximum lead of senders' clocks in milliseconds. */
export const aheadMs = 5 * 60_000
const hourMs = 3_600_000
const dayMs = 86_400_000

/** Ranges relative to the current time. */
export const presets = ['1h', '24h', '7d', '30d', '90d', 'month', 'last-month'] as const
export type Preset = (typeof presets)[number]
/** The range of an address without one. */
export const defaultPreset: Preset = '30d'
const presetDays = { '7d': 7, '30d': 30, '90d': 90 } as const

export type Interval = 'hour' | 'day'

/** Milliseconds since 1970; from ≤ t < to. */
export interface Span {
  from: number
  to: number
}

export interface Range extends Span {
  /** The previous period of the same length, for comparison. */
  before: Span
}

interface RangeSearch {
  range?: Preset | 'custom' | undefined
  from?: string | undefined
  to?: string | undefined
  /** A range to compare with, instead of the previous period. */
  compare_from?: string | undefined
  compare_to?: string | undefined
}

/** Maximum length of a custom range in days, so that they fit into one response of the Hub. */
export const longestDays = 900
const longestHourlyDays = 40

/**
 * Returns the range that an address names, and the range to compare it with: another one of the address, or the previous
 * period. A preset of several days covers whole days of the user's time zone up to now, and compares with the days before
 * up to the same time of day. One hour and 24 hours are exactly that. This month begins on its first day, and compares with
 * as much of the month before. A custom range is widened to quarters. Anything else yields the default preset.
 */
export function rangeOf(search: RangeSearch, nowMs: number): Range {
  const range = shownRange(search, nowMs)
  const compared = comparedRange(search)
  return compared ? { ...range, before: compared } : range
}

/** Returns the range that an address compares with; undefined for the previous period. */
export function comparedRange({ compare_from, compare_to }: RangeSearch): Span | undefined {
  const range = customRange(Date.parse(compare_from ?? ''), Date.parse(compare_to ?? ''))
  return range && { from: range.from, to: range.to }
}

function shownRange({ range, from, to }: RangeSearch, nowMs: number): Range {
  if (range === 'custom' && from && to) {
    const custom = customRange(Date.parse(from), Date.parse(to))
    if (custom) return custom
  }
  const preset = range === undefined || range === 'custom' ? defaultPreset : range
  // The Hub's default without `to`: senders' clocks may be five minutes ahead.
  const end = floorTo(nowMs + 5 * 60_000, quarterHourMs) + quarterHourMs
  // The future has no events yet and is excluded from the comparison.
  const soFar = Math.round(nowMs / quarterHourMs) * quarterHourMs
  if (preset === '1h' || preset === '24h') {
    const length = preset === '1h' ? hourMs : dayMs
    return { from: end - length, to: end, before: { from: end - 2 * length, to: soFar - length } }
  }
  if (preset === 'month') {
    const start = startOfMonth(nowMs, 0)
    const earlier = startOfMonth(nowMs, -1)
    return { from: start, to: end, before: { from: earlier, to: Math.min(start, earlier + soFar - start) } }
  }
  if (preset === 'last-month') {
    const [from, to] = [startOfMonth(nowMs, -1), startOfMonth(nowMs, 0)]
    return { from, to, before: { from: startOfMonth(nowMs, -2), to: from } }
  }
  const days = presetDays[preset]
  const today = startOfDay(nowMs)
  return {
    from: addDays(today, 1 - days),
    to: end,
    before: { from: addDays(today, 1 - 2 * days), to: floorTo(addDays(soFar, -days), quarterHourMs) },
  }
}

/**
 * Returns a range with both ends on quarters, at most {@link longestDays} long; undefined unless `from` is before `to`.
 */
export function customRange(fromMs: number, toMs: number): Range | undefined {
  const from = floorTo(fromMs, quarterHourMs)
  const to = Math.ceil(toMs / quarterHourMs) * quarterHourMs
  if (!(from < to)) return undefined
  const start = Math.max(from, to - longestDays * dayMs)
  return { from: start, to, before: { from: start - (to - start), to: start } }
}

/** Returns why the custom range of an address is not shown: it is invalid, or longer than {@link longestDays}. */
export function customRangeFault({ range, from, to }: RangeSearch): 'incomplete' | 'reversed' | 'long' | undefined {
  if (range !== 'custom') return undefined
  const [fromMs, toMs] = [Date.parse(from ?? ''), Date.parse(to ?? '')]
  if (Number.isNaN(fromMs) || Number.isNaN(toMs)) return 'incomplete'
  const shown = customRange(fromMs, toMs)
  if (!shown) return 'reversed'
  return shown.from > fromMs ? 'long' : undefined
}

/** Returns the chart interval: hours up to eight days, or the user's choice if its rows fit into one response. */
export function intervalOf({ from, to }: Span, chosen: Interval | undefined): Interval {
  if (chosen === 'day' || !mayBeHourly({ from, to })) return 'day'
  return chosen ?? (to - from <= 8 * dayMs ? 'hour' : 'day')
}

export function mayBeHourly({ from, to }: Span): boolean {
  return to - from <= longestHourlyDays * dayMs
}

/**
 * Returns the start of each hour or day of a span, in the zone of the runtime; the first one is `from` itself. A day
 * with a clock change has 23 or 25 hours, and an hour that occurs twice has two entries.
 */
export function startsOf({ from, to }: Span, interval: Interval): number[] {
  const starts = [from]
  for (;;) {
    const last = starts.at(-1) as number
    const next = interval === 'day' ? addDays(startOfDay(last), 1) : startOfHour(last + hourMs)
    if (next >= to) return starts
    // Some zones skip half an hour.
    starts.push(next > last ? next : last + hourMs)
  }
}

/**
 * Returns a row for each hour or day of a span. The Hub omits those without events.
 *
 * @param rows ascending by start time
 */
export function fillGaps<TimeRow extends { start?: string }>(
  rows: readonly TimeRow[],
  span: Span,
  interval: Interval,
): { start: number; row: TimeRow | undefined }[] {
  const byStart = new Map(rows.map((row) => [Date.parse(row.start ?? ''), row]))
  const starts = new Set([...startsOf(span, interval), ...byStart.keys()])
  return [...starts].sort((one, other) => one - other).map((start) => ({ start, row: byStart.get(start) }))
}

/** The longest span that counts as recent. */
const recentMs = 2 * dayMs

/**
 * Splits a range into its last 48 hours and the time before them, to show failures that began lately. A shorter range
 * is compared with the previous period.
 */
export function recentOf({ from, to, before }: Range): { recent: Span; earlier: Span; isPart: boolean } {
  if (to - from <= recentMs) return { recent: { from, to }, earlier: before, isPart: false }
  return { recent: { from: to - recentMs, to }, earlier: { from, to: to - recentMs }, isPart: true }
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}

function floorTo(ms: number, unit: number): number {
  return Math.floor(ms / unit) * unit
}

function startOfDay(ms: number): number {
  return new Date(ms).setHours(0, 0, 0, 0)
}

function startOfMonth(ms: number, months: number): number {
  const date = new Date(ms)
  return new Date(date.getFullYear(), date.getMonth() + months, 1).getTime()
}

function startOfHour(ms: number): number {
  // Not setMinutes(0): for an hour that occurs twice it selects the first.
  const offset = new Date(ms).getTimezoneOffset() * 60_000
  return floorTo(ms - offset, hourMs) + offset
}

/** Returns the same time of day, days later or earlier. */
function addDays(ms: number, days: number): number {
  const date = new Date(ms)
  return date.setDate(date.getDate() + days)
}
