import type { RecordFilter } from '../../../../contract/record-filter.ts'
import type { TenantTx } from '../../../db/database.ts'
import { filterOf } from './stored-filter.ts'

/** When a hold was in force: from `created_at` on, and before `released_at`. */
export interface HoldPeriod {
  created_at: string
  released_at: string | null
  /** Null where it names its records. */
  filter: RecordFilter | null
}

/** Holds that name any of the records, whenever they were in force. */
export async function findNamedPeriods(
  tx: TenantTx,
  recordIds: readonly string[],
): Promise<(HoldPeriod & { record_id: string })[]> {
  const { rows } = await tx.client.query<HoldPeriod & { record_id: string }>(
    `select n.record_id, h.created_at, h.released_at, h.filter
     from hub.legal_hold_records n join hub.legal_holds h on h.tenant_id = $1 and h.hold_id = n.hold_id
     where n.tenant_id = $1 and n.record_id = any($2::uuid[])`,
    [tx.tenantId, recordIds],
  )
  return rows
}

/** Holds with a filter that were in force at some time between the two, both included. */
export async function findFilterPeriods(tx: TenantTx, from: string, until: string): Promise<HoldPeriod[]> {
  const { rows } = await tx.client.query<HoldPeriod>(
    `select created_at, released_at, filter from hub.legal_holds
     where tenant_id = $1 and filter is not null and created_at <= $3::timestamptz
       and (released_at is null or released_at > $2::timestamptz)`,
    [tx.tenantId, from, until],
  )
  return rows.map((row) => ({ ...row, filter: filterOf(row.filter) }))
}
