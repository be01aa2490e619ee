import type { Selectable } from 'kysely'
import { rosterSyncsLockClass } from '../../../db/advisory-locks.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'
import { lockTenant } from '../../../db/tenant-lock.ts'
import type { SyncPosition, SyncStatus } from './sync-state.ts'

export interface SyncRow extends Omit<Selectable<TenantTables['hub.roster_syncs']>, 'tenant_id' | 'status'> {
  status: SyncStatus
  position: SyncPosition
  error: { detail: string } | null
}

const columns = `sync_id, mode, status, created_at, created_by, started_at, finished_at, position, done, total, added,
  updated, deactivated, unmatched, skipped, attempt, to_deactivate, confirmation_reason, confirmed_at, confirmed_by, error`

/** Serialises the start and end of a tenant's syncs. */
export async function lockSyncs(tx: TenantTx): Promise<void> {
  await lockTenant(tx, rosterSyncsLockClass)
}

export async function insertSync(
  tx: TenantTx,
  row: Pick<SyncRow, 'sync_id' | 'mode' | 'created_at' | 'created_by' | 'position'>,
): Promise<SyncRow> {
  const { rows } = await tx.client.query<SyncRow>(
    `insert into hub.roster_syncs (tenant_id, sync_id, mode, status, created_at, created_by, position)
     values ($1, $2, $3, 'queued', $4, $5, $6) returning ${columns}`,
    [tx.tenantId, row.sync_id, row.mode, row.created_at, row.created_by, JSON.stringify(row.position)],
  )
  return rows[0]!
}

/** @param lock makes steps of the sync wait for this transaction, and this transaction for the current step */
export async function findSync(tx: TenantTx, syncId: string, lock?: 'for update'): Promise<SyncRow | undefined> {
  const { rows } = await tx.client.query<SyncRow>(
    `select ${columns} from hub.roster_syncs where tenant_id = $1 and sync_id = $2 ${lock ?? ''}`,
    [tx.tenantId, syncId],
  )
  return rows[0]
}

/** `created_at` and `sync_id` of the last sync of the previous page. */
export type SyncListPosition = readonly [createdAt: string, syncId: string]

export async function syncsBefore(
  tx: TenantTx,
  before: SyncListPosition | undefined,
  count: number,
): Promise<SyncRow[]> {
  const { rows } = await tx.client.query<SyncRow>(
    `select ${columns} from hub.roster_syncs
     where tenant_id = $1 ${before ? 'and (created_at, sync_id) < ($3, $4)' : ''}
     order by created_at desc, sync_id desc limit $2`,
    [tx.tenantId, count, ...(before ?? [])],
  )
  return rows
}

/** Returns the queued or running sync; a tenant has at most one. */
export async function openSync(tx: TenantTx): Promise<SyncRow | undefined> {
  const { rows } = await tx.client.query<SyncRow>(
    `select ${columns} from hub.roster_syncs
     where tenant_id = $1 and status in ('queued', 'running', 'awaiting_confirmation')
     order by created_at desc limit 1`,
    [tx.tenantId],
  )
  return rows[0]
}

/** Returns the last other sync that completed or failed. */
export async function endedBefore(tx: TenantTx, syncId: string): Promise<Pick<SyncRow, 'status'> | undefined> {
  const { rows } = await tx.client.query<Pick<SyncRow, 'status'>>(
    `select status from hub.roster_syncs
     where tenant_id = $1 and sync_id <> $2 and status in ('completed', 'failed')
     order by created_at desc, sync_id desc limit 1`,
    [tx.tenantId, syncId],
  )
  return rows[0]
}

export async function lastCompletedAt(tx: TenantTx, mode: 'push' | 'pull'): Promise<string | undefined> {
  const { rows } = await tx.client.query<{ at: string | null }>(
    `select max(finished_at) as at from hub.roster_syncs where tenant_id = $1 and mode = $2 and status = 'completed'`,
    [tx.tenantId, mode],
  )
  return rows[0]?.at ?? undefined
}

/** Starts an attempt, the first or a takeover. Returns undefined if the sync has ended or awaits confirmation. */
export async function beginAttempt(tx: TenantTx, syncId: string, now: string): Promise<SyncRow | undefined> {
  const { rows } = await tx.client.query<SyncRow>(
    `update hub.roster_syncs
     set status = 'running', attempt = attempt + 1, started_at = coalesce(started_at, $3::timestamptz),
       position = jsonb_set(position, '{tries}', to_jsonb((position ->> 'tries')::int + 1))
     where tenant_id = $1 and sync_id = $2 and status in ('queued', 'running')
     returning ${columns}`,
    [tx.tenantId, syncId, now],
  )
  return rows[0]
}

/** Locks the sync for the step of an attempt. Returns undefined if the attempt is no longer current. */
export async function lockAttempt(tx: TenantTx, syncId: string, attempt: number): Promise<SyncRow | undefined> {
  const { rows } = await tx.client.query<SyncRow>(
    `select ${columns} from hub.roster_syncs
     where tenant_id = $1 and sync_id = $2 and attempt = $3 and status = 'running' for update`,
    [tx.tenantId, syncId, attempt],
  )
  return rows[0]
}

export async function saveSync(tx: TenantTx, row: SyncRow): Promise<void> {
  await tx.client.query(
    `update hub.roster_syncs
     set status = $3, finished_at = $4, position = $5, done = $6, total = $7, added = $8, updated = $9,
       deactivated = $10, unmatched = $11, skipped = $12, to_deactivate = $13, confirmation_reason = $14,
       confirmed_at = $15, confirmed_by = $16, error = $17
     where tenant_id = $1 and sync_id = $2`,
    [
      tx.tenantId,
      row.sync_id,
      row.status,
      row.finished_at,
      JSON.stringify(row.position),
      row.done,
      row.total,
      row.added,
      row.updated,
      row.deactivated,
      row.unmatched,
      row.skipped,
      row.to_deactivate,
      row.confirmation_reason,
      row.confirmed_at,
      row.confirmed_by,
      row.error && JSON.stringify(row.error),
    ],
  )
}

/** Deletes at most `count` syncs that ended before a time; returns their number. */
export async function deleteSyncsBefore(tx: TenantTx, before: string, count: number): Promise<number> {
  const { rowCount } = await tx.client.query(
    `delete from hub.roster_syncs where tenant_id = $1 and sync_id in (
       select s.sync_id from hub.roster_syncs s
       where s.tenant_id = $1 and s.finished_at < $2 order by s.created_at limit $3)`,
    [tx.tenantId, before, count],
  )
  return rowCount ?? 0
}
