import type { TenantTx } from '../../../db/database.ts'
import { type UserFields, userRows } from '../../../db/proven-rows.ts'
import type { Proven } from '../../../db/row-proofs.ts'

type StoredUser = Proven<UserFields>

/**
 * Changes fields that control access, and proves the rows again. Locks and verifies the rows first: a row edited in the
 * database keeps its wrong proof, so no change by the Hub legitimises an edit.
 *
 * @param change receives the ids of rows with a valid proof, and must change no others
 */
export async function changeUsers<Result>(
  tx: TenantTx,
  userIds: readonly string[],
  change: (userIds: readonly string[]) => Promise<Result>,
): Promise<Result> {
  const sound = (await rowsOf(tx, userIds, ' for update')).filter((row) => tx.proofs.sound(userRows, tx.tenantId, row))
  const ids = sound.map((row) => row.user_id)
  const result = await change(ids)
  const changed = await rowsOf(tx, ids)
  await tx.client.query(
    `update hub.users u set proof = p.proof from unnest($2::text[], $3::bytea[]) as p (user_id, proof)
     where u.tenant_id = $1 and u.user_id = p.user_id`,
    [tx.tenantId, changed.map((row) => row.user_id), changed.map((row) => tx.proofs.of(userRows, tx.tenantId, row))],
  )
  return result
}

async function rowsOf(tx: TenantTx, userIds: readonly string[], lock = ''): Promise<StoredUser[]> {
  if (userIds.length === 0) return []
  const { rows } = await tx.client.query<StoredUser>(
    `select ${userRows.columns()}, t.proof from hub.users t
     where t.tenant_id = $1 and t.user_id = any($2::text[]) order by t.user_id${lock}`,
    [tx.tenantId, userIds],
  )
  return rows
}
