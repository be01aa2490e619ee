import { DomainError, validationFailed } from '../../../contract/domain-error.ts'
import { recoveryBufferDays } from '../../../contract/limits.ts'
import { formatTimestamp, parseTimestamp } from '../../../contract/timestamp.ts'
import type { Database, TenantTx } from '../../db/database.ts'
import type { Caller } from '../../http/caller.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import { entityTagOf, requireMatch } from './entity-tag.ts'
import type { RecordClock, RecordMoment } from './record-clock-types.ts'
import { recordNotFound } from './record-errors.ts'
import type { StoredRecord } from './record-query-types.ts'
import { findReleases, insertRelease, lockState, type RecordState, saveState } from './record-state-store.ts'
import { findRecord } from './record-store.ts'
import { isReleaseActive } from './record-verification.ts'

interface PurgeAnswer {
  record_id: string
  is_purged: true
  purged_at: string
  hard_delete_after: string
}

interface RestoreAnswer {
  record_id: string
  is_purged: false
}

interface ReleaseAnswer {
  release_id: string
  record_id: string
  reason: string
  created_at: string
  expires_at?: string
}

/** An answer and the entity tag of the state it left the record in. */
interface Tagged<Answer> {
  answer: Answer
  etag: string
}

/** Record ids are in lower case, as they are stored. */
export interface RecordPurger {
  purge(
    caller: Caller,
    recordId: string,
    request: { reason: string; ifMatch?: string | undefined },
  ): Promise<Tagged<PurgeAnswer>>
  restore(caller: Caller, recordId: string, request: { ifMatch?: string | undefined }): Promise<Tagged<RestoreAnswer>>
  release(
    caller: Caller,
    recordId: string,
    request: { reason: string; expires_at?: string | undefined },
  ): Promise<ReleaseAnswer>
}

interface LockedRecord {
  record: StoredRecord
  state: RecordState
  /** Read under the lock, so that the times of a record's changes are in their order. */
  moment: RecordMoment
}

const dayMs = 86_400_000

/** Soft deletion (interface 3.1). The row lock of `lockState` puts concurrent changes of one record in a row. */
export function createRecordPurger(deps: {
  database: Database
  clock: RecordClock
  governance: GovernanceLog
}): RecordPurger {
  const { database, clock, governance } = deps

  /** The record and its state, locked; the check of `If-Match` comes before anything the state decides. */
  async function lockRecord(tx: TenantTx, recordId: string, ifMatch: string | undefined): Promise<LockedRecord> {
    const record = await findRecord(tx, recordId, clock.next().createdAt)
    if (record === undefined) throw recordNotFound(recordId)
    const state = await lockState(tx, recordId)
    requireMatch(ifMatch, entityTagOf(recordId, state.revision))
    return { record, state, moment: clock.next() }
  }

  return {
    purge(caller, recordId, { reason, ifMatch }) {
      const { tenant } = caller
      return database.withTenant(tenant.slug, async (tx) => {
        const { record, state, moment } = await lockRecord(tx, recordId, ifMatch)
        const { createdAt: now, micros } = moment
        if (state.purged_at !== null) return purged(recordId, state)
        if (record.record_type === 'governance_event') await requireRelease(tx, recordId, now)
        const changed: RecordState = {
          revision: state.revision + 1,
          purged_at: now,
          purged_by: caller.subject,
          purge_reason: reason,
          hard_delete_after: formatTimestamp(Math.floor(micros / 1000) + recoveryBufferDays * dayMs, micros % 1000),
          event_id: null,
          buffer_left_micros: null,
        }
        await saveState(tx, recordId, changed)
        await governance.append(tx, tenant, {
          kind: 'hub.record_purged',
          subject: `record:${recordId}`,
          details: { reason, purged_at: now, record_type: record.record_type },
          actor: caller,
        })
        return purged(recordId, changed)
      })
    },

    restore(caller, recordId, { ifMatch }) {
      const { tenant } = caller
      return database.withTenant(tenant.slug, async (tx) => {
        const { record, state } = await lockRecord(tx, recordId, ifMatch)
        if (state.purged_at === null) return restored(recordId, state.revision)
        const revision = state.revision + 1
        await saveState(tx, recordId, {
          revision,
          purged_at: null,
          purged_by: null,
          purge_reason: null,
          hard_delete_after: null,
          event_id: null,
          buffer_left_micros: null,
        })
        await governance.append(tx, tenant, {
          kind: 'hub.record_restored',
          subject: `record:${recordId}`,
          details: { purged_at: state.purged_at, record_type: record.record_type },
          actor: caller,
        })
        return restored(recordId, revision)
      })
    },

    release(caller, recordId, { reason, expires_at }) {
      const { tenant } = caller
      const { recordId: releaseId, createdAt: now } = clock.next()
      const expiresAt = expires_at === undefined ? null : requireFuture(expires_at, now)
      return database.withTenant(tenant.slug, async (tx) => {
        const record = await findRecord(tx, recordId, now)
        if (record === undefined) throw recordNotFound(recordId)
        if (record.record_type !== 'governance_event') {
          throw validationFailed([
            {
              pointer: '/path/record_id',
              detail: `is a ${record.record_type}; only a governance_event takes a release`,
            },
          ])
        }
        await insertRelease(tx, {
          release_id: releaseId,
          record_id: recordId,
          reason,
          created_at: now,
          created_by: caller.subject,
          expires_at: expiresAt,
        })
        const until = expiresAt === null ? {} : { expires_at: expiresAt }
        await governance.append(tx, tenant, {
          kind: 'hub.legal_hold_released',
          subject: `record:${recordId}`,
          details: { release_id: releaseId, reason, ...until },
          actor: caller,
        })
        return { release_id: releaseId, record_id: recordId, reason, created_at: now, ...until }
      })
    },
  }
}

function purged(recordId: string, state: RecordState): Tagged<PurgeAnswer> {
  return {
    answer: {
      record_id: recordId,
      is_purged: true,
      purged_at: state.purged_at ?? '',
      hard_delete_after: state.hard_delete_after ?? '',
    },
    etag: entityTagOf(recordId, state.revision),
  }
}

function restored(recordId: string, revision: number): Tagged<RestoreAnswer> {
  return { answer: { record_id: recordId, is_purged: false }, etag: entityTagOf(recordId, revision) }
}

async function requireRelease(tx: TenantTx, recordId: string, now: string): Promise<void> {
  const releases = await findReleases(tx, [recordId])
  if (releases.some((release) => isReleaseActive(release, now))) return
  throw new DomainError(
    'legal-hold',
    'A governance_event is kept until it is released, and there is no active release for this one: ' +
      `POST /api/v1/hub/records/${recordId}/legal-hold-releases first.`,
  )
}

function requireFuture(expiresAt: string, now: string): string {
  const parsed = parseTimestamp(expiresAt)
  if (parsed === undefined) {
    throw validationFailed([{ pointer: '/expires_at', detail: 'must be an RFC 3339 timestamp' }])
  }
  if (parsed.text <= now) throw validationFailed([{ pointer: '/expires_at', detail: 'must be in the future' }])
  return parsed.text
}
