import type { ApiResponse } from '../../api/api-client.ts'
import type { Sample } from './use-sample.ts'

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
