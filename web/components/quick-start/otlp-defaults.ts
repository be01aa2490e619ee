import { type ApiResponse, hub } from '../../api/api-client.ts'
import type { Sample } from './use-sample.ts'

export const mappingPath = '/api/v1/telemetry/otlp-mapping'
type OtlpMapping = ApiResponse<'getOtlpMapping'>

/** Returns the mapping with defaults for calls that name no skill, or undefined if the tenant has defaults already. */
export function withDefaults(
  mapping: OtlpMapping,
  { skillId, archetypeId }: Pick<Sample, 'skillId' | 'archetypeId'>,
): OtlpMapping | undefined {
  if (mapping.default_skill_id !== null || mapping.default_archetype_id !== null) return undefined
  const defaults = { default_skill_id: skillId, default_archetype_id: archetypeId }
  return { ...mapping, ...defaults, unknown_skill: 'register' }
}

/** Sets the defaults of a tenant without any: Claude Code often names no skill, and its calls would be rejected. */
export async function setDefaults(sample: Sample): Promise<void> {
  const { data: mapping } = await hub.GET(mappingPath)
  const body = mapping && withDefaults(mapping, sample)
  if (body) await hub.PUT(mappingPath, { body })
}
