import { type RecordType, recordTypes } from '../../../contract/literals.ts'
import type { FilteredRecord } from '../../../contract/record-filter.ts'
import type { TenantTx } from '../../db/database.ts'
import { microsOf } from '../../records/monotonic-timestamp.ts'
import { recordIdFloor, timeOfRecordId } from '../../records/record-clock.ts'
import { lookUpState } from '../../records/record-sql-store.ts'
import type { RecordState } from '../../records/record-state-store.ts'
import type { RetentionRule, RetentionRules } from './retention-types.ts'

export async function findRetention(tx: TenantTx): Promise<RetentionRules> {
  const rows = await tx.db
    .selectFrom('hub.retention_rules')
    .select(['record_type', 'min_days', 'max_days'])
    .where('tenant_id', '=', tx.tenantId)
    .execute()
  const settings = await tx.db
    .selectFrom('hub.retention_settings')
    .select('four_eyes')
    .where('tenant_id', '=', tx.tenantId)
    .executeTakeFirst()
  const rules = rows.map(
    ({ record_type, min_days, max_days }): RetentionRule => ({
      record_type: record_type as RecordType,
      ...(min_days === null ? {} : { min_days }),
      ...(max_days === null ? {} : { max_days }),
    }),
  )
  return { rules: inOrder(rules), four_eyes: settings?.four_eyes ?? false }
}

/** Returns the id of the governance event that records the stored rules; null if absent. */
export async function findRetentionEvent(tx: TenantTx): Promise<string | null> {
  const settings = await tx.db
    .selectFrom('hub.retention_settings')
    .select('event_id')
    .where('tenant_id', '=', tx.tenantId)
    .executeTakeFirst()
  return settings?.event_id ?? null
}

/**
 * Returns whether later events replaced the rules of the event that the stored rules name, so that somebody has set
 * them back. Events of other processes, whose clocks differ, may have smaller ids.
 */
export async function wereReplaced(tx: TenantTx): Promise<boolean> {
  const eventId = await findRetentionEvent(tx)
  if (eventId === null) return false
  const { rows } = await tx.client.query(
    `select from hub.records where tenant_id = $1 and event_kind = 'tenant.config_changed' and record_id > $2
       and strpos(canonical, $3) > 0 limit 1`,
    [tx.tenantId, idLongBefore(eventId), `"replaces":"${eventId}"`],
  )
  return rows.length > 0
}

/** Returns the smallest id of the time one hour earlier. */
function idLongBefore(recordId: string): string {
  return recordIdFloor(Math.floor(microsOf(timeOfRecordId(recordId)) / 1000) - 3_600_000, 0)
}

/**
 * Stores the rules. Requires the lock of holds.
 *
 * @param event_id the governance event that records them
 */
export async function saveRetention(
  tx: TenantTx,
  { rules, four_eyes, event_id }: RetentionRules & { event_id: string },
): Promise<void> {
  await tx.db.deleteFrom('hub.retention_rules').where('tenant_id', '=', tx.tenantId).execute()
  if (rules.length > 0) {
    await tx.db
      .insertInto('hub.retention_rules')
      .values(
        rules.map(({ record_type, min_days = null, max_days = null }) => ({
          tenant_id: tx.tenantId,
          record_type,
          min_days,
          max_days,
        })),
      )
      .execute()
  }
  await tx.db
    .insertInto('hub.retention_settings')
    .values({ tenant_id: tx.tenantId, four_eyes, event_id })
    .onConflict((conflict) => conflict.column('tenant_id').doUpdateSet({ four_eyes, event_id }))
    .execute()
}

export function inOrder(rules: readonly RetentionRule[]): RetentionRule[] {
  return [...rules].sort((a, b) => recordTypes.indexOf(a.record_type) - recordTypes.indexOf(b.record_type))
}

/** The records that a rule finds beyond their maximum retention. */
export interface OverdueCriteria {
  recordType: RecordType
  /** The smallest record id of the limit, before which they were created; exclusive. */
  beforeId: string
}

/**
 * Returns the next unpurged records beyond their maximum retention, by age. Holds may protect them. Requires a
 * transaction of `inIndexOrder`.
 *
 * @param after the last id of the part before
 */
export async function findOverdue(
  tx: TenantTx,
  { recordType, beforeId }: OverdueCriteria,
  after: string | undefined,
  count: number,
): Promise<string[]> {
  const { rows } = await tx.client.query<{ record_id: string }>(
    `select r.record_id from hub.records r ${lookUpState}
     where r.tenant_id = $1 and r.record_type = $2 and r.record_id < $3 and r.record_id > $4 and s.purged_at is null
     order by r.record_id limit $5`,
    [tx.tenantId, recordType, beforeId, after ?? '00000000-0000-0000-0000-000000000000', count],
  )
  return rows.map((row) => row.record_id)
}

/** The fields of a record that holds match, and the revision of its state. */
export interface OverdueRecord extends FilteredRecord {
  revision: number
}

/** Returns the fields of the records that holds match, in id order. */
export async function findHeld(tx: TenantTx, recordIds: readonly string[]): Promise<FilteredRecord[]> {
  const { rows } = await tx.client.query<FilteredRecord>(
    `select record_id, record_type, created_by, skill_id, archetype_id, user_id, event_kind
     from hub.records where tenant_id = $1 and record_id = any($2::uuid[]) order by record_id`,
    [tx.tenantId, recordIds],
  )
  return rows
}

/** Returns the records that are not purged, and locks their states until the transaction ends. */
export async function lockActive(tx: TenantTx, recordIds: readonly string[]): Promise<OverdueRecord[]> {
  if (recordIds.length === 0) return []
  // In id order, like all code that locks several records.
  await tx.client.query(
    `insert into hub.record_states (tenant_id, record_id, revision)
     select $1, id, 0 from unnest($2::uuid[]) as wanted (id) order by id on conflict (tenant_id, record_id) do nothing`,
    [tx.tenantId, recordIds],
  )
  await tx.client.query(
    `select from hub.record_states where tenant_id = $1 and record_id = any($2::uuid[]) order by record_id for update`,
    [tx.tenantId, recordIds],
  )
  const { rows } = await tx.client.query<OverdueRecord>(
    `select r.record_id, r.record_type, r.created_by, r.skill_id, r.archetype_id, r.user_id, r.event_kind, s.revision
     from hub.records r
     join hub.record_states s on s.tenant_id = $1 and s.record_id = r.record_id
     where r.tenant_id = $1 and r.record_id = any($2::uuid[]) and s.purged_at is null
     order by r.record_id`,
    [tx.tenantId, recordIds],
  )
  return rows
}

/**
 * Stores purges. Requires the locks of {@link lockActive}.
 *
 * @param eventOf the governance event of each purged record
 */
export async function savePurges(
  tx: TenantTx,
  purge: Omit<RecordState, 'revision' | 'event_id'>,
  eventOf: ReadonlyMap<string, string>,
): Promise<void> {
  await tx.client.query(
    `update hub.record_states s set revision = s.revision + 1, purged_at = $4, purged_by = $5, purge_reason = $6,
       hard_delete_after = $7, event_id = p.event_id, buffer_left_micros = null
     from unnest($2::uuid[], $3::uuid[]) as p (record_id, event_id)
     where s.tenant_id = $1 and s.record_id = p.record_id`,
    [
      tx.tenantId,
      [...eventOf.keys()],
      [...eventOf.values()],
      purge.purged_at,
      purge.purged_by,
      purge.purge_reason,
      purge.hard_delete_after,
    ],
  )
}
