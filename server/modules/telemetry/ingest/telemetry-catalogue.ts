import { DomainError, type PointedError } from '../../../../contract/domain-error.ts'
import { unknownRecords } from '../../../../contract/related-records.ts'
import type { JsonValue } from '../../../../provenance/index.ts'
import { TenantCache } from '../../../cached-fetch.ts'
import { type Database, readTenant } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import { createEventLoopYielder } from '../../../http/event-loop-yielder.ts'
import type { SkillRegistry } from '../../entitlement/entitlement-types.ts'
import type { ArchetypeBundle } from '../../roster/roster-types.ts'
import { isProvisioned } from '../telemetry-store.ts'
import type { BatchFacts, Catalogue, Rejection, ValidEvent } from '../telemetry-types.ts'
import { readEvent } from './event-check.ts'
import type { EventWriter } from './event-writer.ts'

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
export function rejectionOf(reading: ValidEvent | PointedError[], references: References): Rejection | undefined {
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

/** Events between two yields: ordinary ones take a fraction of a millisecond, and the largest valid ones a few. */
const eventsPerTurn = 8

/** An event that passed the checks without a catalogue, or its faults. */
export type Reading = ValidEvent | PointedError[]

export interface ReferenceReader {
  /**
   * Returns the references of the events. Before it refuses one, it reads the catalogue again. Throws
   * `hub-not-provisioned`.
   */
  of(tenant: Tenant, readings: readonly Reading[]): Promise<References>
}

export function createReferenceReader(deps: { catalogues: Catalogues; writer: EventWriter }): ReferenceReader {
  const { catalogues, writer } = deps

  /** Returns the ids in `related_records` that name no record. Queries the database only if an event has any. */
  async function missingAmong(tenant: Tenant, readings: readonly Reading[]): Promise<ReadonlySet<string> | undefined> {
    const named = readings.flatMap((reading) => (Array.isArray(reading) ? [] : (reading.relatedRecords ?? [])))
    return named.length > 0 ? writer.missing(tenant, named) : undefined
  }

  return {
    async of(tenant, readings) {
      let catalogue = await catalogues.of(tenant.slug)
      if (!acceptsAll(catalogue, tenant, readings)) catalogue = await catalogues.fresh(tenant.slug)
      if (!isReady(catalogue, tenant)) {
        throw new DomainError(
          'hub-not-provisioned',
          'This tenant runs in Mode B and its Hub has no key yet. Call POST /api/v1/hub/provision with `cmek` first.',
        )
      }
      return referencesOf(catalogue, await missingAmong(tenant, readings))
    },
  }
}

function isReady(catalogue: Catalogue, tenant: Tenant): boolean {
  return tenant.mode !== 'B' || catalogue.provisioned
}

function acceptsAll(catalogue: Catalogue, tenant: Tenant, readings: readonly Reading[]): boolean {
  const references = referencesOf(catalogue)
  return (
    isReady(catalogue, tenant) &&
    readings.every((reading) => Array.isArray(reading) || rejectionOf(reading, references) === undefined)
  )
}

export async function readEvents(events: readonly JsonValue[], nowMs: number): Promise<Reading[]> {
  const yieldIfLong = createEventLoopYielder()
  const readings: Reading[] = []
  for (const event of events) {
    const reading = readEvent(event, nowMs)
    readings.push(reading)
    // A refused event may have taken much longer.
    if (Array.isArray(reading) || readings.length % eventsPerTurn === 0) await yieldIfLong()
  }
  return readings
}

export function partitionByRejection(readings: readonly Reading[], references: References) {
  const accepted: { index: number; event: ValidEvent }[] = []
  const refused = new Map<number, Rejection>()
  for (const [index, reading] of readings.entries()) {
    const rejection = rejectionOf(reading, references)
    if (rejection) refused.set(index, rejection)
    else accepted.push({ index, event: reading as ValidEvent })
  }
  return { accepted, refused }
}
