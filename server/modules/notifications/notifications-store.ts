import type { TenantTx } from '../../db/database.ts'
import { findRow } from '../../db/tenant-rows.ts'

/**
 * Returns the ids of the newest events of some kinds, the newest first. Each kind is one search of the index of kinds,
 * because the planner would otherwise scan all records in id order for rare kinds.
 *
 * @param fromId the smallest id to return
 */
export async function newestEvents(
  tx: TenantTx,
  wanted: { kinds: readonly string[]; fromId: string; count: number },
): Promise<string[]> {
  const { rows } = await tx.client.query<{ record_id: string }>(
    `select e.record_id
     from unnest($2::text[]) k(kind)
     cross join lateral (
       select r.record_id from hub.records r
       where r.tenant_id = $1 and r.event_kind is not null and r.event_kind = k.kind and r.record_id >= $3::uuid
       order by r.event_kind desc, r.record_id desc
       limit $4
     ) e
     order by e.record_id desc
     limit $4`,
    [tx.tenantId, wanted.kinds, wanted.fromId, wanted.count],
  )
  return rows.map(({ record_id }) => record_id)
}

/** Returns the id of the newest event that the reader has read; undefined if none. */
export async function readPosition(tx: TenantTx, reader: string): Promise<string | undefined> {
  const found = await findRow(tx, 'hub.notification_positions', ['read_through'], { reader })
  return found?.read_through
}

/** Moves the position of a reader forward. A position that is further already stays. */
export async function moveReadPosition(
  tx: TenantTx,
  position: { reader: string; readThrough: string; at: string },
): Promise<void> {
  await tx.client.query(
    `insert into hub.notification_positions (tenant_id, reader, read_through, read_at) values ($1, $2, $3, $4)
     on conflict (tenant_id, reader) do update set read_through = excluded.read_through, read_at = excluded.read_at
     where notification_positions.tenant_id = $1 and notification_positions.read_through < excluded.read_through`,
    [tx.tenantId, position.reader, position.readThrough, position.at],
  )
}
