import { isJsonObject } from '../../../provenance/json.ts'
import { recoveryEndOf } from '../../../provenance/purge-event.ts'
import { type Database, readTenant } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import { parseCanonical } from '../../records/record-response.ts'
import type { StoredRecord } from '../../records/record-rows.ts'
import { findRecords, includingErasable } from '../../records/record-store.ts'
import type { StoredVerification } from '../verification/verification-types.ts'
import type { DueRecord } from './erasure-store.ts'

/**
 * Returns the records whose purge has a verified governance event that records the same purge and recovery period. So
 * nobody can have a record erased by editing its state. Must not be called inside a transaction.
 */
export async function provenPurges(
  { database, verification }: { database: Database; verification: StoredVerification },
  tenant: Tenant,
  due: readonly DueRecord[],
): Promise<DueRecord[]> {
  const ids = due.flatMap(({ event_id }) => event_id ?? [])
  const { events, check } = await readTenant(database, tenant.slug, async (tx) => {
    const events = await findRecords(tx, [...new Set(ids)], includingErasable)
    return { events, check: await verification.prepare(tx, tenant, events) }
  })
  const verifications = await check()
  const sound = new Map(
    events.flatMap((event, at) => (verifications[at]!.verified ? [[event.record_id, event] as const] : [])),
  )
  return due.filter((record) => matchesPurge(sound.get(record.event_id ?? ''), record))
}

/** Returns whether the event records this purge. The recovery period must not end before the recorded end. */
function matchesPurge(
  event: StoredRecord | undefined,
  { record_id, purged_at, hard_delete_after }: DueRecord,
): boolean {
  const { event_kind, subject, details, created_by } = parseCanonical(event?.canonical ?? '') ?? {}
  if (!isJsonObject(details)) return false
  const end = recoveryEndOf(details)
  return (
    event_kind === 'hub.record_purged' &&
    created_by === 'service:hub' &&
    subject === `record:${record_id}` &&
    details.purged_at === purged_at &&
    end !== undefined &&
    end <= hard_delete_after
  )
}
