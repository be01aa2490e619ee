import { randomUUIDv7 } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { rollupLockClass } from '../../../db/advisory-locks.ts'
import type { TenantTx } from '../../../db/database.ts'
import { tryLockTenant } from '../../../db/tenant-lock.ts'

/**
 * Returns whether this transaction may change the tenant's rollups: only one aggregator does at a time. Held until it
 * ends. In a snapshot, recent changes of another transaction may be missing; PostgreSQL then refuses this one's change.
 */
export function lockRollups(tx: TenantTx): Promise<boolean> {
  return tryLockTenant(tx, rollupLockClass)
}

/** Waits briefly for {@link lockRollups}. */
export async function waitForRollups(tx: TenantTx): Promise<boolean> {
  for (let attempts = 0; attempts < 10; attempts += 1) {
    if (await lockRollups(tx)) return true
    await delay(Math.random() * 100)
  }
  return lockRollups(tx)
}

/** Adds `entries`, as rollup-delta.ts writes them, to the rollups once this transaction commits. */
export async function insertDelta(tx: TenantTx, entries: string): Promise<void> {
  await tx.db
    .insertInto('hub.telemetry_deltas')
    .values({ tenant_id: tx.tenantId, delta_id: randomUUIDv7(), entries })
    .execute()
}

/** Returns the oldest deltas except those to skip, with their length in bytes. */
export async function waitingDeltas(
  tx: TenantTx,
  skipped: readonly string[],
  limit: number,
): Promise<{ deltaId: string; bytes: number }[]> {
  const { rows } = await tx.client.query<[string, number]>({
    text: `select delta_id, octet_length(entries) from hub.telemetry_deltas
      where tenant_id = $1 and delta_id <> all ($2::uuid[]) order by delta_id limit $3`,
    values: [tx.tenantId, [...skipped], limit],
    rowMode: 'array',
  })
  return rows.map(([deltaId, bytes]) => ({ deltaId, bytes }))
}

/** Returns the id of the oldest delta, readable or not. */
export async function oldestDelta(tx: TenantTx): Promise<string | undefined> {
  return (await waitingDeltas(tx, [], 1))[0]?.deltaId
}

/** Returns deltas whose text contains any of the ids. */
export async function deltasNaming(
  tx: TenantTx,
  ids: readonly string[],
): Promise<{ deltaId: string; entries: string }[]> {
  const { rows } = await tx.client.query<[string, string]>({
    text: `select delta_id, entries from hub.telemetry_deltas
      where tenant_id = $1 and exists (select from unnest($2::text[]) as id where strpos(entries, id) > 0)`,
    values: [tx.tenantId, ids.map((id) => JSON.stringify(id))],
    rowMode: 'array',
  })
  return rows.map(([deltaId, entries]) => ({ deltaId, entries }))
}

export async function readDeltas(
  tx: TenantTx,
  deltaIds: readonly string[],
): Promise<{ deltaId: string; entries: string }[]> {
  const { rows } = await tx.client.query<[string, string]>({
    text: `select delta_id, entries from hub.telemetry_deltas where tenant_id = $1 and delta_id = any ($2::uuid[])`,
    values: [tx.tenantId, [...deltaIds]],
    rowMode: 'array',
  })
  return rows.map(([deltaId, entries]) => ({ deltaId, entries }))
}

export async function deleteDeltas(tx: TenantTx, deltaIds: readonly string[]): Promise<void> {
  await tx.client.query({
    text: 'delete from hub.telemetry_deltas where tenant_id = $1 and delta_id = any ($2::uuid[])',
    values: [tx.tenantId, [...deltaIds]],
  })
}

/** Deletes every delta that the transaction sees, readable or not. Returns their number. */
export async function deleteAllDeltas(tx: TenantTx): Promise<number> {
  const { rowCount } = await tx.client.query({
    text: 'delete from hub.telemetry_deltas where tenant_id = $1',
    values: [tx.tenantId],
  })
  return rowCount ?? 0
}

/** Marks the rows of the grain `day` of these days as outdated. */
export async function openDays(tx: TenantTx, days: readonly number[]): Promise<void> {
  await tx.client.query({
    text: `insert into hub.rollup_open_days (tenant_id, day, touched_at)
      select $1, day, now() from unnest($2::bigint[]) as touched (day)
      on conflict (tenant_id, day) do update set touched_at = excluded.touched_at`,
    values: [tx.tenantId, [...days]],
  })
}

/** Updates the marks of the open days, so that a running compaction does not close them. */
export async function remarkDays(tx: TenantTx, days: readonly number[]): Promise<void> {
  await tx.client.query({
    text: `update hub.rollup_open_days set touched_at = touched_at where tenant_id = $1 and day = any ($2::bigint[])`,
    values: [tx.tenantId, [...days]],
  })
}

/** Returns open days without an addition for this many seconds, the longest first. */
export async function idleOpenDays(tx: TenantTx, idleSeconds: number): Promise<number[]> {
  const { rows } = await tx.client.query<[number]>({
    text: `select day from hub.rollup_open_days
      where tenant_id = $1 and touched_at <= now() - make_interval(secs => $2) order by touched_at, day limit 1000`,
    values: [tx.tenantId, idleSeconds],
    rowMode: 'array',
  })
  return rows.map(([day]) => day)
}

/** Returns the version of a day's mark, which each addition changes; undefined for a day that is not open. */
export async function dayMark(tx: TenantTx, day: number): Promise<string | undefined> {
  const { rows } = await tx.client.query<[string]>({
    text: 'select xmin::text from hub.rollup_open_days where tenant_id = $1 and day = $2',
    values: [tx.tenantId, day],
    rowMode: 'array',
  })
  return rows[0]?.[0]
}

export async function unmarkDay(tx: TenantTx, day: number): Promise<void> {
  await tx.client.query({
    text: 'delete from hub.rollup_open_days where tenant_id = $1 and day = $2',
    values: [tx.tenantId, day],
  })
}
