import { sql } from 'kysely'
import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'

export type RecordState = Omit<TenantTables['hub.record_states'], 'tenant_id' | 'record_id'>

/**
 * The state as verification compares it: whether a recovery period is paused, but not its rest, which may exceed a
 * number.
 */
export type StateOfRecord = Omit<RecordState, 'buffer_left_micros'> & { record_id: string; is_frozen: boolean }

const comparedColumns = ['revision', 'purged_at', 'purged_by', 'purge_reason', 'hard_delete_after', 'event_id'] as const
const stateColumns = [...comparedColumns, 'buffer_left_micros'] as const

export type Release = Omit<TenantTables['hub.legal_hold_releases'], 'tenant_id'>

const neverPurged: RecordState = {
  revision: 0,
  purged_at: null,
  purged_by: null,
  purge_reason: null,
  hard_delete_after: null,
  event_id: null,
  buffer_left_micros: null,
}

/**
 * Returns the state of a record, locked until the transaction ends, so that concurrent callers see each other's
 * changes. Callers must check under the lock that the record still exists, because it may have been erased meanwhile.
 * Returns undefined if the erasure is already known.
 */
export async function lockState(tx: TenantTx, recordId: string): Promise<RecordState | undefined> {
  await tx.db
    .insertInto('hub.record_states')
    .values({ tenant_id: tx.tenantId, record_id: recordId, ...neverPurged })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'record_id']).doNothing())
    .execute()
  return tx.db
    .selectFrom('hub.record_states')
    .select(stateColumns)
    .where('tenant_id', '=', tx.tenantId)
    .where('record_id', '=', recordId)
    .forUpdate()
    .executeTakeFirst()
}

/** Returns the stored states of the records that have one. */
export async function findStates(tx: TenantTx, recordIds: readonly string[]): Promise<StateOfRecord[]> {
  return tx.db
    .selectFrom('hub.record_states')
    .select(['record_id', ...comparedColumns, sql<boolean>`buffer_left_micros is not null`.as('is_frozen')])
    .where('tenant_id', '=', tx.tenantId)
    .where('record_id', '=', sql<string>`any(${[...recordIds]})`)
    .execute()
}

/** Stores a state. Requires the lock of {@link lockState}. */
export async function saveState(tx: TenantTx, recordId: string, state: RecordState): Promise<void> {
  await tx.db
    .updateTable('hub.record_states')
    .set(state)
    .where('tenant_id', '=', tx.tenantId)
    .where('record_id', '=', recordId)
    .execute()
}

export async function insertRelease(tx: TenantTx, release: Release): Promise<void> {
  await tx.db
    .insertInto('hub.legal_hold_releases')
    .values({ tenant_id: tx.tenantId, ...release })
    .execute()
}

/** Returns all releases of the records, including ended ones. */
export async function findReleases(tx: TenantTx, recordIds: readonly string[]): Promise<Release[]> {
  if (recordIds.length === 0) return []
  return tx.db
    .selectFrom('hub.legal_hold_releases')
    .select(['release_id', 'record_id', 'reason', 'created_at', 'created_by', 'expires_at', 'event_id'])
    .where('tenant_id', '=', tx.tenantId)
    .where('record_id', '=', sql<string>`any(${[...recordIds]})`)
    .execute()
}

/** Returns the next releases of a record by age. Requires a transaction of `inIndexOrder`. */
export async function releasesAfter(
  tx: TenantTx,
  recordId: string,
  after: string | undefined,
  count: number,
): Promise<Release[]> {
  return tx.db
    .selectFrom('hub.legal_hold_releases')
    .select(['release_id', 'record_id', 'reason', 'created_at', 'created_by', 'expires_at', 'event_id'])
    .where('tenant_id', '=', tx.tenantId)
    .where('record_id', '=', recordId)
    .where('release_id', '>', after ?? '00000000-0000-0000-0000-000000000000')
    .orderBy('release_id')
    .limit(count)
    .execute()
}
