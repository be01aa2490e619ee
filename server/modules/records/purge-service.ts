import type { Static } from 'typebox'
import { parseTimestamp } from '../../../contract/timestamp.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Caller } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { timeOfMicros } from '../../records/monotonic-timestamp.ts'
import { purgeDetails, recoveryBufferMicros } from '../../records/purge-details.ts'
import { recordNotFound } from '../../records/record-errors.ts'
import type { StoredRecord } from '../../records/record-rows.ts'
import { lockState, type RecordState, saveState } from '../../records/record-state-store.ts'
import { findRecord, findRecordIds } from '../../records/record-store.ts'
import type { HoldCheck } from '../legal-holds/holds-types.ts'
import type { RetentionPolicy } from '../retention/retention-types.ts'
import { entityTagOf, requireMatch } from './entity-tag.ts'
import { requirePurgeable } from './purge-rules.ts'
import type { PurgedSchema, RestoredSchema } from './records-schemas.ts'

type PurgeResponse = Static<typeof PurgedSchema>
type RestoreResponse = Static<typeof RestoredSchema>

/** A response, and the entity tag of the state after the change. */
interface Tagged<Answer> {
  answer: Answer
  etag: string
}

/** Purges and restores records. Record ids are in lower case, as stored. */
export type RecordPurger = ReturnType<typeof createRecordPurger>

interface LockedRecord {
  record: StoredRecord
  state: RecordState
  /** Microseconds, read under the lock, so that the changes of a record have ascending times. */
  micros: number
}

/**
 * Creates the service for soft deletion (interface 3.1). The row lock of `lockState` serializes changes of one record.
 * The lock of holds prevents placing or releasing a hold during a purge.
 */
export function createRecordPurger(
  deps: Pick<ModuleParts, 'database' | 'clock' | 'governance'> & {
    holds: HoldCheck
    retention: RetentionPolicy
  },
) {
  const { database, clock, governance, holds, retention } = deps

  /** Returns the record and its state, locked. Checks `If-Match` before any decision about the state. */
  async function lockRecord(tx: TenantTx, recordId: string, ifMatch: string | undefined): Promise<LockedRecord> {
    await holds.lock(tx)
    const record = await findRecord(tx, recordId, clock.next().createdAt)
    if (record === undefined) throw recordNotFound(recordId)
    const state = await lockState(tx, recordId)
    const isErased = state === undefined || (await findRecordIds(tx, [recordId], clock.next().createdAt)).size === 0
    if (isErased) throw recordNotFound(recordId)
    requireMatch(ifMatch, entityTagOf(recordId, state.revision))
    return { record, state, micros: clock.next().micros }
  }

  return {
    /**
     * Purges a record.
     *
     * @throws DomainError the errors of `requirePurgeable`
     */
    purge(
      caller: Caller,
      recordId: string,
      { reason, ifMatch }: { reason: string; ifMatch?: string | undefined },
    ): Promise<Tagged<PurgeResponse>> {
      const { tenant, subject } = caller
      return database.withTenant(tenant.slug, async (tx) => {
        const { record, state, micros } = await lockRecord(tx, recordId, ifMatch)
        if (state.purged_at !== null) return purged(recordId, state)
        const moment = await requirePurgeable(tx, record, { subject, micros, holds, retention })
        const changed: RecordState = {
          revision: state.revision + 1,
          purged_at: moment.text,
          purged_by: subject,
          purge_reason: reason,
          hard_delete_after: timeOfMicros(moment.micros + recoveryBufferMicros),
          event_id: null,
          buffer_left_micros: null,
        }
        const event = await governance.append(tx, tenant, {
          kind: 'hub.record_purged',
          subject: `record:${recordId}`,
          details: purgeDetails(record.record_type, changed),
          actor: caller,
        })
        await saveState(tx, recordId, { ...changed, event_id: event.recordId })
        return purged(recordId, changed)
      })
    },

    restore(
      caller: Caller,
      recordId: string,
      { ifMatch }: { ifMatch?: string | undefined },
    ): Promise<Tagged<RestoreResponse>> {
      const { tenant } = caller
      return database.withTenant(tenant.slug, async (tx) => {
        const { record, state } = await lockRecord(tx, recordId, ifMatch)
        if (state.purged_at === null) return restored(recordId, state.revision)
        const revision = state.revision + 1
        const event = await governance.append(tx, tenant, {
          kind: 'hub.record_restored',
          subject: `record:${recordId}`,
          details: { purged_at: state.purged_at, record_type: record.record_type, revision },
          actor: caller,
        })
        await saveState(tx, recordId, {
          revision,
          purged_at: null,
          purged_by: null,
          purge_reason: null,
          hard_delete_after: null,
          event_id: event.recordId,
          buffer_left_micros: null,
        })
        return restored(recordId, revision)
      })
    },
  }
}

/**
 * Returns the response to a purge. While a hold pauses the recovery period, its end is unknown. The response then
 * contains the original end, so that repeating the purge changes nothing.
 */
function purged(recordId: string, state: RecordState): Tagged<PurgeResponse> {
  const { purged_at, hard_delete_after, buffer_left_micros: left } = state
  // The time may have been edited into an invalid one.
  const purgedAt = left === null || purged_at === null ? undefined : parseTimestamp(purged_at)
  const firstEnd = purgedAt && purgedAt.epochMs * 1000 + purgedAt.microsOfMs + recoveryBufferMicros
  return {
    answer: {
      record_id: recordId,
      is_purged: true,
      purged_at: purged_at ?? '',
      hard_delete_after: firstEnd === undefined ? (hard_delete_after ?? '') : timeOfMicros(firstEnd),
    },
    etag: entityTagOf(recordId, state.revision),
  }
}

function restored(recordId: string, revision: number): Tagged<RestoreResponse> {
  return { answer: { record_id: recordId, is_purged: false }, etag: entityTagOf(recordId, revision) }
}
