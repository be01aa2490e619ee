/** Length of the period of a budget. */
export type PeriodLength = 'day' | 'week' | 'month'

/** A period in milliseconds since 1970: start ≤ t < end. */
export interface Period {
  startMs: number
  endMs: number
}

/**
 * Returns the period that contains a time: a day, a week from Monday or a month of a time zone, from midnight to
 * midnight. A day has 23 or 25 hours if the clock is set. A day without midnight begins with its first instant.
 *
 * @param timeZone a name of the IANA database
 */
export function periodAt(atMs: number, length: PeriodLength, timeZone: string): Period {
  const day = Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timeZone).toPlainDate()
  const first =
    length === 'day' ? day : length === 'week' ? day.subtract({ days: day.dayOfWeek - 1 }) : day.with({ day: 1 })
  const next = first.add(length === 'day' ? { days: 1 } : length === 'week' ? { weeks: 1 } : { months: 1 })
  const msOf = (date: Temporal.PlainDate) => date.toZonedDateTime(timeZone).epochMilliseconds
  return { startMs: msOf(first), endMs: msOf(next) }
}

/** Returns the quarter of an hour, counted since 1970, that contains a time: firings name a period by its first. */
export function quarterOf(atMs: number): number {
  return Math.floor(atMs / 900_000)
}

/** A period counts as elapsed by at least this share, in forecasts. */
const elapsedShareMin = 0.05

/**
 * Returns the cost of a whole period in micro-dollars, if it goes on as it began: linear by the elapsed share of the
 * period, which counts as at least 5 %.
 */
export function forecastMicros(spentMicros: bigint, { startMs, endMs }: Period, nowMs: number): bigint {
  const wholeMs = endMs - startMs
  const elapsedMs = Math.min(Math.max(Math.round(nowMs - startMs), Math.ceil(wholeMs * elapsedShareMin)), wholeMs)
  return (spentMicros * BigInt(wholeMs)) / BigInt(elapsedMs)
}
