import type { RecordFilter } from '../../../contract/record-filter.ts'
import type { TenantTx } from '../../db/database.ts'
import { filterOf } from './stored-filter.ts'

/** The period in which a hold was in force: from `created_at` until just before `released_at`. */
export interface HoldPeriod {
  created_at: string
  released_at: string | null
  /** Null if the hold names its records. */
  filter: RecordFilter | null
}

/**
 * Returns for each record one hold that names it and was in force at its purge, if any.
 *
 * @param unended holds that are in force regardless of their rows
 */
export async function findNamedPeriods(
  tx: TenantTx,
  purged: readonly { record_id: string; purged_at: string }[],
  unended: readonly string[],
): Promise<(HoldPeriod & { record_id: string })[]> {
  const { rows } = await tx.client.query<HoldPeriod & { record_id: string }>(
    `select p.record_id, h.created_at, h.released_at, h.filter
     from unnest($2::uuid[], $3::timestamptz[]) as p (record_id, purged_at)
     cross join lateral (
       select h.created_at, case when h.hold_id = any($4::uuid[]) then null else h.released_at end as released_at, h.filter
       from hub.legal_hold_records n join hub.legal_holds h on h.tenant_id = $1 and h.hold_id = n.hold_id
       where n.tenant_id = $1 and n.record_id = p.record_id and h.created_at <= p.purged_at
         and (h.released_at is null or h.released_at > p.purged_at or h.hold_id = any($4::uuid[])) limit 1
     ) h`,
    [tx.tenantId, purged.map(({ record_id }) => record_id), purged.map(({ purged_at }) => purged_at), unended],
  )
  return rows
}

/**
 * Returns the filter holds that were in force at one or more of the times. Any number of other holds may lie between
 * them.
 *
 * @param times in ascending order
 * @param unended holds that are in force regardless of their rows
 */
export async function findFilterPeriods(
  tx: TenantTx,
  times: readonly string[],
  unended: readonly string[] = [],
): Promise<HoldPeriod[]> {
  // A time lies within the hold if fewer times precede its beginning than its release.
  const { rows } = await tx.client.query<HoldPeriod>(
    `select created_at, released_at, filter from (
       select created_at, case when hold_id = any($4::uuid[]) then null else released_at end as released_at, filter
       from hub.legal_holds
       where tenant_id = $1 and filter is not null
         and (released_at is null or released_at > $3::timestamptz or hold_id = any($4::uuid[]))
     ) h
     where width_bucket(created_at - interval '1 microsecond', $2::timestamptz[])
       < width_bucket(coalesce(released_at, 'infinity') - interval '1 microsecond', $2::timestamptz[])`,
    [tx.tenantId, times, times[0], unended],
  )
  return rows.map((row) => ({ ...row, filter: filterOf(row.filter) }))
}
