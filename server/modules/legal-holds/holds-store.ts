import type { RecordFilter } from '../../../contract/record-filter.ts'
import { holdsLockClass } from '../../db/advisory-locks.ts'
import type { TenantTx } from '../../db/database.ts'
import { lockTenant, lockTenantShared } from '../../db/tenant-lock.ts'
import { insertRow, updateRows } from '../../db/tenant-rows.ts'
import type { HoldName, HoldRow } from './holds-types.ts'
import { filterOf } from './stored-filter.ts'

export type NamedHold = HoldName & { record_id: string }

/** A hold over all matching records. */
export type FilterHold = HoldName & { filter: RecordFilter }

const columns = `hold_id, name, reason, filter, record_count, created_at, created_by, released_at, released_by,
  release_reason, event_id, release_event_id`

/** Keeps holds unchanged until the transaction ends. Other transactions may share the lock. */
export async function shareHoldsLock(tx: TenantTx): Promise<void> {
  await lockTenantShared(tx, holdsLockClass)
}

/** Waits for all transactions that share the lock, and blocks further ones until the transaction ends. */
export async function takeHoldsLock(tx: TenantTx): Promise<void> {
  await lockTenant(tx, holdsLockClass)
}

export async function insertHold(tx: TenantTx, hold: HoldRow, recordIds: readonly string[]): Promise<void> {
  const { filter, ...row } = hold
  await insertRow(tx, 'hub.legal_holds', { ...row, filter: filter && JSON.stringify(filter) })
  if (recordIds.length === 0) return
  await tx.client.query(
    `insert into hub.legal_hold_records (tenant_id, record_id, hold_id)
     select $1, id, $3 from unnest($2::uuid[]) as named (id) on conflict do nothing`,
    [tx.tenantId, recordIds, hold.hold_id],
  )
}

export async function findHold(tx: TenantTx, holdId: string): Promise<HoldRow | undefined> {
  const { rows } = await tx.client.query<HoldRow>(
    `select ${columns} from hub.legal_holds where tenant_id = $1 and hold_id = $2`,
    [tx.tenantId, holdId],
  )
  return rows[0]
}

export async function markReleased(
  tx: TenantTx,
  holdId: string,
  release: Pick<HoldRow, 'released_at' | 'released_by' | 'release_reason' | 'release_event_id'>,
): Promise<void> {
  await updateRows(tx, 'hub.legal_holds', { hold_id: holdId }, release)
}

/** Returns the next holds by age. Requires a transaction of `inIndexOrder`. */
export async function holdsAfter(
  tx: TenantTx,
  active: boolean | undefined,
  after: string | undefined,
  count: number,
): Promise<HoldRow[]> {
  const inForce = active === undefined ? '' : `and released_at is ${active ? '' : 'not'} null`
  const { rows } = await tx.client.query<HoldRow>(
    `select ${columns} from hub.legal_holds
     where tenant_id = $1 and hold_id > $2 ${inForce} order by hold_id limit $3`,
    [tx.tenantId, after ?? '00000000-0000-0000-0000-000000000000', count],
  )
  return rows
}

/** Returns the records that the hold names, in id order. */
export async function recordIdsOf(tx: TenantTx, holdId: string, count: number): Promise<string[]> {
  const { rows } = await tx.client.query<{ record_id: string }>(
    `select record_id from hub.legal_hold_records where tenant_id = $1 and hold_id = $2 order by record_id limit $3`,
    [tx.tenantId, holdId, count],
  )
  return rows.map((row) => row.record_id)
}

/**
 * Returns the holds in force that name any of the records, at most the newest `countMax` of each record, oldest first.
 *
 * @param unended holds that are in force regardless of their rows
 */
export async function holdsNaming(
  tx: TenantTx,
  recordIds: readonly string[],
  unended: readonly string[],
  countMax: number,
): Promise<NamedHold[]> {
  const { rows } = await tx.client.query<NamedHold>(
    `select w.record_id, n.hold_id, n.name from unnest($2::uuid[]) as w (record_id)
     cross join lateral (
       select h.hold_id, h.name
       from hub.legal_hold_records n join hub.legal_holds h on h.tenant_id = $1 and h.hold_id = n.hold_id
       where n.tenant_id = $1 and n.record_id = w.record_id
         and (h.released_at is null or h.hold_id = any($4::uuid[]))
       order by n.hold_id desc limit $3
     ) n
     order by n.hold_id`,
    [tx.tenantId, recordIds, countMax, unended],
  )
  return rows
}

/** Returns the number of filter holds in force. Requires the lock of {@link takeHoldsLock}. */
export async function countFilterHolds(tx: TenantTx): Promise<number> {
  const { rows } = await tx.client.query<{ count: number }>(
    `select count(*)::integer as count from hub.legal_holds
     where tenant_id = $1 and filter is not null and released_at is null`,
    [tx.tenantId],
  )
  return rows[0]!.count
}

/**
 * Returns the filter holds in force.
 *
 * @param unended holds that are in force regardless of their rows
 */
export async function holdsWithFilter(tx: TenantTx, unended: readonly string[]): Promise<FilterHold[]> {
  const { rows } = await tx.client.query<FilterHold>(
    `select hold_id, name, filter from hub.legal_holds
     where tenant_id = $1 and filter is not null and released_at is null
     union all
     select hold_id, name, filter from hub.legal_holds
     where tenant_id = $1 and filter is not null and released_at is not null and hold_id = any($2::uuid[])
     order by hold_id`,
    [tx.tenantId, unended],
  )
  return rows.map((row) => ({ ...row, filter: filterOf(row.filter) }))
}

/** Returns the time of the tenant's latest hold release. */
export async function lastRelease(tx: TenantTx): Promise<string | null> {
  const { rows } = await tx.client.query<{ last: string | null }>(
    `select max(released_at) as last from hub.legal_holds where tenant_id = $1 and released_at is not null`,
    [tx.tenantId],
  )
  return rows[0]?.last ?? null
}
