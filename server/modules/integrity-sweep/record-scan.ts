import { type Database, readTenant } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { TenantLogs } from '../log/log-types.ts'
import type { Finding } from './sweep-types.ts'

export const firstId: string = '00000000-0000-0000-0000-000000000000'

/**
 * Searches by id for records and tombstones outside of the log, which readers of the log alone never find. Returns the id
 * from which to continue; undefined at the end.
 */
export async function scanRecords(
  { database, logs }: { database: Database; logs: Pick<TenantLogs, 'uncovered'> },
  tenant: Tenant,
  afterId: string,
  limit: number,
) {
  const { lastId, records, uncovered } = await readTenant(
    database,
    tenant.slug,
    (tx) => logs.uncovered(tx, afterId, limit),
    { snapshot: true, inIndexOrder: true },
  )
  const findings = uncovered.map(
    ({ record_id, seal_id, is_tombstone }): Finding => ({
      subject: `record:${record_id}`,
      failedChecks: ['record_in_log'],
      found: { seal: seal_id, ...(is_tombstone ? { tombstone: true } : {}) },
    }),
  )
  return { lastId, records, findings }
}
