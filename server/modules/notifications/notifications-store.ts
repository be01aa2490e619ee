import type { TenantTx } from '../../db/database.ts'
import { findRow } from '../../db/tenant-rows.ts'

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
