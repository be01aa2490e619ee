import type { JsonObject, JsonValue } from '../../../../provenance/json.ts'
import type { IngestedEvent } from '../webhooks-types.ts'

/**
 * Members of the record that messages contain if present. `metadata` is never sent, because it may contain anything.
 */
const sentMembers = [
  ...['skill_id', 'skill_version', 'archetype_id', 'user_id', 'llm_platform', 'llm_model', 'ts', 'success'],
  ...['latency_ms', 'tokens_in', 'tokens_out', 'cost_usd_estimate', 'cost_usd_computed', 'error_code'],
] as const

/**
 * Members that Mode B messages contain: only the columns that a record has in clear. The rest is in the text under the
 * customer's key, and messages are stored outside of it.
 */
const sentIfEncrypted = ['skill_id', 'archetype_id', 'user_id', 'cost_usd_estimate'] as const

/** Returns the `data` of the messages of an invocation, the same for all kinds and endpoints. */
export function invocationData({ recordId, fields, sealed }: IngestedEvent): JsonObject {
  const data: Record<string, JsonValue> = { record_id: recordId }
  for (const name of sealed ? sentIfEncrypted : sentMembers) {
    const value = fields[name]
    if (value !== undefined) data[name] = value
  }
  return data
}
