import { quarterMs } from '../rollups/rollup-types.ts'
import type { Interval, QuarterRange } from './summary-types.ts'

const unitMs: Record<Interval, number> = { hour: 3_600_000, day: 86_400_000 }

/** A period in which the local clock is ahead of UTC by the same amount. */
interface OffsetSpan {
  beginMs: number
  endMs: number
  offsetMs: number
}

/** Returns whether the text is the name of a time zone of the IANA database, in any case. */
export function isTimeZone(name: string): boolean {
  // Temporal also accepts offsets such as +05:30.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    return new Temporal.ZonedDateTime(0n, name).timeZoneId !== ''
  } catch {
    return false
  }
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
    const quarter = Math.ceil(atMs / quarterMs)
    if (quarter > starts.at(-1)! && quarter < range.end) starts.push(quarter)
  }
  for (const { beginMs, endMs, offsetMs } of offsetSpans(range.first * quarterMs, range.end * quarterMs, timeZone)) {
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
