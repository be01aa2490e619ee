import type { TenantTx } from '../../db/database.ts'

/** Formats a time in our text form within PostgreSQL, because an edited time may be unparsable. */
export const timeText = (column: string) =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as ${column}`

export interface TombstoneRow {
  record_id: string
  record_type: string
  seal_id: string
  leaf_index: number
  /** Null for a time that our form cannot represent, such as `infinity`. */
  purged_at: string | null
  purged_by: string
  purge_reason: string
  purge_event_id: string | null
  event_id: string
  erased_at: string | null
}

export async function findTombstonesOfSeals(tx: TenantTx, sealIds: readonly string[]): Promise<TombstoneRow[]> {
  if (sealIds.length === 0) return []
  const { rows } = await tx.client.query<TombstoneRow>({
    name: 'hub_tombstones_of_seals',
    text: `select record_id, record_type, seal_id, leaf_index, ${timeText('purged_at')}, purged_by, purge_reason, purge_event_id,
       event_id, ${timeText('erased_at')}
     from hub.tombstones where tenant_id = $1 and seal_id = any($2::uuid[]) order by record_id`,
    values: [tx.tenantId, sealIds],
  })
  return rows
}

/** Returns the number of leaves of each seal, without reading them. */
export async function findLeafCounts(tx: TenantTx, sealIds: readonly string[]): Promise<Map<string, number>> {
  if (sealIds.length === 0) return new Map()
  const { rows } = await tx.client.query<{ seal_id: string; leaves: number }>({
    name: 'hub_leaf_counts_of_seals',
    text: `select seal_id, octet_length(leaves) / 32 as leaves from hub.seals where tenant_id = $1 and seal_id = any($2::uuid[])`,
    values: [tx.tenantId, sealIds],
  })
  return new Map(rows.map((row) => [row.seal_id, row.leaves]))
}

/** The state of a record without its text. */
export interface StandingRow {
  record_id: string
  /** Null if its state never changed, or was deleted. */
  revision: number | null
  has_tombstone: boolean
}

/** Returns the rows of ids that have a record or a tombstone. */
export async function findRecordStatuses(tx: TenantTx, recordIds: readonly string[]): Promise<StandingRow[]> {
  if (recordIds.length === 0) return []
  const { rows } = await tx.client.query<StandingRow>(
    `select w.record_id, s.revision, t.record_id is not null as has_tombstone
     from unnest($2::uuid[]) as w (record_id)
     left join lateral (
       select record_id from hub.records where tenant_id = $1 and record_id = w.record_id offset 0) r on true
     left join lateral (
       select revision from hub.record_states where tenant_id = $1 and record_id = w.record_id offset 0) s on true
     left join lateral (
       select record_id from hub.tombstones where tenant_id = $1 and record_id = w.record_id offset 0) t on true
     where r.record_id is not null or t.record_id is not null`,
    [tx.tenantId, recordIds],
  )
  return rows
}
