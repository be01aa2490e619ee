import { type RawBuilder, sql } from 'kysely'
import type { TenantTx } from '../../../db/database.ts'
import type { Dimension, View } from '../rollups/rollup-types.ts'
import type { GrainRange } from './summary-ranges.ts'
import type { Filters, QuarterRange } from './summary-types.ts'

/** Returns the days within a range whose quarters must be read, ascending. */
export async function openDaysWithin(tx: TenantTx, days: QuarterRange): Promise<number[]> {
  const rows = await tx.db
    .selectFrom('hub.rollup_open_days')
    .select('day')
    .where('tenant_id', '=', tx.tenantId)
    .where('day', '>=', days.first)
    .where('day', '<', days.end)
    .orderBy('day')
    .execute()
  return rows.map((row) => row.day)
}

/** Selects rows of the rollups and their sums. */
export interface SumsQuery {
  view: View
  spans: readonly GrainRange[]
  filters: Filters
  groupBy: Dimension | undefined
  success?: boolean | undefined
  /** The quarters with which intervals begin, ascending; the first one is not after the first span. */
  starts: readonly number[]
  /** Returns only sums after this position in the order of the response: `at` is an index in `starts`. */
  after: { at: number; key: string } | undefined
  limit: number
  latencies: boolean
}

/** The sum of all rows of one interval and key. All members except counts may exceed a number. */
export interface SumRow {
  /** The index in `starts`. */
  at: number
  /** Empty without grouping, and for rows without a value. */
  key: string
  invocations: number
  failures: number
  tokens_in: string
  tokens_out: string
  cost_estimate: string
  cost_computed: string
  unpriced: number
  /** The sketches of the rows, each preceded by its length in four bytes; null unless requested. */
  sketches: Buffer | null
}

/** Returns the start of a query for sums, up to its conditions on `s.at` and `s.key`. */
function selectedSums(tx: TenantTx, query: Omit<SumsQuery, 'after'>) {
  const { spans } = query
  const key = query.groupBy ? sql`coalesce(r.${sql.ref(query.groupBy)}, '')` : sql`''`
  return sql`select s.at, s.key,
      ${sumsIn(query)}
    from ${spansIn(spans)}
    cross join lateral (
      select width_bucket(r.first_quarter, ${query.starts}::bigint[]) - 1 as at, ${key} collate "C" as key,
        r.invocations, r.failures, r.tokens_in, r.tokens_out, r.cost_estimate_micros, r.cost_computed_micros,
        r.unpriced, r.latency
      from hub.telemetry_rollups r
      where r.tenant_id = ${tx.tenantId} and r.grain = span.grain and r.view = ${sql.lit(query.view)}
        and r.first_quarter >= span.first_quarter and r.first_quarter < span.end_quarter ${conditionsOf(query.filters)}
        ${outcomeConditions(query)}
      offset 0
    ) s`
}

/**
 * Returns sums by interval and key, in the order of both, keys by their bytes. It reads the rows of the spans, by the
 * index of the user if the query filters by one, else by the primary key. Each span is looked up by itself: `offset 0`
 * keeps the planner from reading the whole view once and comparing all rows with all spans.
 */
export async function sumsOf(tx: TenantTx, query: SumsQuery): Promise<SumRow[]> {
  const { after } = query
  const isBehind = after ? sql`(s.at, s.key) > (${after.at}::int, ${after.key}::text)` : sql`true`
  const { rows } = await sql<SumRow>`
    ${selectedSums(tx, query)}
    where ${isBehind}
    group by s.at, s.key
    order by s.at, s.key
    limit ${query.limit}
  `.execute(tx.db)
  return rows
}

/** A {@link SumsQuery} for the one sum of all rows. */
export type TotalQuery = Pick<SumsQuery, 'view' | 'spans' | 'filters'>

/**
 * Returns the sum of all rows for each query, in one statement: undefined for a query without rows. Each finds its rows
 * as `sumsOf` does.
 */
export async function totalsOf(tx: TenantTx, queries: readonly TotalQuery[]): Promise<(SumRow | undefined)[]> {
  if (queries.length === 0) return []
  const parts = queries.map((query, place) => {
    const sums = selectedSums(tx, { ...query, groupBy: undefined, starts: [0], limit: 1, latencies: false })
    return sql`select ${place}::int as place, total.* from (${sums} group by s.at, s.key) total`
  })
  const { rows } = await sql<SumRow & { place: number }>`${sql.join(parts, sql` union all `)}`.execute(tx.db)
  const byPlace = new Map(rows.map((row) => [row.place, row]))
  return queries.map((_, place) => byPlace.get(place))
}

/** Returns the SQL for spans, each looked up by itself. */
function spansIn(spans: readonly GrainRange[]): RawBuilder<unknown> {
  return sql`unnest(${spans.map((span) => span.grain)}::text[], ${spans.map((span) => span.first)}::bigint[],
    ${spans.map((span) => span.end)}::bigint[]) as span (grain, first_quarter, end_quarter)`
}

/** Returns whether rows of the spans have failures that are not divided by error code. */
export async function hasUndividedFailures(
  tx: TenantTx,
  { view, spans, filters }: Pick<SumsQuery, 'view' | 'spans' | 'filters'>,
): Promise<boolean> {
  const { error_code: _, ...others } = filters
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from ${spansIn(spans)}
      cross join lateral (
        select from hub.telemetry_rollups r
        where r.tenant_id = ${tx.tenantId} and r.grain = span.grain and r.view = ${sql.lit(view)}
          and r.first_quarter >= span.first_quarter and r.first_quarter < span.end_quarter ${conditionsOf(others)}
          and r.error_code is null and r.failures <> 0
        offset 0
      ) s
    ) as found
  `.execute(tx.db)
  return rows[0]!.found
}

/** Returns the SQL conditions on the outcome of a row `r`, of a view that keeps error codes. */
function outcomeConditions({ groupBy, success }: Pick<SumsQuery, 'groupBy' | 'success'>): RawBuilder<unknown> {
  const succeeded = success === true ? sql` and r.error_code is null` : sql``
  const failed = success === false || groupBy === 'error_code' ? sql` and r.error_code is not null` : sql``
  return sql`${succeeded}${failed}`
}

/** Returns the columns of sums over rows `s`. */
function sumsIn(query: Pick<SumsQuery, 'latencies'>): RawBuilder<unknown> {
  return sql`sum(s.invocations)::bigint as invocations, sum(s.failures)::bigint as failures,
    sum(s.tokens_in) as tokens_in, sum(s.tokens_out) as tokens_out,
    sum(s.cost_estimate_micros) as cost_estimate, sum(s.cost_computed_micros) as cost_computed,
    sum(s.unpriced)::bigint as unpriced, ${sketchesOf(query)} as sketches`
}

/** Returns the SQL for sketches of rows `s`. */
function sketchesOf({ latencies }: Pick<SumsQuery, 'latencies'>): RawBuilder<unknown> {
  return latencies ? sql`string_agg(int4send(length(s.latency)) || s.latency, ''::bytea)` : sql`null`
}

/** Returns the SQL conditions on a row `r`. */
function conditionsOf(filters: Filters): RawBuilder<unknown> {
  const each = Object.entries(filters).map(([name, value]) =>
    typeof value === 'string'
      ? sql` and r.${sql.ref(name)} = ${value}`
      : sql` and r.${sql.ref(name)} = any (${[...value]}::text[])`,
  )
  return sql.join(each, sql``)
}

/** Returns texts of deltas after the given one, in the order of their ids. */
export function deltasAfter(tx: TenantTx, deltaId: string, count: number) {
  return tx.db
    .selectFrom('hub.telemetry_deltas')
    .select(['delta_id', 'entries'])
    .where('tenant_id', '=', tx.tenantId)
    .where('delta_id', '>', deltaId)
    .orderBy('delta_id')
    .limit(count)
    .execute()
}

/** A {@link SumsQuery} for sums of keys after the given one. */
type WindowSumsQuery = Omit<SumsQuery, 'after' | 'groupBy'> & {
  groupBy: NonNullable<SumsQuery['groupBy']>
  after: string | undefined
}

/**
 * Returns sums by key, in the order of their bytes, and interval, the last one first. It finds rows as `sumsOf` does.
 */
export async function windowSums(tx: TenantTx, query: WindowSumsQuery): Promise<SumRow[]> {
  const { after } = query
  const isBehind = after === undefined ? sql`true` : sql`s.key > ${after}::text`
  const { rows } = await sql<SumRow>`
    ${selectedSums(tx, query)}
    where ${isBehind}
    group by s.key, s.at
    order by s.key, s.at desc
    limit ${query.limit}
  `.execute(tx.db)
  return rows
}
