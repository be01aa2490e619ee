import type { JsonObject } from '../../../../provenance/index.ts'
import type { CommonMembers } from '../../sealing/sealing-types.ts'

/**
 * Returns the canonical object of an event, with its members in the order of their names (RFC 8785, section 3.2.3).
 * Another order would give the same canonical text in twice the time.
 */
export function eventMembers(fields: JsonObject, common: CommonMembers): JsonObject {
  const members: Record<string, JsonObject[string]> = { archetype_id: fields.archetype_id! }
  if (fields.cost_usd_computed !== undefined) members.cost_usd_computed = fields.cost_usd_computed
  members.cost_usd_estimate = fields.cost_usd_estimate!
  members.created_at = common.created_at
  members.created_by = common.created_by
  if (fields.error_code !== undefined) members.error_code = fields.error_code
  members.latency_ms = fields.latency_ms!
  if (fields.llm_model !== undefined) members.llm_model = fields.llm_model
  members.llm_platform = fields.llm_platform!
  if (fields.metadata !== undefined) members.metadata = fields.metadata
  if (fields.price_source !== undefined) members.price_source = fields.price_source
  members.record_id = common.record_id
  members.record_type = common.record_type
  members.related_records = common.related_records
  members.schema_version = common.schema_version
  members.skill_id = fields.skill_id!
  members.skill_version = fields.skill_version!
  members.success = fields.success!
  members.tenant_id = common.tenant_id
  members.tokens_in = fields.tokens_in!
  members.tokens_out = fields.tokens_out!
  if (fields.tokens_total_reported !== undefined) members.tokens_total_reported = fields.tokens_total_reported
  members.ts = fields.ts!
  members.user_id = fields.user_id!
  return members
}
