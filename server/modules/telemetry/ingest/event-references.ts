import { DomainError, type PointedError } from '../../../../contract/domain-error.ts'
import type { JsonValue } from '../../../../provenance/index.ts'
import type { Tenant } from '../../../http/caller.ts'
import { createEventLoopYielder } from '../../../http/event-loop-yielder.ts'
import type { Catalogue, Refusal, ValidEvent } from '../telemetry-types.ts'
import { readEvent } from './event-check.ts'
import type { EventWriter } from './event-writer.ts'
import { type Catalogues, type References, referencesOf, refusalOf } from './telemetry-catalogue.ts'

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
    readings.every((reading) => Array.isArray(reading) || refusalOf(reading, references) === undefined)
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

export function partitionByRefusal(readings: readonly Reading[], references: References) {
  const accepted: { index: number; event: ValidEvent }[] = []
  const refused = new Map<number, Refusal>()
  for (const [index, reading] of readings.entries()) {
    const refusal = refusalOf(reading, references)
    if (refusal) refused.set(index, refusal)
    else accepted.push({ index, event: reading as ValidEvent })
  }
  return { accepted, refused }
}
