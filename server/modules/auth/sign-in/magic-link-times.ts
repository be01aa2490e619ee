/** `2026-01-05 09:30 UTC` of an RFC 3339 timestamp in UTC. */
export function readableTime(timestamp: string): string {
  return `${timestamp.slice(0, 16).replace('T', ' ')} UTC`
}
