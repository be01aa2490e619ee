import type { TenantTx } from '../../../db/database.ts'
import { readText, storedText } from '../../../records/stored-text.ts'
import type { Grain, View } from './rollup-types.ts'

const rowsPerDelete = 20_000

/** A stored event, and its price after a repricing. */
export interface StoredEvent {
  recordId: string
  canonical: string
  /** Whether it was repriced. */
  rated: boolean
  /** The cost of the last rating; null if it found no price. */
  ratedMicros: number | null
}

/** Returns every event after that record, including soft-deleted ones, in the order of their ids. */
export async function eventsAfter(
  tx: TenantTx,
  recordId: string,
  limit: number,
): Promise<(StoredEvent & { ratedSource: string | null })[]> {
  // OFFSET keeps the look-up of a rating one per event that is read, regardless of the planner's estimate.
  const { rows } = await tx.client.query<[string, string, boolean | null, number | null, string | null]>({
    text: `select e.record_id, ${storedText('e')}, t.rated, t.cost_computed_micros, t.price_source
      from hub.records e left join lateral (
        select true as rated, cost_computed_micros, price_source from hub.telemetry_ratings
        where tenant_id = $1 and record_id = e.record_id offset 0) t on true
      where e.tenant_id = $1 and e.record_type = 'telemetry_event' and e.record_id > $2
      order by e.record_id limit $3`,
    values: [tx.tenantId, recordId, limit],
    rowMode: 'array',
  })
  return rows.map(([id, canonical, rated, ratedMicros, ratedSource]) => ({
    recordId: id,
    canonical: readText(tx, id, canonical),
    rated: rated === true,
    ratedMicros,
    ratedSource,
  }))
}

/** Deletes the rows of a view, some thousand at a time, because a statement has a time limit. */
export async function deleteRows(tx: TenantTx, grain: Grain, view: View): Promise<void> {
  for (let from: number | undefined = await quarterAt(tx, grain, view, 0); from !== undefined; ) {
    const upTo = await quarterAt(tx, grain, view, rowsPerDelete)
    await tx.client.query({
      text: `delete from hub.telemetry_rollups
        where tenant_id = $1 and grain = $2 and view = $3 and first_quarter >= $4 and first_quarter <= $5`,
      values: [tx.tenantId, grain, view, from, upTo ?? Number.MAX_SAFE_INTEGER],
    })
    from = upTo === undefined ? undefined : await quarterAt(tx, grain, view, 0)
  }
}

/** Returns the quarter of the row at that index, in the order of time. */
async function quarterAt(tx: TenantTx, grain: Grain, view: View, place: number): Promise<number | undefined> {
  const { rows } = await tx.client.query<[number]>({
    text: `select first_quarter from hub.telemetry_rollups
      where tenant_id = $1 and grain = $2 and view = $3 order by first_quarter offset $4 limit 1`,
    values: [tx.tenantId, grain, view, place],
    rowMode: 'array',
  })
  return rows[0]?.[0]
}

export async function deleteOpenDays(tx: TenantTx): Promise<void> {
  await tx.client.query({ text: 'delete from hub.rollup_open_days where tenant_id = $1', values: [tx.tenantId] })
}
