import type { RecordFilter } from '../../../contract/record-filter.ts'
import { parseTimestamp } from '../../../contract/timestamp.ts'
import type { TenantTx } from '../../db/database.ts'
import { recordIdFloor } from '../../records/record-clock.ts'
import type { HeldRecord } from '../../records/record-rows.ts'
import { heldRecordOf } from '../../records/record-rows.ts'
import { neverErased } from '../../records/record-state-store.ts'

/** The scope of a hold: the named records, or those that match the filter. */
export type HoldScope = { recordIds: readonly string[] } | { filter: RecordFilter }

// OFFSET makes PostgreSQL keep the per-row look-up.
const lookUpRecord = `
  cross join lateral (
    select record_type, created_by, skill_id, archetype_id, user_id, event_kind
    from hub.records where tenant_id = $1 and record_id = s.record_id offset 0
  ) r`

const isNamed = 's.record_id = any($4::uuid[])'

/** The same conditions as `matchesFilter`, except that unreadable times bound nothing. */
const isMatching = `
  ($4::text[] is null or r.record_type = any($4)) and ($5::uuid is null or s.record_id = $5)
  and ($6::text is null or r.skill_id = $6) and ($7::text is null or r.archetype_id = $7)
  and ($8::text is null or r.user_id = $8) and ($9::text is null or r.created_by = $9)
  and ($10::text is null or r.event_kind = $10)
  and ($11::uuid is null or s.record_id >= $11) and ($12::uuid is null or s.record_id < $12)`

function conditionOf(scope: HoldScope): { condition: string; values: unknown[] } {
  if ('recordIds' in scope) return { condition: isNamed, values: [scope.recordIds] }
  const { record_type, record_id, skill_id, archetype_id, user_id, created_by, event_kind } = scope.filter
  const { created_at__gte: from, created_at__lt: before } = scope.filter
  const exact = [record_type, record_id, skill_id, archetype_id, user_id, created_by, event_kind]
  return {
    condition: isMatching,
    values: [...exact.map((value) => value ?? null), firstIdAt(from), firstIdAt(before)],
  }
}

function firstIdAt(text: string | undefined): string | null {
  const time = text === undefined ? undefined : parseTimestamp(text)
  return time === undefined ? null : recordIdFloor(time.epochMs, time.microsOfMs)
}

/**
 * Pauses the running recovery periods of all purged records in the scope. Requires the exclusive lock of holds.
 *
 * @returns when the latest of these records was purged, including those already paused
 */
export async function pauseRecoveryPeriods(tx: TenantTx, scope: HoldScope, now: string): Promise<string | undefined> {
  const { condition, values } = conditionOf(scope)
  const { rows } = await tx.client.query<{ latest: string | null }>(
    // An array, because the planner may execute a join by scanning all matches for each row.
    `with matching as materialized (
       select s.record_id, s.purged_at from hub.record_states s ${lookUpRecord}
       where s.tenant_id = $1 and s.purged_at is not null and s.hard_delete_after > $2::timestamptz and ${condition}
     ), frozen as (
       update hub.record_states s set hard_delete_after = $3::timestamptz,
         buffer_left_micros = (extract(epoch from s.hard_delete_after - $2::timestamptz) * 1000000)::bigint
       where s.tenant_id = $1 and s.record_id = any(array(select record_id from matching))
         and s.buffer_left_micros is null
     )
     select max(purged_at) as latest from matching`,
    [tx.tenantId, now, neverErased, ...values],
  )
  return rows[0]!.latest ?? undefined
}

/** Returns the next purged records in the scope whose recovery period is paused, in id order. */
export async function pausedAfter(
  tx: TenantTx,
  scope: HoldScope,
  after: string | undefined,
  count: number,
): Promise<HeldRecord[]> {
  const { condition, values } = conditionOf(scope)
  const { rows } = await tx.client.query<Omit<HeldRecord, 'created_at'>>(
    `select s.record_id, r.record_type, r.created_by, r.skill_id, r.archetype_id, r.user_id, r.event_kind
     from hub.record_states s ${lookUpRecord}
     where s.tenant_id = $1 and s.record_id > $2 and s.buffer_left_micros is not null and ${condition}
     order by s.record_id limit $3`,
    [tx.tenantId, after ?? '00000000-0000-0000-0000-000000000000', count, ...values],
  )
  return rows.map(heldRecordOf)
}

/** Returns whether one of the subjects purged a record in the scope whose recovery period is paused. */
export async function hasFrozenOf(tx: TenantTx, scope: HoldScope, subjects: readonly string[]): Promise<boolean> {
  const { condition, values } = conditionOf(scope)
  const { rows } = await tx.client.query(
    `select from hub.record_states s ${lookUpRecord}
     where s.tenant_id = $1 and s.purged_by = any($2::text[]) and s.buffer_left_micros is not null
       and $3::text is null and ${condition} limit 1`,
    [tx.tenantId, subjects, null, ...values],
  )
  return rows.length > 0
}

/** Resumes paused recovery periods. */
export async function restartRecoveryPeriods(tx: TenantTx, recordIds: readonly string[], now: string): Promise<void> {
  await tx.client.query(
    `update hub.record_states set hard_delete_after = $3::timestamptz + buffer_left_micros * interval '1 microsecond',
       buffer_left_micros = null
     where tenant_id = $1 and record_id = any($2::uuid[]) and buffer_left_micros is not null`,
    [tx.tenantId, recordIds, now],
  )
}
