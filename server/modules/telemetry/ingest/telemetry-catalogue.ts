import type { PointedError } from '../../../../contract/domain-error.ts'
import { unknownRecords } from '../../../../contract/related-records.ts'
import { TenantCache } from '../../../cached-fetch.ts'
import { type Database, readTenant } from '../../../db/database.ts'
import type { SkillRegistry } from '../../entitlement/entitlement-types.ts'
import type { ArchetypeBundle } from '../../roster/roster-types.ts'
import { isProvisioned } from '../telemetry-store.ts'
import type { BatchFacts, Catalogue, Refusal, ValidEvent } from '../telemetry-types.ts'

export interface Catalogues {
  /** Returns the catalogue, at most one second old, and never older than the last change by this process. */
  of(tenantId: string): Promise<Catalogue>
  /** Reads the catalogue from the database after the call; concurrent calls share the read. */
  fresh(tenantId: string): Promise<Catalogue>
  /** Drops the catalogue. Call it after a commit that changed skills or archetypes of the tenant. */
  changed(tenantId: string): void
}

export function createCatalogues(deps: {
  database: Database
  archetypes: ArchetypeBundle
  skills: SkillRegistry
  nowMs?: () => number
}): Catalogues {
  const { database, archetypes, skills, nowMs } = deps
  const catalogues = new TenantCache(
    (tenantId) =>
      readTenant(
        database,
        tenantId,
        async (tx): Promise<Catalogue> => ({
          provisioned: await isProvisioned(tx),
          archetypeIds: await archetypes.allIds(tx),
          skillStates: await skills.allStates(tx),
        }),
      ),
    { nowMs },
  )
  return {
    of: (tenantId) => catalogues.get(tenantId),
    fresh: (tenantId) => catalogues.getFresh(tenantId),
    changed: (tenantId) => catalogues.drop(tenantId),
  }
}

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
  const archetypes = new Set(facts.unknown_archetypes)
  const skills = new Set(facts.unregistered_skills)
  const records = new Set(facts.unknown_records)
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
