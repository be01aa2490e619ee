import type { Seal } from '../../../provenance/index.ts'
import { logLockClass } from '../../db/advisory-locks.ts'
import type { TenantTx } from '../../db/database.ts'
import { lockTenant } from '../../db/tenant-lock.ts'
import type { LogEntry, LogHead } from './log-types.ts'
import type { Tile, TileKey } from './tree-tiles.ts'

/** Waits until this transaction alone may change the tenant's log. Later reads see all earlier changes. */
export async function lockLog(tx: TenantTx): Promise<void> {
  await lockTenant(tx, logLockClass)
}

export async function findHead(tx: TenantTx): Promise<LogHead | undefined> {
  const { rows } = await tx.client.query<LogHead>({
    name: 'hub_log_head',
    text: `select ${asNumber('tree_size')} as "treeSize", root, checkpoint from hub.log_heads where tenant_id = $1`,
    values: [tx.tenantId],
  })
  return rows[0]
}

export async function hasHeadAndKey(tx: TenantTx): Promise<boolean> {
  const { rows } = await tx.client.query<{ both: boolean }>(
    `select exists (select from hub.log_heads where tenant_id = $1)
       and exists (select from hub.provenance_keys where tenant_id = $1) as both`,
    [tx.tenantId],
  )
  return rows[0]!.both
}

/** Returns the head, and whether arrivals are pending, from one snapshot. */
export async function findHeadAndWaiting(tx: TenantTx): Promise<{ head: LogHead | undefined; waiting: boolean }> {
  const { rows } = await tx.client.query<{
    waiting: boolean
    treeSize: number | null
    root: Buffer | null
    checkpoint: string | null
  }>({
    name: 'hub_log_head_and_waiting',
    text: `
      select exists (select from hub.seal_arrivals where tenant_id = $1) as waiting,
        ${asNumber('h.tree_size')} as "treeSize", h.root, h.checkpoint
      from (select $1::text) as one left join hub.log_heads h on h.tenant_id = $1`,
    values: [tx.tenantId],
  })
  const { waiting = false, treeSize = null, root = null, checkpoint = null } = rows[0] ?? {}
  const known = treeSize !== null && root !== null && checkpoint !== null
  return { waiting, head: known ? { treeSize, root, checkpoint } : undefined }
}

export async function saveHead(tx: TenantTx, head: LogHead, signedAt: string): Promise<void> {
  await tx.client.query({
    name: 'hub_save_log_head',
    text: `insert into hub.log_heads (tenant_id, tree_size, root, checkpoint, signed_at) values ($1, $2, $3, $4, $5)
      on conflict (tenant_id) do update set tree_size = excluded.tree_size, root = excluded.root,
        checkpoint = excluded.checkpoint, signed_at = excluded.signed_at`,
    values: [tx.tenantId, head.treeSize, bytesOf(head.root), head.checkpoint, signedAt],
  })
}

/** Seals that wait for integration. Somebody may have edited the values. */
export interface Arrival {
  arrival_id: string
  seal_ids: string[]
  first_ids: string[]
  last_ids: string[]
  log_leaves: Buffer | null
}

export async function findArrivals(tx: TenantTx, limit: number): Promise<Arrival[]> {
  const { rows } = await tx.client.query<Arrival>({
    name: 'hub_seal_arrivals',
    text: `select arrival_id, seal_ids, first_ids, last_ids, log_leaves from hub.seal_arrivals
      where tenant_id = $1 order by arrival_id limit $2`,
    values: [tx.tenantId, limit],
  })
  return rows
}

/** Returns the id of the oldest arrival. */
export async function oldestArrival(tx: TenantTx): Promise<string | undefined> {
  return (await findArrivals(tx, 1))[0]?.arrival_id
}

export async function deleteArrivals(tx: TenantTx, arrivalIds: readonly string[]): Promise<void> {
  await tx.client.query({
    name: 'hub_delete_seal_arrivals',
    text: 'delete from hub.seal_arrivals where tenant_id = $1 and arrival_id = any ($2::uuid[])',
    values: [tx.tenantId, [...arrivalIds]],
  })
}

/** The parts of a stored seal's note. */
export interface SealParts {
  seal_id: string
  key_id: string
  /** Microseconds since the epoch; null for a time outside 1970 to 2200, such as `infinity`. */
  time_micros: number | null
  leaves: Buffer
  signature: Buffer
}

/** Returns the seal in the form of the provenance core; `unreadable` for an impossible time. */
export function sealOfParts(stored: SealParts): Seal | 'unreadable' {
  const { seal_id: sealId, key_id: keyId, time_micros: timeMicros, leaves, signature } = stored
  return timeMicros === null ? 'unreadable' : { sealId, keyId, timeMicros, leaves, signature }
}

export async function findSealParts(tx: TenantTx, sealIds: readonly string[]): Promise<SealParts[]> {
  const { rows } = await tx.client.query<SealParts>({
    name: 'hub_seal_parts',
    text: `select seal_id, key_id, leaves, signature,
        case when sealed_at between '1970-01-01Z' and '2200-01-01Z'
          then (extract(epoch from sealed_at) * 1000000)::bigint end as time_micros
      from hub.seals where tenant_id = $1 and seal_id = any ($2::uuid[])`,
    values: [tx.tenantId, [...sealIds]],
  })
  return rows
}

export async function findEntered(tx: TenantTx, sealIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.client.query<{ seal_id: string }>({
    name: 'hub_log_entered',
    text: 'select seal_id from hub.log_entries where tenant_id = $1 and seal_id = any ($2::uuid[])',
    values: [tx.tenantId, [...sealIds]],
  })
  return new Set(rows.map((row) => row.seal_id))
}

/** Caps a column that somebody may have edited at the largest safe integer, where no log has an entry. */
const asNumber = (column: string) => `least(${column}, ${Number.MAX_SAFE_INTEGER})`

const entryColumns = `${asNumber('log_index')} as "logIndex", seal_id as "sealId", first_id as "firstId", last_id as "lastId"`

export async function findEntries(tx: TenantTx, from: number, limit: number): Promise<LogEntry[]> {
  const { rows } = await tx.client.query<LogEntry>({
    name: 'hub_log_entries',
    text: `select ${entryColumns} from hub.log_entries where tenant_id = $1 and log_index >= $2
      order by log_index limit $3`,
    values: [tx.tenantId, from, limit],
  })
  return rows
}

export async function findEntryOf(tx: TenantTx, sealId: string): Promise<LogEntry | undefined> {
  const { rows } = await tx.client.query<LogEntry>({
    name: 'hub_log_entry_of',
    text: `select ${entryColumns} from hub.log_entries where tenant_id = $1 and seal_id = $2`,
    values: [tx.tenantId, sealId],
  })
  return rows[0]
}

/** Inserts entries with consecutive indexes. */
export async function insertEntries(tx: TenantTx, entries: readonly LogEntry[]): Promise<void> {
  await tx.client.query({
    name: 'hub_insert_log_entries',
    // RETURNING prevents a distributed database from converting the statement into a COPY, which row-level security
    // refuses.
    text: `insert into hub.log_entries (tenant_id, log_index, seal_id, first_id, last_id)
      select $1, $2::bigint + place - 1, seal_id, first_id, last_id
      from unnest($3::uuid[], $4::uuid[], $5::uuid[]) with ordinality as e (seal_id, first_id, last_id, place)
      returning 1`,
    values: [
      tx.tenantId,
      entries[0]!.logIndex,
      entries.map((entry) => entry.sealId),
      entries.map((entry) => entry.firstId),
      entries.map((entry) => entry.lastId),
    ],
  })
}

export async function findTiles(tx: TenantTx, keys: readonly TileKey[]): Promise<Tile[]> {
  if (keys.length === 0) return []
  const { rows } = await tx.client.query<Tile>({
    name: 'hub_log_tiles',
    text: `select t.level, t.tile_index as "tileIndex", t.hashes
      from unnest($2::bigint[], $3::bigint[]) as k (level, tile_index)
      cross join lateral (
        select level, tile_index, hashes from hub.log_tiles
        where tenant_id = $1 and level = k.level and tile_index = k.tile_index offset 0
      ) t`,
    values: [tx.tenantId, keys.map((key) => key.level), keys.map((key) => key.tileIndex)],
  })
  return rows
}

export async function saveTiles(tx: TenantTx, tiles: readonly Tile[]): Promise<void> {
  await tx.client.query({
    name: 'hub_save_log_tiles',
    text: `insert into hub.log_tiles (tenant_id, level, tile_index, hashes)
      select $1, level, tile_index, hashes from unnest($2::bigint[], $3::bigint[], $4::bytea[]) as t (level, tile_index, hashes)
      on conflict (tenant_id, level, tile_index) do update set hashes = excluded.hashes`,
    values: [
      tx.tenantId,
      tiles.map((tile) => tile.level),
      tiles.map((tile) => tile.tileIndex),
      tiles.map((tile) => bytesOf(tile.hashes)),
    ],
  })
}

/** Returns a view as a Buffer, which costs nothing; `pg` would send any other Uint8Array as a copy. */
function bytesOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
