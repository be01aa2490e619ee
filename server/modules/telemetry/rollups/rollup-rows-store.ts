import { hash } from 'node:crypto'
import type { TenantTx } from '../../../db/database.ts'
import { type Cell, type Dimensions, idsOf, type Metrics } from './rollup-cells.ts'
import { dimensionNames, type Grain, quarterHoursPerDay, type StoredGrain, type View } from './rollup-types.ts'

/** Rows per statement that reads: requests wait while one is read. */
const rowsPerRead = 125
/**
 * Rows per statement that adds. Each statement takes turns of the event loop, so few of them keep aggregation close to
 * ingest; 500 rows take some milliseconds of one turn.
 */
const rowsPerMerge = 500
const digestBytes = 16

/** The columns of the dimensions, in the order of {@link QuarterRow}. */
export const dimensionColumns = dimensionNames.join(', ')
export const metricColumns =
  'invocations, failures, tokens_in, tokens_out, cost_estimate_micros, cost_computed_micros, unpriced, latency'
export type MetricValues = [number, number, string, string, string, string, number, Buffer]

/** Returns a digest of the dimensions for the key of a row. */
export function cellDigest(dimensions: Dimensions): Buffer {
  return Buffer.from(hash('sha256', idsOf(dimensions), 'latin1').slice(0, digestBytes), 'latin1')
}

/**
 * Adds the values of their stored rows to the cells, then stores them as those rows. Groups share statements. Returns
 * the number of rows.
 */
export async function mergeIntoRows(
  tx: TenantTx,
  grain: StoredGrain,
  groups: AsyncIterable<Iterable<Cell>> | Iterable<Iterable<Cell>>,
): Promise<number> {
  let stored = 0
  for await (const part of partsOf(groups)) {
    const digests = part.map((cell) => cellDigest(cell.dimensions))
    await addStored(tx, grain, part, digests)
    await upsert(tx, grain, part, digests)
    stored += part.length
  }
  return stored
}

/** Inserts cells as rows, like {@link mergeIntoRows}, if no such rows exist. */
export async function insertRows(tx: TenantTx, grain: Grain, cells: Iterable<Cell>): Promise<void> {
  for await (const part of partsOf([cells])) {
    const digests = part.map((cell) => cellDigest(cell.dimensions))
    await upsert(tx, grain, part, digests)
  }
}

async function* partsOf(groups: AsyncIterable<Iterable<Cell>> | Iterable<Iterable<Cell>>): AsyncGenerator<Cell[]> {
  let part: Cell[] = []
  for await (const cells of groups) {
    for (const cell of cells) {
      part.push(cell)
      if (part.length === rowsPerMerge) {
        yield part
        part = []
      }
    }
  }
  if (part.length > 0) yield part
}

async function addStored(tx: TenantTx, grain: StoredGrain, cells: readonly Cell[], digests: readonly Buffer[]) {
  // OFFSET makes it one look-up by key per row. PostgreSQL planned a plain join as a scan of the whole tenant if the
  // table had grown since its statistics were taken: 100 ms for 500 rows instead of 3.
  const { rows } = await tx.client.query<[number, ...MetricValues]>({
    text: `select wanted.place, ${metricColumns}
      from unnest($3::text[], $4::bigint[], $5::bytea[]) with ordinality as wanted (view, first_quarter, cell, place),
      lateral (select ${metricColumns} from hub.telemetry_rollups where tenant_id = $1 and grain = $2
        and view = wanted.view and first_quarter = wanted.first_quarter and cell = wanted.cell offset 0) as stored`,
    values: [tx.tenantId, grain, cells.map((cell) => cell.view), cells.map((cell) => cell.firstQuarter), digests],
    rowMode: 'array',
  })
  for (const [place, ...values] of rows) addValues(cells[place - 1]!.metrics, values)
}

async function upsert(
  tx: TenantTx,
  grain: StoredGrain,
  cells: readonly Cell[],
  digests: readonly Buffer[],
): Promise<void> {
  const metrics = cells.map((cell) => cell.metrics)
  const dimensions = cells.map((cell) => cell.dimensions)
  await tx.client.query({
    text: `insert into hub.telemetry_rollups (tenant_id, grain, view, first_quarter, cell,
        ${dimensionColumns}, ${metricColumns})
      select $1, $2, rows.* from unnest($3::text[], $4::bigint[], $5::bytea[],
        $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::bigint[], $13::bigint[],
        $14::numeric[], $15::numeric[], $16::numeric[], $17::numeric[], $18::bigint[], $19::bytea[]) as rows
      on conflict (tenant_id, grain, view, first_quarter, cell) do update set
        invocations = excluded.invocations, failures = excluded.failures,
        tokens_in = excluded.tokens_in, tokens_out = excluded.tokens_out,
        cost_estimate_micros = excluded.cost_estimate_micros, cost_computed_micros = excluded.cost_computed_micros,
        unpriced = excluded.unpriced, latency = excluded.latency`,
    values: [
      tx.tenantId,
      grain,
      cells.map((cell) => cell.view),
      cells.map((cell) => cell.firstQuarter),
      digests,
      ...dimensionNames.map((name) => dimensions.map((one) => one[name])),
      metrics.map((one) => one.invocations),
      metrics.map((one) => one.failures),
      metrics.map((one) => String(one.tokensIn.value)),
      metrics.map((one) => String(one.tokensOut.value)),
      metrics.map((one) => String(one.costEstimate.value)),
      metrics.map((one) => String(one.costComputed.value)),
      metrics.map((one) => one.unpriced),
      metrics.map((one) => one.latency.toBytes()),
    ],
  })
}

export function addValues(metrics: Metrics, values: MetricValues): void {
  const [invocations, failures, tokensIn, tokensOut, costEstimate, costComputed, unpriced, latency] = values
  metrics.invocations += invocations
  metrics.failures += failures
  metrics.tokensIn.addExact(BigInt(tokensIn))
  metrics.tokensOut.addExact(BigInt(tokensOut))
  metrics.costEstimate.addExact(BigInt(costEstimate))
  metrics.costComputed.addExact(BigInt(costComputed))
  metrics.unpriced += unpriced
  metrics.latency.addBytes(latency)
}

/** A share of the possible cells of a view: those whose digest begins with a byte from `first` to `last`. */
export interface CellShare {
  first: number
  last: number
}

export async function countQuarters(tx: TenantTx, view: View, day: number): Promise<number> {
  const { rows } = await tx.client.query<[number]>({
    text: `select count(*) from hub.telemetry_rollups
      where tenant_id = $1 and grain = 'quarter' and view = $2 and first_quarter >= $3 and first_quarter < $4`,
    values: [tx.tenantId, view, day * quarterHoursPerDay, (day + 1) * quarterHoursPerDay],
    rowMode: 'array',
  })
  return rows[0]![0]
}

/** Adds up the quarters of a day: `metricsOf` returns the metrics to add to for a combination of dimensions. */
export async function addQuarters(
  tx: TenantTx,
  { view, day, share }: { view: View; day: number; share: CellShare },
  metricsOf: (dimensions: Dimensions) => Metrics,
): Promise<void> {
  let after: { quarter: number; cell: Buffer } | undefined = {
    quarter: day * quarterHoursPerDay,
    cell: Buffer.alloc(0),
  }
  while (after) {
    const { rows }: { rows: QuarterRow[] } = await tx.client.query<QuarterRow>({
      text: `select first_quarter, cell, ${dimensionColumns}, ${metricColumns}
        from hub.telemetry_rollups
        where tenant_id = $1 and grain = 'quarter' and view = $2 and (first_quarter, cell) > ($3, $4)
          and first_quarter < $5 and get_byte(cell, 0) between $6 and $7
        order by first_quarter, cell limit ${rowsPerRead}`,
      values: [
        ...[tx.tenantId, view, after.quarter, after.cell, (day + 1) * quarterHoursPerDay, share.first, share.last],
      ],
      rowMode: 'array',
    })
    for (const row of rows) {
      const { dimensions, values } = partsOfRow(row)
      addValues(metricsOf(dimensions), values)
    }
    const last = rows.at(-1)
    after = rows.length === rowsPerRead && last ? { quarter: last[0], cell: last[1] } : undefined
  }
}

type Name = string | null
/** The key, the dimensions and the values of a row. */
export type QuarterRow<Quarter = number> = [Quarter, Buffer, Name, Name, Name, Name, Name, Name, ...MetricValues]

/** Returns the dimensions and the values of a row. */
export function partsOfRow(row: QuarterRow<unknown>): { dimensions: Dimensions; values: MetricValues } {
  const [, , skill_id, archetype_id, user_id, llm_platform, llm_model, error_code, ...values] = row
  return { dimensions: { skill_id, archetype_id, user_id, llm_platform, llm_model, error_code }, values }
}

export async function deleteDayRows(tx: TenantTx, view: View, day: number): Promise<void> {
  await tx.client.query({
    text: `delete from hub.telemetry_rollups
      where tenant_id = $1 and grain = 'day' and view = $2 and first_quarter = $3`,
    values: [tx.tenantId, view, day * quarterHoursPerDay],
  })
}
