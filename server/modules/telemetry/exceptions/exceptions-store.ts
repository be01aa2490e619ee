import type { TenantTx } from '../../../db/database.ts'
import { readText, storedText } from '../../../records/stored-text.ts'

/** The index for the scan, and the value that all its records have. */
export interface ScanIndex {
  column: 'record_type' | 'user_id' | 'skill_id' | 'archetype_id'
  value: string
}

export interface Scan {
  index: ScanIndex
  /** Starts after the first id, or at the second. */
  above: { operator: '>' | '>='; recordId: string } | undefined
  belowId: string | undefined
  limit: number
}

/** A scanned record. */
export interface ScannedRecord {
  recordId: string
  /** Null for a record that is no telemetry event or is purged. */
  canonical: string | null
  /** Whether it was repriced, and the result: null without a price. */
  rated: boolean
  ratedMicros: number | null
  ratedSource: string | null
}

/**
 * Returns the next records in the order of their ids, up to the limit, in a transaction of `inIndexOrder`. The order
 * names the column, and compares it together with the id, because that is the order of the required index: any other
 * would read records without a limit. OFFSET keeps a look-up one per record.
 */
export async function scanRecords(tx: TenantTx, { index, above, belowId, limit }: Scan): Promise<ScannedRecord[]> {
  const values: unknown[] = [tx.tenantId, index.value, limit]
  const parameter = (value: unknown) => `$${values.push(value)}`
  const { column } = index
  // These two conditions prove to the planner that a partial index of rows with a value contains all of them.
  const conditions = [`${column} >= $2`, `${column} <= $2`]
  if (above) {
    const id = `${parameter(above.recordId)}::uuid`
    conditions.push(`record_id ${above.operator} ${id}`, `(${column}, record_id) ${above.operator} ($2, ${id})`)
  }
  if (belowId !== undefined) {
    const id = `${parameter(belowId)}::uuid`
    conditions.push(`record_id < ${id}`, `(${column}, record_id) < ($2, ${id})`)
  }
  const { rows } = await tx.client.query<[string, string | null, boolean | null, number | null, string | null]>({
    text: `select r.record_id, case when r.record_type = 'telemetry_event' and s.purged_at is null then ${storedText('r')} end,
        t.rated, t.cost_computed_micros, t.price_source
      from (
        select * from hub.records where tenant_id = $1 and ${conditions.join(' and ')}
        order by ${column}, record_id limit $3
      ) r left join lateral (
        select purged_at from hub.record_states where tenant_id = $1 and record_id = r.record_id offset 0) s on true
      left join lateral (
        select true as rated, cost_computed_micros, price_source from hub.telemetry_ratings
        where tenant_id = $1 and record_id = r.record_id offset 0) t on true
      order by r.${column}, r.record_id`,
    values,
    rowMode: 'array',
  })
  return rows.map(([recordId, canonical, rated, ratedMicros, ratedSource]) => ({
    recordId,
    canonical: canonical && readText(tx, recordId, canonical),
    rated: rated === true,
    ratedMicros,
    ratedSource,
  }))
}
