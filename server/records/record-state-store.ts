import { sql } from 'kysely'
import type { TenantTx } from '../db/database.ts'
import type { TenantTables } from '../db/schema.ts'

/** The latest possible timestamp: the recovery period does not end. */
export const neverErased = '9999-12-31T23:59:59.999999Z'

export type RecordState = Omit<TenantTables['hub.record_states'], 'tenant_id' | 'record_id'>

/**
 * The state as verification compares it: whether a recovery period is paused, but not its rest, which may exceed a
 * number.
 */
export type StateOfRecord = Omit<RecordState, 'buffer_left_micros'> & { record_id: string; is_frozen: boolean }

const comparedColumns = ['revision', 'purged_at', 'purged_by', 'purge_reason', 'hard_delete_after', 'event_id'] as const
const stateColumns = [...comparedColumns, 'buffer_left_micros'] as const

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
