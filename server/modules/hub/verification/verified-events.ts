import { LRUCache } from 'lru-cache'
import { isJsonObject, type JsonObject } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import { parseCanonical } from '../../../records/record-response.ts'
import type { StoredRecord } from '../../../records/record-rows.ts'
import { findLinks, findRecords, findSeals, includingErasable } from '../../../records/record-store.ts'
import type { ProvenanceKeys } from '../../keys/keys-types.ts'
import type { VerificationPool } from './verification-pool.ts'
import { passed, taskOf } from './verification-task.ts'

/** A governance event of the service, parsed from a verified text. */
export interface VerifiedEvent {
  eventId: string
  kind: string
  subject: string
  details: JsonObject
}

/**
 * Finds the service's own governance events that verify. Access to the database alone does not suffice to forge them.
 */
export interface VerifiedEvents {
  /**
   * Returns the events among the ids that exist and verify. Caches verified events, because they never change.
   *
   * @throws DomainError `hub-unavailable` if too much verification is pending
   */
  find(tx: TenantTx, eventIds: readonly (string | null)[]): Promise<ReadonlyMap<string, VerifiedEvent>>
}

/** Maximum size of cached events in UTF-16 units. */
const rememberedMax = 16 * 1024 * 1024
/** Maximum number of events that are read and verified at once. */
const partSize = 500

const passedAll = passed.hash | passed.cosign | passed.schemaVersion

export function createVerifiedEvents(deps: {
  keys: Pick<ProvenanceKeys, 'publicKeysOf'>
  pool: VerificationPool
}): VerifiedEvents {
  const { keys, pool } = deps
  const remembered = new LRUCache<string, { event: VerifiedEvent; size: number }>({
    maxSize: rememberedMax,
    sizeCalculation: ({ size }) => size,
  })

  async function verified(tx: TenantTx, ids: readonly string[]): Promise<StoredRecord[]> {
    const events = await findRecords(tx, ids, includingErasable)
    if (events.length === 0) return []
    const evidence = {
      seals: await findSeals(tx, [...new Set(events.map((event) => event.seal_id))]),
      links: await findLinks(tx, ids),
    }
    const keyIds = [...new Set(evidence.seals.map((seal) => seal.key_id))]
    const results = await pool.check(taskOf(events, evidence, await keys.publicKeysOf(tx.tenantId, keyIds, tx)))
    return events.filter((_, at) => results[at] === passedAll)
  }

  return {
    async find(tx, eventIds) {
      const found = new Map<string, VerifiedEvent>()
      const unknown: string[] = []
      for (const id of new Set(eventIds)) {
        if (id === null) continue
        const known = remembered.get(`${tx.tenantId} ${id}`)
        if (known) found.set(id, known.event)
        else unknown.push(id)
      }
      for (let from = 0; from < unknown.length; from += partSize) {
        for (const stored of await verified(tx, unknown.slice(from, from + partSize))) {
          const event = parseEvent(stored)
          if (event === undefined) continue
          found.set(event.eventId, event)
          remembered.set(`${tx.tenantId} ${event.eventId}`, { event, size: stored.canonical.length + 200 })
        }
      }
      return found
    },
  }
}

/** Parses an event. Returns undefined for any other record. */
function parseEvent({ record_id, canonical }: StoredRecord): VerifiedEvent | undefined {
  const { record_type, event_kind, created_by, subject, details } = parseCanonical(canonical) ?? {}
  if (record_type !== 'governance_event' || created_by !== 'service:hub') return undefined
  if (typeof event_kind !== 'string' || typeof subject !== 'string' || !isJsonObject(details)) return undefined
  return { eventId: record_id, kind: event_kind, subject, details }
}
