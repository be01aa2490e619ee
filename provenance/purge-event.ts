import type { JsonObject } from './json.ts'

/** Milliseconds of the recovery period for events that do not state its end: interface section 8. */
const bufferMs = 30 * 86_400_000

/**
 * Returns the end of the recovery period, from the details of a `hub.record_purged` event. Legal holds may postpone it;
 * nothing brings it forward. Returns undefined if the details state no time.
 */
export function recoveryEndOf({ purged_at, hard_delete_after }: JsonObject): string | undefined {
  if (typeof hard_delete_after === 'string') return hard_delete_after
  const purgedMs = typeof purged_at === 'string' ? Date.parse(purged_at) : Number.NaN
  if (!(Math.abs(purgedMs) < 8e15)) return undefined
  return new Date(purgedMs + bufferMs).toISOString().replace('Z', '000Z')
}
