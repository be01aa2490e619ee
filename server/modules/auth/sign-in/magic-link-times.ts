/** Formats an RFC 3339 timestamp in UTC as `2026-01-05 09:30 UTC`. */
export function readableTime(timestamp: string): string {
  return `${timestamp.slice(0, 16).replace('T', ' ')} UTC`
}
