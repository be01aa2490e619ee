import type { FilteredRecord } from '../../../contract/record-filter.ts'
import type { TenantTx } from '../../db/database.ts'
import type { RecordState } from '../../records/record-state-store.ts'

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
