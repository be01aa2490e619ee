import type { ApiResponse } from '../../api/api-client.ts'
import type { Sample } from './use-sample.ts'

type OtlpMapping = ApiResponse<'getOtlpMapping'>

/** Returns the mapping with the defaults that it lacks, or undefined if it has both. Leaves all else to the tenant. */
export function withDefaults(
  mapping: OtlpMapping,
  { skillId, archetypeId }: Pick<Sample, 'skillId' | 'archetypeId'>,
): OtlpMapping | undefined {
  const { default_skill_id: ownSkill, default_archetype_id: ownArchetype } = mapping
  if (ownSkill !== null && ownArchetype !== null) return undefined
  return { ...mapping, default_skill_id: ownSkill ?? skillId, default_archetype_id: ownArchetype ?? archetypeId }
}
