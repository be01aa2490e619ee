import type { JsonObject } from './json.ts'

/** The recovery buffer of events that do not say when it ends: interface section 8. */
const bufferMs = 30 * 86_400_000

/**
 * Until when the record of a `hub.record_purged` can be restored, by the details of that event; holds may put it off, and
 * nothing brings it forward. Undefined where they tell of no time.
 */
export function bufferEndOf({ purged_at, hard_delete_after }: JsonObject): string | undefined {
  if (typeof hard_delete_after === 'string') return hard_delete_after
  const purgedMs = typeof purged_at === 'string' ? Date.parse(purged_at) : Number.NaN
  if (!(Math.abs(purgedMs) < 8e15)) return undefined
  return new Date(purgedMs + bufferMs).toISOString().replace('Z', '000Z')
}
