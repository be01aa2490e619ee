import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'
import { readTexts, storedText, textBytes } from '../../../records/stored-text.ts'
import type { LogEntry } from '../log-types.ts'

/** The fields of a stored record without its text. Somebody may have edited the values. */
export type RecordHead = Pick<
  TenantTables['hub.records'],
  'record_id' | 'record_type' | 'seal_id' | 'leaf_index' | 'salt' | 'provenance_hash'
> & { text_bytes: number }

/** Returns the records in the id ranges of the entries that name their seals. */
export async function findRecordHeads(tx: TenantTx, entries: readonly LogEntry[]): Promise<RecordHead[]> {
  const { rows } = await tx.client.query<RecordHead>({
    name: 'hub_audit_records',
    text: `
      select r.record_id, r.record_type, r.seal_id, r.leaf_index, r.salt, r.provenance_hash,
        ${textBytes('r')} as text_bytes
      from unnest($2::uuid[], $3::uuid[], $4::uuid[]) with ordinality as e (seal_id, first_id, last_id, place)
      cross join lateral (
        select * from hub.records
        where tenant_id = $1 and record_id between e.first_id and e.last_id and seal_id = e.seal_id offset 0
      ) r
      order by e.place, r.leaf_index, r.record_id`,
    values: [
      tx.tenantId,
      entries.map((entry) => entry.sealId),
      entries.map((entry) => entry.firstId),
      entries.map((entry) => entry.lastId),
    ],
  })
  return rows
}

export async function findTexts(tx: TenantTx, recordIds: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await tx.client.query<{ record_id: string; canonical: string }>({
    name: 'hub_audit_texts',
    text: `select r.record_id, ${storedText('r')} as canonical
      from hub.records r where r.tenant_id = $1 and r.record_id = any ($2::uuid[])`,
    values: [tx.tenantId, [...recordIds]],
  })
  readTexts(tx, rows)
  return new Map(rows.map((row) => [row.record_id, row.canonical]))
}

export type Tombstone = Pick<TenantTables['hub.tombstones'], 'record_id' | 'seal_id' | 'leaf_index' | 'event_id'>

export async function findTombstones(tx: TenantTx, sealIds: readonly string[]): Promise<Tombstone[]> {
  const { rows } = await tx.client.query<Tombstone>({
    name: 'hub_audit_tombstones',
    text: `select record_id, seal_id, leaf_index, event_id from hub.tombstones
      where tenant_id = $1 and seal_id = any ($2::uuid[])`,
    values: [tx.tenantId, [...sealIds]],
  })
  return rows
}

/** Returns those of the records that were erased. */
export async function findErased(tx: TenantTx, recordIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.client.query<{ record_id: string }>({
    name: 'hub_audit_erased',
    text: 'select record_id from hub.tombstones where tenant_id = $1 and record_id = any ($2::uuid[])',
    values: [tx.tenantId, [...recordIds]],
  })
  return new Set(rows.map((row) => row.record_id))
}

interface LastTile {
  level: number
  tiles: number
  last_index: number
  last_hashes: number
}

export async function findLastTiles(tx: TenantTx): Promise<LastTile[]> {
  const { rows } = await tx.client.query<LastTile>({
    name: 'hub_audit_last_tiles',
    text: `
      select level, count(*)::int as tiles, max(tile_index) as last_index,
        (array_agg(octet_length(hashes) order by tile_index desc))[1] / 32 as last_hashes
      from hub.log_tiles where tenant_id = $1 group by level order by level`,
    values: [tx.tenantId],
  })
  return rows
}

export async function countEntries(tx: TenantTx): Promise<number> {
  const { rows } = await tx.client.query<{ count: number }>({
    name: 'hub_audit_count_entries',
    text: 'select count(*)::int as count from hub.log_entries where tenant_id = $1',
    values: [tx.tenantId],
  })
  return rows[0]?.count ?? 0
}
