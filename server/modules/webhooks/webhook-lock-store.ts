import { webhooksLockClass } from '../../db/advisory-locks.ts'
import type { TenantTx } from '../../db/database.ts'
import { lockTenant } from '../../db/tenant-lock.ts'

/**
 * Changes of a tenant's endpoints, messages that become deliveries, and what is forgotten of both come one after the
 * other: who makes deliveries knows all endpoints, and takes their next sequences.
 */
export async function lockWebhooks(tx: TenantTx): Promise<void> {
  await lockTenant(tx, webhooksLockClass)
}
