import type { TenantTx } from '../../../db/database.ts'
import { decryptContent } from '../../../db/record-encryption.ts'

/** The index that records are looked through by, and the value that they all have there. */
export interface ScanIndex {
  column: 'record_type' | 'user_id' | 'skill_id' | 'archetype_id'
  value: string
}

export interface Scan {
  index: ScanIndex
  /** Records behind the first, or with and behind the second. */
  above: { operator: '>' | '>='; recordId: string } | undefined
  belowId: string | undefined
  limit: number
}

/** A record that was looked at. */
export interface ScannedRecord {
  recordId: string
  /** Null for what is no telemetry event or is purged. */
  canonical: string | null
  /** Whether it was rated again, and what came of it: null where there was no price. */
  rated: boolean
  ratedMicros: number | null
  ratedSource: string | null
}

/**
 * The next records in the order of their ids, as many as asked for or all there are, in a transaction of `inIndexOrder`.
 * The order names the column, and compares it together with the id, because that is the order of the one index that is
 * to be used: any other would look at records without a limit. OFFSET keeps a look-up one per record.
 */
export async function scanRecords(tx: TenantTx, { index, above, belowId, limit }: Scan): Promise<ScannedRecord[]> {
  const values: unknown[] = [tx.tenantId, index.value, limit]
  const parameter = (value: unknown) => `$${values.push(value)}`
  const { column } = index
  // These two are what shows the planner that an index of rows that have a value holds all of them.
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
    text: `select r.record_id, case when r.record_type = 'telemetry_event' and s.purged_at is null then r.canonical end,
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
    canonical: canonical && decryptContent(tx, recordId, canonical),
    rated: rated === true,
    ratedMicros,
    ratedSource,
  }))
}
