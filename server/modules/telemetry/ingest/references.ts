import type { PointedError } from '../../../../contract/domain-error.ts'
import type { BatchFacts, Catalogue, Refusal, SoundEvent } from '../telemetry-types.ts'

/** Which archetypes and skills events may refer to: now, or when a request was first made. */
export interface References {
  hasArchetype(archetypeId: string): boolean
  takesSkill(skillId: string): boolean
}

export function referencesOf(catalogue: Catalogue): References {
  return {
    hasArchetype: (archetypeId) => catalogue.archetypeIds.has(archetypeId),
    takesSkill: (skillId) => {
      const state = catalogue.skillStates.get(skillId)
      return state !== undefined && state !== 'retired'
    },
  }
}

/** As they were for the events that the facts are of. */
export function referencesThen(facts: BatchFacts): References {
  const archetypes = new Set(facts.unknownArchetypes)
  const skills = new Set(facts.unregisteredSkills)
  return {
    hasArchetype: (archetypeId) => !archetypes.has(archetypeId),
    takesSkill: (skillId) => !skills.has(skillId),
  }
}

/** Why an event is refused, or undefined. What is wrong with the event itself goes before what it refers to. */
export function refusalOf(reading: SoundEvent | PointedError[], references: References): Refusal | undefined {
  if (Array.isArray(reading)) return { slug: 'validation-failed', errors: reading }
  if (!references.hasArchetype(reading.archetypeId)) {
    return {
      slug: 'validation-failed',
      errors: [{ pointer: '/archetype_id', detail: 'must be in the archetype bundle of the tenant' }],
    }
  }
  if (!references.takesSkill(reading.skillId)) {
    return {
      slug: 'skill-not-registered',
      errors: [
        {
          pointer: '/skill_id',
          detail: 'must be a registered skill that is not retired; register it with a skill_definition record',
        },
      ],
    }
  }
  return undefined
}
