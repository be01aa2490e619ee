import type { PointedError } from '../../../../contract/domain-error.ts'
import { unknownRecords } from '../../../../contract/related-records.ts'
import type { BatchFacts, Catalogue, Refusal, ValidEvent } from '../telemetry-types.ts'

/** The archetypes, skills and records that events may refer to: now, or when a request was first made. */
export interface References {
  hasArchetype(archetypeId: string): boolean
  takesSkill(skillId: string): boolean
  hasRecord(recordId: string): boolean
}

const none: ReadonlySet<string> = new Set()

/** @param missing ids that name no record */
export function referencesOf(catalogue: Catalogue, missing: ReadonlySet<string> = none): References {
  return {
    hasArchetype: (archetypeId) => catalogue.archetypeIds.has(archetypeId),
    takesSkill: (skillId) => {
      const state = catalogue.skillStates.get(skillId)
      return state !== undefined && state !== 'retired'
    },
    hasRecord: (recordId) => !missing.has(recordId),
  }
}

/** Returns the references as of the events that the facts describe. */
export function referencesAt(facts: BatchFacts): References {
  const archetypes = new Set(facts.unknownArchetypes)
  const skills = new Set(facts.unregisteredSkills)
  const records = new Set(facts.unknownRecords)
  return {
    hasArchetype: (archetypeId) => !archetypes.has(archetypeId),
    takesSkill: (skillId) => !skills.has(skillId),
    hasRecord: (recordId) => !records.has(recordId),
  }
}

/** Returns the reason to refuse an event, or undefined. Faults of the event precede faults of its references. */
export function refusalOf(reading: ValidEvent | PointedError[], references: References): Refusal | undefined {
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
  const unknown = unknownRecords(reading.relatedRecords ?? [], references.hasRecord)
  return unknown.length > 0 ? { slug: 'validation-failed', errors: unknown } : undefined
}
