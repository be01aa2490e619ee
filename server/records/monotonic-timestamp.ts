import { formatTimestamp, parseTimestamp } from '../../contract/timestamp.ts'

export interface TimePoint {
  /** RFC 3339, UTC, six fractional digits. */
  text: string
  /** Microseconds since the epoch. */
  micros: number
}

/**
 * Returns the given time, or the microsecond after the latest of `times` if that is later. Clocks of processes differ
 * slightly, but changes under a lock must have ascending times, because verification replays them by time.
 */
export function nextTimePoint(micros: number, times: readonly (string | null | undefined)[]): TimePoint {
  const latest = times.reduce((max, time) => Math.max(max, time ? microsOf(time) + 1 : 0), micros)
  return { text: timeOfMicros(latest), micros: latest }
}

/** @param text a timestamp in the one text form */
export function microsOf(text: string): number {
  const parsed = parseTimestamp(text)
  if (parsed === undefined) throw new Error(`not a timestamp: ${text}`)
  return parsed.epochMs * 1000 + parsed.microsOfMs
}

export function timeOfMicros(micros: number): string {
  const epochMs = Math.floor(micros / 1000)
  return formatTimestamp(epochMs, micros - epochMs * 1000)
}
