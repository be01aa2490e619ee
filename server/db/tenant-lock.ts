import type { TenantTx } from './database.ts'

/**
 * Waits for a lock on the tenant of the transaction, and holds it until its end.
 *
 * @param lockClass what it is about: one of `advisory-locks.ts`
 */
export async function lockTenant(tx: TenantTx, lockClass: number): Promise<void> {
  await tx.client.query('select pg_advisory_xact_lock($1, hashtext($2))', [lockClass, tx.tenantId])
}

/** As {@link lockTenant}, beside others that share it: only those of `lockTenant` wait, and are waited for. */
export async function lockTenantShared(tx: TenantTx, lockClass: number): Promise<void> {
  await tx.client.query('select pg_advisory_xact_lock_shared($1, hashtext($2))', [lockClass, tx.tenantId])
}

/**
 * Whether the transaction has the lock of {@link lockTenant} now; it never waits. In a snapshot, what the one before
 * committed may be missing: PostgreSQL refuses changes that follow from that, but not what is only read.
 */
export async function tryLockTenant(tx: TenantTx, lockClass: number): Promise<boolean> {
  const { rows } = await tx.client.query<{ locked: boolean }>(
    'select pg_try_advisory_xact_lock($1, hashtext($2)) as locked',
    [lockClass, tx.tenantId],
  )
  return rows[0]?.locked === true
}
