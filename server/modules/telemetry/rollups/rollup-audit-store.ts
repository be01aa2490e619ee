import type { TenantTx } from '../../../db/database.ts'
import type { Dimensions } from './rollup-cells.ts'
import { dimensionColumns, type MetricValues, partsOfRow, type QuarterRow } from './rollup-rows-store.ts'
import { quarterHoursPerDay, type StoredGrain, type View, views } from './rollup-types.ts'

const rowsPerRead = 250
/** The columns of `metricColumns`. Counts are read as floats, which never fail: somebody may have edited them. */
const columns = `invocations::float8, failures::float8, tokens_in, tokens_out, cost_estimate_micros,
  cost_computed_micros, unpriced::float8, latency`

/** A stored row, by any writer. */
export interface AuditedRow {
  firstQuarter: number
  dimensions: Dimensions
  values: MetricValues
}

type StoredRow = QuarterRow<string>

/** Reads the rows of one grain, view and day, in pages of about 250. */
export async function* auditedRows(
  tx: TenantTx,
  { grain, view, day }: { grain: StoredGrain; view: View; day: number },
): AsyncGenerator<AuditedRow[]> {
  let after: [string, Buffer] | undefined = [String(day * quarterHoursPerDay), Buffer.alloc(0)]
  while (after !== undefined) {
    const { rows }: { rows: StoredRow[] } = await tx.client.query<StoredRow>({
      text: `select first_quarter::text, cell, ${dimensionColumns}, ${columns}
        from hub.telemetry_rollups
        where tenant_id = $1 and grain = $2 and view = $3 and (first_quarter, cell) >= ($4, $5) and first_quarter < $6
        order by first_quarter, cell limit ${rowsPerRead + 1}`,
      values: [tx.tenantId, grain, view, ...after, (day + 1) * quarterHoursPerDay],
      rowMode: 'array',
    })
    const next: StoredRow | undefined = rows.length > rowsPerRead ? rows.pop() : undefined
    yield rows.map((row) => ({ firstQuarter: Number(row[0]), ...partsOfRow(row) }))
    after = next === undefined ? undefined : [next[0], next[1]]
  }
}

/** Returns the first day from `day` on, and before `end`, that has rows of any grain and view. */
export async function nextDayWithRows(tx: TenantTx, day: number, end: number): Promise<number | undefined> {
  const kinds = [
    ...views.flatMap((view) => [
      ['quarter', view],
      ['day', view],
    ]),
    ['erased', 'all'],
  ]
  const { rows } = await tx.client.query<{ quarter: string | null }>(
    `select min(first.first_quarter)::text as quarter
     from unnest($2::text[], $3::text[]) as kind (grain, view),
     lateral (select first_quarter from hub.telemetry_rollups where tenant_id = $1 and grain = kind.grain
       and view = kind.view and first_quarter >= $4 and first_quarter < $5 order by first_quarter limit 1) as first`,
    [
      tx.tenantId,
      kinds.map(([grain]) => grain),
      kinds.map(([, view]) => view),
      day * quarterHoursPerDay,
      end * quarterHoursPerDay,
    ],
  )
  const quarter = rows[0]?.quarter ?? undefined
  return quarter === undefined ? undefined : Math.floor(Number(quarter) / quarterHoursPerDay)
}

/** Returns whether the rows of the grain `day` may be missing or outdated. */
export async function isDayOpen(tx: TenantTx, day: number): Promise<boolean> {
  const { rowCount } = await tx.client.query('select from hub.rollup_open_days where tenant_id = $1 and day = $2', [
    tx.tenantId,
    day,
  ])
  return rowCount !== 0
}
