import type { JsonObject, JsonValue } from '../../../../provenance/json.ts'
import type { IngestedEvent } from '../webhooks-types.ts'

/** Members of the record that are told, where it has them. Never `metadata`, which may hold anything. */
const told = [
  ...['skill_id', 'skill_version', 'archetype_id', 'user_id', 'llm_platform', 'llm_model', 'ts', 'success'],
  ...['latency_ms', 'tokens_in', 'tokens_out', 'cost_usd_estimate', 'cost_usd_computed', 'error_code'],
] as const

/**
 * In Mode B what the columns of a record have in clear, and no more: the rest stands in the text that the customer's key
 * protects, and messages are stored beside it.
 */
const toldOfSealed = ['skill_id', 'archetype_id', 'user_id', 'cost_usd_estimate'] as const

/** `data` of the messages of an invocation: the same for all kinds and endpoints. */
export function invocationData({ recordId, fields, sealed }: IngestedEvent): JsonObject {
  const data: Record<string, JsonValue> = { record_id: recordId }
  for (const name of sealed ? toldOfSealed : told) {
    const value = fields[name]
    if (value !== undefined) data[name] = value
  }
  return data
}
