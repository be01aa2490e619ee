import type { JsonObject, JsonValue } from '../../../../provenance/json.ts'
import type { IngestedEvent } from '../webhooks-types.ts'

/** Members of the record that are told, where it has them. Never `metadata`, which may hold anything. */
const told = [
  ...['skill_id', 'skill_version', 'archetype_id', 'user_id', 'llm_platform', 'llm_model', 'ts', 'success'],
  ...['latency_ms', 'tokens_in', 'tokens_out', 'cost_usd_estimate', 'cost_usd_computed', 'error_code'],
] as const

/**
 * In Mode B these stand in the text that the customer's key protects, and nowhere else; the rest is in the columns and
 * sums as well. Messages are stored in the clear.
 */
const protectedMembers: ReadonlySet<string> = new Set(['skill_version', 'error_code'])

/** `data` of the messages of an invocation: the same for all kinds and endpoints. */
export function invocationData({ recordId, fields, sealed }: IngestedEvent): JsonObject {
  const data: Record<string, JsonValue> = { record_id: recordId }
  for (const name of told) {
    const value = fields[name]
    if (value !== undefined && !(sealed && protectedMembers.has(name))) data[name] = value
  }
  return data
}
