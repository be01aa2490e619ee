import type { RecordFilter } from '../../../contract/record-filter.ts'
import type { TenantTx } from '../../db/database.ts'
import type { NamedHold } from './holds-store.ts'
import type { HoldName, HoldRow } from './holds-types.ts'
import { filterOf } from './stored-filter.ts'

export type HoldEnd = Pick<HoldRow, 'hold_id' | 'release_event_id'> & { released_at: string }

export type ReleasedHold = HoldEnd & { name: string }

const nil = '00000000-0000-0000-0000-000000000000'

/** Returns a digest of the releases of all filter holds. It changes with any of them. Null if none is released. */
export async function digestOfFilterEnds(tx: TenantTx): Promise<string | null> {
  const { rows } = await tx.client.query<{ digest: string | null }>(
    `select encode(sha256(convert_to(string_agg(
       concat_ws(' ', hold_id, extract(epoch from released_at), release_event_id), ',' order by hold_id), 'UTF8')), 'hex') as digest
     from hub.legal_holds where tenant_id = $1 and filter is not null and released_at is not null`,
    [tx.tenantId],
  )
  return rows[0]!.digest
}

/** Returns the next released filter holds, in id order. */
export async function filterEndsAfter(tx: TenantTx, after: string | undefined, count: number): Promise<HoldEnd[]> {
  const { rows } = await tx.client.query<HoldEnd>(
    `select hold_id, released_at, release_event_id from hub.legal_holds
     where tenant_id = $1 and hold_id > $2 and filter is not null and released_at is not null order by hold_id limit $3`,
    [tx.tenantId, after ?? nil, count],
  )
  return rows
}

/** Returns the released holds that name any of the records. */
export async function endsNaming(tx: TenantTx, recordIds: readonly string[]): Promise<HoldEnd[]> {
  const { rows } = await tx.client.query<HoldEnd>(
    `select distinct h.hold_id, h.released_at, h.release_event_id
     from hub.legal_hold_records n join hub.legal_holds h on h.tenant_id = $1 and h.hold_id = n.hold_id
     where n.tenant_id = $1 and n.record_id = any($2::uuid[]) and h.released_at is not null`,
    [tx.tenantId, recordIds],
  )
  return rows
}

/** Returns the holds that name any of the records and that the subject released. */
export async function namedReleasedBy(
  tx: TenantTx,
  subject: string,
  recordIds: readonly string[],
): Promise<(ReleasedHold & NamedHold)[]> {
  const { rows } = await tx.client.query<ReleasedHold & NamedHold>(
    `select n.record_id, h.hold_id, h.name, h.released_at, h.release_event_id
     from hub.legal_hold_records n join hub.legal_holds h on h.tenant_id = $1 and h.hold_id = n.hold_id
     where n.tenant_id = $1 and n.record_id = any($3::uuid[]) and h.released_by = $2 and h.released_at is not null
     order by h.hold_id`,
    [tx.tenantId, subject, recordIds],
  )
  return rows
}

/** Returns the filter holds that the subject released after `since`. */
export async function filteredReleasedBy(
  tx: TenantTx,
  subject: string,
  since: string,
): Promise<(ReleasedHold & HoldName & { filter: RecordFilter })[]> {
  const { rows } = await tx.client.query<ReleasedHold & { filter: RecordFilter }>(
    `select hold_id, name, filter, released_at, release_event_id from hub.legal_holds
     where tenant_id = $1 and released_by = $2 and released_at > $3::timestamptz and filter is not null
     order by hold_id`,
    [tx.tenantId, subject, since],
  )
  return rows.map((row) => ({ ...row, filter: filterOf(row.filter) }))
}

export async function findEndedHolds(tx: TenantTx): Promise<ReleasedHold[]> {
  const { rows } = await tx.client.query<ReleasedHold>(
    `select hold_id, name, released_at, release_event_id from hub.legal_holds
     where tenant_id = $1 and released_at is not null order by hold_id`,
    [tx.tenantId],
  )
  return rows
}

/** Returns the holds in force by their rows, regardless of their scope. */
export async function findHoldsInForce(tx: TenantTx, count: number): Promise<HoldName[]> {
  const { rows } = await tx.client.query<HoldName>(
    `select hold_id, name from hub.legal_holds
     where tenant_id = $1 and released_at is null order by hold_id limit $2`,
    [tx.tenantId, count],
  )
  return rows
}

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
  unended: readonly string[],
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
