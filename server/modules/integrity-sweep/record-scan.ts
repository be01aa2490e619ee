import type { Database } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { TenantLogs } from '../log/log-types.ts'
import type { Finding } from './sweep-types.ts'

export interface RecordsScanned {
  /** The id from which to continue; undefined at the end. */
  lastId: string | undefined
  records: number
  findings: Finding[]
}

export const firstId = '00000000-0000-0000-0000-000000000000'

/** Searches by id for records and tombstones outside of the log, which readers of the log alone never find. */
export function createRecordScan({ database, logs }: { database: Database; logs: Pick<TenantLogs, 'unexplained'> }) {
  return async (tenant: Tenant, afterId: string, limit: number): Promise<RecordsScanned> => {
    const { lastId, records, unexplained } = await database.withTenant(
      tenant.slug,
      (tx) => logs.unexplained(tx, afterId, limit),
      { readOnly: true, snapshot: true, inIndexOrder: true },
    )
    return {
      lastId,
      records,
      findings: unexplained.map(({ record_id, seal_id, is_tombstone }) => ({
        subject: `record:${record_id}`,
        failedChecks: ['record_in_log'],
        found: { seal: seal_id, ...(is_tombstone ? { tombstone: true } : {}) },
      })),
    }
  }
}
