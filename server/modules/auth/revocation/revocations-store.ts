import type { RegistryTx, TenantTx } from '../../../db/database.ts'
import type { RegistryTables } from '../../../db/schema.ts'

export type RevocationRow = Pick<RegistryTables['hub.revocations'], 'tenant_slug' | 'principal' | 'min_epoch'>

/** Wakes the processes that poll for revocations. The notification has no content: see `Database.listen`. */
export const revocationsChannel = 'hub_revocations'

/** Writes revocations; the higher of two epochs stays. The commit of the transaction wakes the processes. */
export async function writeRevocations(tx: TenantTx, principals: readonly string[], minEpoch: number): Promise<void> {
  if (principals.length === 0) return
  // The fixed order prevents a deadlock between two calls that revoke the same principals.
  await tx.client.query(
    `insert into hub.revocations as r (tenant_slug, principal, min_epoch, revoked_at)
     select $1, principal, $3, clock_timestamp() from unnest($2::text[]) as principal order by principal
     on conflict (tenant_slug, principal) do update
     set min_epoch = case when excluded.min_epoch > r.min_epoch then excluded.min_epoch else r.min_epoch end,
         revoked_at = excluded.revoked_at`,
    [tx.tenantId, [...new Set(principals)], minEpoch],
  )
  await tx.client.query('select pg_notify($1, $2)', [revocationsChannel, ''])
}

/**
 * Returns the revocations since a time, or all without one, and the database time at which the next call continues.
 * Rows become visible when their transactions commit, so the query goes back further than `since`.
 */
export async function revocationsSince(
  tx: RegistryTx,
  since: string | undefined,
): Promise<{ askedAt: string; revocations: RevocationRow[] }> {
  const clock = await tx.client.query<{ asked_at: string }>('select statement_timestamp() as asked_at')
  const { rows } = await tx.client.query<RevocationRow>(
    `select tenant_slug, principal, min_epoch from hub.revocations
     where revoked_at > coalesce($1::timestamptz, '-infinity') - interval '2 minutes'`,
    [since],
  )
  return { askedAt: clock.rows[0]!.asked_at, revocations: rows }
}

/** Deletes at most `limit` revocations that are older than `olderThanSeconds`, and returns their number. */
export async function deleteOldRevocations(
  tx: TenantTx,
  { olderThanSeconds, limit }: { olderThanSeconds: number; limit: number },
): Promise<number> {
  const { rowCount } = await tx.client.query(
    `delete from hub.revocations where tenant_slug = $1 and principal in (
       select principal from hub.revocations
       where tenant_slug = $1 and revoked_at < statement_timestamp() - make_interval(secs => $2) limit $3)`,
    [tx.tenantId, olderThanSeconds, limit],
  )
  return rowCount ?? 0
}
