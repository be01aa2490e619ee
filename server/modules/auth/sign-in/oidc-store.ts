import type { TenantTx } from '../../../db/database.ts'

/** Marks a login as over. Returns false if it already was: of two concurrent callbacks only one gets true. */
export async function consumeLogin(tx: TenantTx, stateHash: Buffer): Promise<boolean> {
  const { rowCount } = await tx.client.query(
    `insert into hub.spent_logins (tenant_id, state_hash, spent_at) values ($1, $2, now())
     on conflict (tenant_id, state_hash) do nothing`,
    [tx.tenantId, stateHash],
  )
  return rowCount === 1
}

/**
 * Deletes spent logins and returns their number. `minutes` exceeds the life of the cookie, so an expired cookie rejects
 * a replay.
 */
export async function deleteConsumedLogins(tx: TenantTx, minutes: number, limit: number): Promise<number> {
  const { rowCount } = await tx.client.query(
    `delete from hub.spent_logins where tenant_id = $1 and state_hash in (
       select state_hash from hub.spent_logins
       where tenant_id = $1 and spent_at < now() - make_interval(mins => $2) order by spent_at limit $3)`,
    [tx.tenantId, minutes, limit],
  )
  return rowCount ?? 0
}
