import { isJsonObject } from '../../../../provenance/json.ts'
import { bufferEndOf } from '../../../../provenance/purge-event.ts'
import type { Database } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { StoredRecord } from '../record-query-types.ts'
import { parseCanonical } from '../record-response.ts'
import { findRecords } from '../record-store.ts'
import type { StoredVerification } from '../verification-types.ts'
import type { DueRecord } from './erasure-store.ts'

/** Tells purges that the service made from those that somebody wrote into the database. */
export interface PurgeVerifier {
  /**
   * Those whose governance event is there, tells of this purge and its buffer, and verifies: nobody has a record erased
   * by editing its state. Not to be called inside a transaction.
   */
  proven(tenant: Tenant, due: readonly DueRecord[]): Promise<DueRecord[]>
}

/** Events beyond their own buffer count, too: they stay for as long as something rests on them. */
export const eventsStay = '0001-01-01T00:00:00.000000Z'

export function createPurgeVerifier(deps: { database: Database; verification: StoredVerification }): PurgeVerifier {
  const { database, verification } = deps
  return {
    async proven(tenant, due) {
      const ids = due.flatMap(({ event_id }) => event_id ?? [])
      const { events, check } = await database.withTenant(
        tenant.slug,
        async (tx) => {
          const events = await findRecords(tx, [...new Set(ids)], eventsStay)
          return { events, check: await verification.prepare(tx, tenant, events) }
        },
        { readOnly: true },
      )
      const verifications = await check()
      const sound = new Map(
        events.flatMap((event, at) => (verifications[at]!.verified ? [[event.record_id, event] as const] : [])),
      )
      return due.filter((record) => tellsOf(sound.get(record.event_id ?? ''), record))
    },
  }
}

/** Nobody shortens the buffer by editing its end either. */
function tellsOf(event: StoredRecord | undefined, { record_id, purged_at, hard_delete_after }: DueRecord): boolean {
  const { event_kind, subject, details, created_by } = parseCanonical(event?.canonical ?? '') ?? {}
  if (!isJsonObject(details)) return false
  const end = bufferEndOf(details)
  return (
    event_kind === 'hub.record_purged' &&
    created_by === 'service:hub' &&
    subject === `record:${record_id}` &&
    details.purged_at === purged_at &&
    end !== undefined &&
    end <= hard_delete_after
  )
}
