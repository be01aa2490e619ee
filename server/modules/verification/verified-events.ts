import { LRUCache } from 'lru-cache'
import { isJsonObject } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import { parseCanonical } from '../../records/record-response.ts'
import type { StoredRecord } from '../../records/record-rows.ts'
import { findLinks, findRecords, findSeals, includingErasable } from '../../records/record-store.ts'
import type { ProvenanceKeys } from '../keys/keys-types.ts'
import { passedAll, taskOf } from './provenance-check.ts'
import type { VerificationPool } from './provenance-check-pool.ts'
import type { VerifiedEvent, VerifiedEvents } from './verification-types.ts'

/** Maximum size of cached events in UTF-16 units. */
const rememberedMax = 16 * 1024 * 1024
/** Maximum number of events that are read and verified at once. */
const partSize = 500

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
