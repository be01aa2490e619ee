import { webhooksLockClass } from '../../db/advisory-locks.ts'
import type { TenantTx } from '../../db/database.ts'
import { lockTenant } from '../../db/tenant-lock.ts'

/**
 * Serialises changes of a tenant's endpoints, relayed messages and erasures. So the relay sees all endpoints and takes
 * their next sequences.
 */
export async function lockWebhooks(tx: TenantTx): Promise<void> {
  await lockTenant(tx, webhooksLockClass)
}
