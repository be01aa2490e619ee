import { recordHash } from '../../../provenance/index.ts'
import { isLeafOf } from '../../../provenance/seal.ts'
import type { DatabaseLog, TenantTx } from '../../db/database.ts'
import { isErased } from '../../db/record-encryption.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { nextTimePoint } from '../../records/monotonic-timestamp.ts'
import { nodeCrypto } from '../../records/node-crypto.ts'
import { timeOfRecordId } from '../../records/record-clock.ts'
import { parseCanonical } from '../../records/record-response.ts'
import { heldRecordOf } from '../../records/record-rows.ts'
import type { HoldCheck, HoldName } from '../legal-holds/holds-types.ts'
import { accessEvidenceOf } from './access-evidence.ts'
import {
  type ErasableRecord,
  eraseRecords,
  findErasable,
  findEventsRequiredByHolds,
  findReferencedEvents,
  findReliedByAccess,
  insertTombstones,
  lockErasure,
  lockPurged,
  type PurgedState,
} from './erasure-store.ts'
import type { ErasedRecord, ErasureJournal, JournaledErasure } from './erasure-types.ts'

export interface ErasureRequest {
  recordId: string
  /** The proven purge. It must be unchanged, and its recovery period over by `until`. */
  purge?: { purged_at: string; event_id: string | null; until: string; asOf?: string | undefined }
  /** The earlier erasure of a record that exists again; replaces `purge`. */
  kept?: JournaledErasure
}

/** The time, the author and the reason of a purge. */
type Purge = Pick<PurgedState, 'purged_at' | 'purged_by' | 'purge_reason' | 'event_id'> & {
  /** Unknown for records that were erased before. */
  hard_delete_after?: string | null
}

interface Erasable {
  record: ErasableRecord
  purge: Purge
  /** The time of the earlier erasure, if the record exists again. */
  erasedBefore?: string
  /** The point in time that the operator had the run assume. */
  asOf?: string | undefined
}

export interface ErasurePartDeps extends Pick<ModuleParts, 'clock' | 'governance' | 'events'> {
  holds: HoldCheck
  erasureList: ErasureJournal
  log: Pick<DatabaseLog, 'error'>
}

/** Erases records in one transaction. */
export class ErasurePart {
  readonly #deps: ErasurePartDeps

  constructor(deps: ErasurePartDeps) {
    this.#deps = deps
  }

  /** Erases the records that nothing protects. Returns their number. */
  async erase(tx: TenantTx, tenant: Tenant, orders: readonly ErasureRequest[]): Promise<number> {
    const { clock, governance, holds, erasureList, events } = this.#deps
    if (orders.length === 0) return 0
    await lockErasure(tx)
    await holds.lock(tx)
    const going = await this.#erasable(tx, orders)
    if (going.length === 0) return 0
    const purges = going.map(({ purge }) => purge.purged_at)
    const erasedAt = nextTimePoint(clock.next().micros, purges).text
    const written = await governance.appendAll(
      tx,
      tenant,
      going.map((one) => ({
        kind: 'hub.record_hard_deleted',
        subject: `record:${one.record.record_id}`,
        details: detailsOf(one, erasedAt),
        actor: { service: 'erasure' },
      })),
    )
    await insertTombstones(
      tx,
      going.map(({ record, purge }, at) => ({
        record_id: record.record_id,
        record_type: record.record_type,
        seal_id: record.seal_id,
        leaf_index: record.leaf_index,
        purged_at: purge.purged_at,
        purged_by: purge.purged_by,
        purge_reason: purge.purge_reason,
        purge_event_id: purge.event_id,
        event_id: written[at]!.recordId,
        erased_at: erasedAt,
      })),
    )
    const erased = going.map((one, at) => erasedRecordOf(one, erasedAt, written[at]!.recordId))
    await events.publishInTransaction(tx, 'recordsErased', { records: erased })
    const ids = erased.map((record) => record.record_id)
    if ((await eraseRecords(tx, ids)) !== ids.length) throw new Error('a locked record was deleted concurrently')
    // Last, and before the commit: an entry that the journal lists twice is erased once.
    await erasureList.keep(going.flatMap((one) => (one.erasedBefore ? [] : [keptOf(tenant, one, erasedAt)])))
    return ids.length
  }

  /** Returns the stored records that may be erased. Except for those erased before, their purge must be unchanged. */
  async #erasable(tx: TenantTx, orders: readonly ErasureRequest[]): Promise<Erasable[]> {
    const ids = orders.map((order) => order.recordId)
    const states = new Map((await lockPurged(tx, ids)).map((state) => [state.record_id, state]))
    const orderOf = new Map(orders.map((order) => [order.recordId, order]))
    const found = (await findErasable(tx, ids)).flatMap((record): Erasable[] => {
      const { kept, purge } = orderOf.get(record.record_id)!
      const state = states.get(record.record_id)
      if (kept) return [{ record, purge: purgeOfKept(kept, state), erasedBefore: kept.erased_at }]
      return state && purge && isStill(state, purge) ? [{ record, purge: state, asOf: purge.asOf }] : []
    })
    return this.#unkept(tx, found)
  }

  async #unkept(tx: TenantTx, found: readonly Erasable[]): Promise<Erasable[]> {
    const { holds } = this.#deps
    const records = found.map(({ record }) => record)
    const active = await holds.activeOver(tx, records.map(heldRecordOf))
    const unreleased = await holds.idsWithoutRelease(
      tx,
      found.flatMap(({ record: { record_id, record_type }, purge: { purged_at }, erasedBefore }) =>
        erasedBefore ? [] : [{ record_id, record_type, purged_at }],
      ),
    )
    const relied = await findReferencedEvents(tx, records.flatMap(evidenceOf))
    const reliedByHolds = await findEventsRequiredByHolds(tx, records.flatMap(holdEvidenceOf))
    const reliedByAccess = await findReliedByAccess(tx, records.flatMap(accessEvidenceOf))
    return found.filter(({ record, erasedBefore }, at) => {
      const { record_id: id } = record
      const holding = active[at]!.filter((hold) => erasedBefore === undefined || isLater(hold, erasedBefore))
      const isRelied = relied.has(id) || reliedByHolds.has(id) || reliedByAccess.has(id)
      return holding.length === 0 && !unreleased.has(id) && !isRelied && this.#isInItsSeal(tx, record)
    })
  }

  /**
   * Checks that the seal contains the record and that the text is the sealed one. An altered record must stay visible:
   * its existence could not be proven after the erasure, and aggregates would keep the altered values.
   */
  #isInItsSeal(tx: TenantTx, { record_id, salt, provenance_hash, leaf, canonical }: ErasableRecord): boolean {
    const isText =
      isErased(tx, canonical) ||
      recordHash(canonical, nodeCrypto.sha256).every((byte, at) => byte === provenance_hash[at])
    const isSound = isText && leaf !== null && isLeafOf(leaf, salt, provenance_hash, nodeCrypto.sha256)
    if (!isSound) {
      const message = 'a purged record is not in the seal that it names, so it is not erased: verify it'
      this.#deps.log.error({ tenant: tx.tenantId, record_id }, message)
    }
    return isSound
  }
}

/**
 * Returns whether a hold is newer than the earlier erasure. No hold was in force then, so an older hold from a restored
 * backup had been released. A newer hold counts, because that erasure may not have been committed.
 */
function isLater({ hold_id }: HoldName, erasedBefore: string): boolean {
  return timeOfRecordId(hold_id) > erasedBefore
}

function isStill(state: PurgedState, purge: NonNullable<ErasureRequest['purge']>): boolean {
  return (
    state.purged_at === purge.purged_at &&
    state.event_id === purge.event_id &&
    state.hard_delete_after !== null &&
    state.hard_delete_after <= purge.until
  )
}

/** Returns the earlier purge, with its event if the restored database contains it. */
function purgeOfKept({ purged_at, purged_by, purge_reason }: JournaledErasure, state: PurgedState | undefined): Purge {
  const event_id = state?.purged_at === purged_at ? state.event_id : null
  return { purged_at, purged_by, purge_reason, event_id }
}

/**
 * Returns a reference if the record is an event about the purge or erasure of another record, which may depend on it.
 */
function evidenceOf(record: ErasableRecord): { event_id: string; record_id: string }[] {
  const { record_id, event_kind, canonical } = record
  if (event_kind === null || !/^hub\.record_(purged|restored|hard_deleted)$/.test(event_kind)) return []
  const subject = parseCanonical(canonical)?.subject
  const about = /^record:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(String(subject))?.[1]
  return about === undefined ? [] : [{ event_id: record_id, record_id: about }]
}

/** Returns a reference if the record is an event about a hold, a release or retention rules, which may depend on it. */
function holdEvidenceOf(record: ErasableRecord): { event_id: string; about_id: string | null }[] {
  const { record_id, event_kind, canonical } = record
  if (!/^(hub\.legal_hold_(applied|released)|tenant\.config_changed)$/.test(event_kind ?? '')) return []
  const subject = parseCanonical(canonical)?.subject
  const about = /^(?:hold|record):([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(String(subject))?.[1]
  return [{ event_id: record_id, about_id: about ?? null }]
}

/**
 * Returns the details of the erasure event. They include the purge event and the end of the recovery period, so that
 * this event is complete by itself.
 */
function detailsOf({ record, purge, erasedBefore, asOf }: Erasable, erasedAt: string) {
  return {
    record_type: record.record_type,
    purged_at: purge.purged_at,
    purged_by: purge.purged_by,
    reason: purge.purge_reason,
    ...(purge.event_id === null ? {} : { purge_event: purge.event_id }),
    ...(erasedBefore || !purge.hard_delete_after ? {} : { hard_delete_after: purge.hard_delete_after }),
    erased_at: erasedAt,
    ...(asOf === undefined ? {} : { as_of: asOf }),
    leaf_hash: record.leaf!.toString('base64'),
    seal_id: record.seal_id,
    leaf_index: record.leaf_index,
    ...(erasedBefore ? { repeated: true } : {}),
  }
}

/** Returns the record as subscribers of its erasure receive it. A record that existed again may have been copied until now. */
function erasedRecordOf({ record, purge, erasedBefore }: Erasable, erasedAt: string, event_id: string): ErasedRecord {
  const { record_id, record_type, user_id, canonical } = record
  const purged_at = erasedBefore ? erasedAt : purge.purged_at
  return { record_id, record_type, created_at: timeOfRecordId(record_id), purged_at, user_id, canonical, event_id }
}

function keptOf(tenant: Tenant, { record, purge }: Erasable, erasedAt: string): JournaledErasure {
  return {
    tenant: tenant.slug,
    record_id: record.record_id,
    purged_at: purge.purged_at,
    purged_by: purge.purged_by,
    purge_reason: purge.purge_reason,
    erased_at: erasedAt,
  }
}
