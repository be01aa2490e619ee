import type { TenantTx } from '../../db/database.ts'
import type { HoldRow, Release } from '../legal-holds/holds-types.ts'
import { timeText } from './sweep-store.ts'

/** A row of hub.legal_holds, possibly forged; times that our form cannot represent are null. */
export type StoredHold = Omit<HoldRow, 'created_at'> & {
  created_at: string | null
  has_ended: boolean
  /** The digest of the record ids that it names; undefined with a filter. */
  digest?: string
}

export type StoredRelease = Omit<Release, 'created_at'> & { created_at: string | null; never_ends: boolean }

/** Returns the next holds in id order. Requires a transaction of `inIndexOrder`. */
export async function findHoldRows(tx: TenantTx, after: string, count: number): Promise<StoredHold[]> {
  const { rows } = await tx.client.query<StoredHold>(
    `select hold_id, name, reason, filter, record_count, ${timeText('created_at')}, created_by, ${timeText('released_at')},
       released_by, release_reason, event_id, release_event_id, released_at is not null as has_ended
     from hub.legal_holds where tenant_id = $1 and hold_id > $2 order by hold_id limit $3`,
    [tx.tenantId, after, count],
  )
  return rows
}

/** Returns the digest of `digestOfRecordIds` for each of the holds. */
export async function findDigests(tx: TenantTx, holdIds: readonly string[]): Promise<Map<string, string>> {
  if (holdIds.length === 0) return new Map()
  const { rows } = await tx.client.query<{ hold_id: string; digest: string }>(
    `select w.hold_id, encode(sha256(convert_to(n.ids, 'UTF8')), 'hex') as digest from unnest($2::uuid[]) as w (hold_id)
     cross join lateral (
       select coalesce(string_agg(record_id::text, E'\\n' order by record_id), '') as ids
       from hub.legal_hold_records where tenant_id = $1 and hold_id = w.hold_id
     ) n`,
    [tx.tenantId, holdIds],
  )
  return new Map(rows.map((row) => [row.hold_id, row.digest]))
}

/** Returns the next releases in id order. Requires a transaction of `inIndexOrder`. */
export async function findReleaseRows(tx: TenantTx, after: string, count: number): Promise<StoredRelease[]> {
  const { rows } = await tx.client.query<StoredRelease>(
    `select release_id, record_id, reason, ${timeText('created_at')}, created_by, ${timeText('expires_at')}, event_id,
       expires_at is null as never_ends
     from hub.legal_hold_releases where tenant_id = $1 and release_id > $2 order by release_id limit $3`,
    [tx.tenantId, after, count],
  )
  return rows
}

/** Returns the ids of the next events of a kind. Requires a transaction of `inIndexOrder`. */
export async function findEventIds(tx: TenantTx, kind: string, after: string, count: number): Promise<string[]> {
  const { rows } = await tx.client.query<{ record_id: string }>(
    `select record_id from hub.records
     where tenant_id = $1 and event_kind = $2 and record_id > $3 order by record_id limit $4`,
    [tx.tenantId, kind, after, count],
  )
  return rows.map((row) => row.record_id)
}

/**
 * Returns the next changes of the tenant's settings, and whether each concerns retention rules. Requires a transaction
 * of `inIndexOrder`.
 */
export async function findConfigEvents(
  tx: TenantTx,
  after: string,
  count: number,
): Promise<{ record_id: string; is_of_rules: boolean }[]> {
  const { rows } = await tx.client.query<{ record_id: string; is_of_rules: boolean }>(
    `select record_id, strpos(canonical, '"change":"retention_rules"') > 0 as is_of_rules from hub.records
     where tenant_id = $1 and event_kind = 'tenant.config_changed' and record_id > $2 order by record_id limit $3`,
    [tx.tenantId, after, count],
  )
  return rows
}

/** Returns for each existing hold whether it was released. */
export async function findHoldEnds(tx: TenantTx, holdIds: readonly string[]): Promise<Map<string, boolean>> {
  if (holdIds.length === 0) return new Map()
  const { rows } = await tx.client.query<{ hold_id: string; has_ended: boolean }>(
    `select hold_id, released_at is not null as has_ended from hub.legal_holds
     where tenant_id = $1 and hold_id = any($2::uuid[])`,
    [tx.tenantId, holdIds],
  )
  return new Map(rows.map((row) => [row.hold_id, row.has_ended]))
}

export async function findReleaseIds(tx: TenantTx, releaseIds: readonly string[]): Promise<Set<string>> {
  if (releaseIds.length === 0) return new Set()
  const { rows } = await tx.client.query<{ release_id: string }>(
    `select release_id from hub.legal_hold_releases where tenant_id = $1 and release_id = any($2::uuid[])`,
    [tx.tenantId, releaseIds],
  )
  return new Set(rows.map((row) => row.release_id))
}
