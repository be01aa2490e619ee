import type { TenantTx } from './database.ts'

/**
 * Waits for a lock on the tenant of the transaction, and holds it until the transaction ends.
 *
 * @param lockClass the subject of the lock: a class of `advisory-locks.ts`
 */
export async function lockTenant(tx: TenantTx, lockClass: number): Promise<void> {
  await tx.client.query('select pg_advisory_xact_lock($1, hashtext($2))', [lockClass, tx.tenantId])
}

/** Waits for the same lock as {@link lockTenant} in shared mode: it conflicts only with `lockTenant`. */
export async function lockTenantShared(tx: TenantTx, lockClass: number): Promise<void> {
  await tx.client.query('select pg_advisory_xact_lock_shared($1, hashtext($2))', [lockClass, tx.tenantId])
}

/**
 * Returns whether the transaction has the lock of {@link lockTenant} now; never waits. In a snapshot, changes that the
 * previous holder committed may be missing: PostgreSQL rejects writes that depend on them, but not reads.
 */
export async function tryLockTenant(tx: TenantTx, lockClass: number): Promise<boolean> {
  const { rows } = await tx.client.query<{ locked: boolean }>(
    'select pg_try_advisory_xact_lock($1, hashtext($2)) as locked',
    [lockClass, tx.tenantId],
  )
  return rows[0]?.locked === true
}
