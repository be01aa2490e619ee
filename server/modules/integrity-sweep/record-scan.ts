import type { Database } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import { findUnexplained } from './sweep-store.ts'
import type { Finding } from './sweep-types.ts'

export interface RecordsScanned {
  /** The id from which to continue; undefined at the end. */
  lastId: string | undefined
  records: number
  findings: Finding[]
}

export const firstId = '00000000-0000-0000-0000-000000000000'

/** Searches by id for records and tombstones outside of the log, which readers of the log alone never find. */
export function createRecordScan(deps: { database: Database }) {
  return async (tenant: Tenant, afterId: string, limit: number): Promise<RecordsScanned> => {
    const { lastId, records, unexplained } = await deps.database.withTenant(
      tenant.slug,
      (tx) => findUnexplained(tx, afterId, limit),
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
