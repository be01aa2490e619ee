import { sql } from 'kysely'
import type { TenantTx } from '../../../db/database.ts'
import { conditionsOf, type SumRow, type SumsQuery, sketchesOf } from './summary-store.ts'

/** A {@link SumsQuery} for sums of keys after the given one. */
export type WindowSumsQuery = Omit<SumsQuery, 'after' | 'groupBy'> & {
  groupBy: NonNullable<SumsQuery['groupBy']>
  after: string | undefined
}

/**
 * Returns sums by key, in the order of their bytes, and interval, the last one first. It finds rows as `sumsOf` does.
 */
export async function windowSums(tx: TenantTx, query: WindowSumsQuery): Promise<SumRow[]> {
  const { spans, after } = query
  const isBehind = after === undefined ? sql`true` : sql`s.key > ${after}::text`
  const { rows } = await sql<SumRow>`
    select s.at, s.key,
      sum(s.invocations)::bigint as invocations, sum(s.failures)::bigint as failures,
      sum(s.tokens_in) as tokens_in, sum(s.tokens_out) as tokens_out,
      sum(s.cost_estimate_micros) as cost_estimate, sum(s.cost_computed_micros) as cost_computed,
      sum(s.unpriced)::bigint as unpriced, ${sketchesOf(query)} as sketches
    from unnest(${spans.map((span) => span.grain)}::text[], ${spans.map((span) => span.first)}::bigint[],
      ${spans.map((span) => span.end)}::bigint[]) as span (grain, first_quarter, end_quarter)
    cross join lateral (
      select width_bucket(r.first_quarter, ${query.starts}::bigint[]) - 1 as at,
        coalesce(r.${sql.ref(query.groupBy)}, '') collate "C" as key,
        r.invocations, r.failures, r.tokens_in, r.tokens_out, r.cost_estimate_micros, r.cost_computed_micros,
        r.unpriced, r.latency
      from hub.telemetry_rollups r
      where r.tenant_id = ${tx.tenantId} and r.grain = span.grain and r.view = ${sql.lit(query.view)}
        and r.first_quarter >= span.first_quarter and r.first_quarter < span.end_quarter ${conditionsOf(query.filters)}
      offset 0
    ) s
    where ${isBehind}
    group by s.key, s.at
    order by s.key, s.at desc
    limit ${query.limit}
  `.execute(tx.db)
  return rows
}
