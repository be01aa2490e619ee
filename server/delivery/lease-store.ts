import type { TenantTx } from '../db/database.ts'
import { databaseTimes } from '../db/database-time.ts'

/** A table with a row and a lease for each target. The names are literals of the service. */
export interface LeaseTable {
  table: 'hub.webhook_progress' | 'hub.connector_deliveries'
  /** The columns with the id of the target, the holder of its lease, and the end of the lease. */
  id: string
  by: string
  until: string
  /** A further condition for a lease; `$5` is the time. */
  ready?: string
}

/**
 * Leases free targets, and extends leases that this process still holds. Returns the targets that it holds now: other
 * processes may have been faster.
 */
export async function leaseTargets(
  tx: TenantTx,
  { table, id, by, until, ready = 'true' }: LeaseTable,
  targets: { free: readonly string[]; held: readonly string[] },
  lease: { by: string; seconds: number },
): Promise<Set<string>> {
  const [now, end] = await databaseTimes(tx, lease.seconds)
  const { rows } = await tx.client.query<{ id: string }>(
    `update ${table} set ${by} = $3, ${until} = $4
     where tenant_id = $1 and ${id} = any($2::text[]) and ${ready}
       and (${by} = $3 or ${id} <> all($6::text[]) and (${by} is null or ${until} <= $5))
     returning ${id} as id`,
    [tx.tenantId, [...targets.free, ...targets.held].toSorted(), lease.by, end, now, targets.held],
  )
  return new Set(rows.map((row) => row.id))
}

/** Releases targets, so that another process, or this one, may continue at once. */
export async function releaseTargets(
  tx: TenantTx,
  { table, id, by, until }: LeaseTable,
  targetIds: readonly string[],
  holder: string,
): Promise<void> {
  await tx.client.query(
    `update ${table} set ${by} = null, ${until} = null
     where tenant_id = $1 and ${id} = any($2::text[]) and ${by} = $3`,
    [tx.tenantId, targetIds.toSorted(), holder],
  )
}
