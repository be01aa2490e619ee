import { erasureLockClass } from '../../db/advisory-locks.ts'
import type { TenantTx } from '../../db/database.ts'
import type { TenantTables } from '../../db/schema.ts'
import { lockTenant } from '../../db/tenant-lock.ts'
import type { RecordState } from '../../records/record-state-store.ts'
import { readTexts, storedText, textBytes } from '../../records/stored-text.ts'

/** A purged record whose recovery period is over, as found before any locking. */
export interface DueRecord {
  record_id: string
  hard_delete_after: string
  purged_at: string
  /** The governance event of its purge; null if absent. */
  event_id: string | null
  /** The length of its canonical text in bytes. */
  bytes: number
}

/** A record that may be erased, with everything that its erasure event and its tombstone need. */
export type ErasableRecord = Omit<TenantTables['hub.records'], 'tenant_id' | 'cost_micros'> & {
  /** The leaf of its seal at that index; null if the seal lacks it or is gone. */
  leaf: Buffer | null
}

export type PurgedState = Pick<RecordState, 'hard_delete_after' | 'event_id'> & {
  record_id: string
  purged_at: string
  purged_by: string
  purge_reason: string
}

export type Tombstone = Omit<TenantTables['hub.tombstones'], 'tenant_id'>

/** Limits a tenant to one erasing transaction at a time, until the transaction ends. */
export async function lockErasure(tx: TenantTx): Promise<void> {
  await lockTenant(tx, erasureLockClass)
}

/** Returns the next purged records whose recovery period ended by `until`. Requires a transaction of `inIndexOrder`. */
export async function findDue(
  tx: TenantTx,
  until: string,
  after: Pick<DueRecord, 'record_id' | 'hard_delete_after'> | undefined,
  count: number,
): Promise<DueRecord[]> {
  const { rows } = await tx.client.query<DueRecord>(
    `select s.record_id, s.hard_delete_after, s.purged_at, s.event_id, r.bytes
     from (
       select record_id, hard_delete_after, purged_at, event_id from hub.record_states
       where tenant_id = $1 and purged_at is not null and hard_delete_after <= $2
         and (hard_delete_after, record_id) > ($3::timestamptz, $4::uuid)
       order by hard_delete_after, record_id limit $5
     ) s
     cross join lateral (
       select ${textBytes('t')} as bytes from hub.records t where t.tenant_id = $1 and t.record_id = s.record_id offset 0
     ) r
     order by s.hard_delete_after, s.record_id`,
    [tx.tenantId, until, after?.hard_delete_after ?? '-infinity', after?.record_id ?? nil, count],
  )
  return rows
}

const nil = '00000000-0000-0000-0000-000000000000'

/** Returns the purged ones of the records in id order, and locks them until the transaction ends. */
export async function lockPurged(tx: TenantTx, recordIds: readonly string[]): Promise<PurgedState[]> {
  const { rows } = await tx.client.query<PurgedState>(
    `select record_id, purged_at, coalesce(purged_by, '') as purged_by, coalesce(purge_reason, '') as purge_reason,
       hard_delete_after, event_id
     from hub.record_states
     where tenant_id = $1 and record_id = any($2::uuid[]) and purged_at is not null
     order by record_id for update`,
    [tx.tenantId, recordIds],
  )
  return rows
}

/** Returns the stored ones of the records in id order. */
export async function findErasable(tx: TenantTx, recordIds: readonly string[]): Promise<ErasableRecord[]> {
  const { rows } = await tx.client.query<ErasableRecord>(
    `select r.record_id, r.record_type, r.created_by, r.skill_id, r.archetype_id, r.user_id, r.event_kind,
       ${storedText('r')} as canonical,
       r.seal_id, r.leaf_index, r.salt, r.provenance_hash, c.leaf
     from hub.records r
     left join lateral (
       select substr(leaves, 32 * r.leaf_index::integer + 1, 32) as leaf
       from hub.seals where tenant_id = $1 and seal_id = r.seal_id offset 0
     ) c on true
     where r.tenant_id = $1 and r.record_id = any($2::uuid[])
     order by r.record_id`,
    [tx.tenantId, recordIds],
  )
  readTexts(tx, rows)
  return rows
}

export async function findStored(tx: TenantTx, recordIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.client.query<{ record_id: string }>(
    'select record_id from hub.records where tenant_id = $1 and record_id = any($2::uuid[])',
    [tx.tenantId, recordIds],
  )
  return new Set(rows.map((row) => row.record_id))
}

export async function insertTombstones(tx: TenantTx, tombstones: readonly Tombstone[]): Promise<void> {
  if (tombstones.length === 0) return
  await tx.db
    .insertInto('hub.tombstones')
    .values(tombstones.map((tombstone) => ({ tenant_id: tx.tenantId, ...tombstone })))
    .execute()
}

/** Deletes records that have tombstones, with their links and states. Returns the number of deleted records. */
export async function eraseRecords(tx: TenantTx, recordIds: readonly string[]): Promise<number> {
  const { rows } = await tx.client.query<{ erased: number }>('select hub.erase_records($1, $2::uuid[]) as erased', [
    tx.tenantId,
    recordIds,
  ])
  return rows[0]!.erased
}

export async function findTombstone(tx: TenantTx, recordId: string): Promise<Tombstone | undefined> {
  return tx.db
    .selectFrom('hub.tombstones')
    .select(['record_id', 'record_type', 'seal_id', 'leaf_index', 'purged_at', 'purged_by', 'purge_reason'])
    .select(['purge_event_id', 'event_id', 'erased_at'])
    .where('tenant_id', '=', tx.tenantId)
    .where('record_id', '=', recordId)
    .executeTakeFirst()
}

/** Returns the given events that a tombstone or the state of a stored record depends on. */
export async function findReferencedEvents(
  tx: TenantTx,
  events: readonly { event_id: string; record_id: string }[],
): Promise<Set<string>> {
  if (events.length === 0) return new Set()
  const { rows } = await tx.client.query<{ event_id: string }>(
    `select e.event_id from unnest($2::uuid[], $3::uuid[]) as e (event_id, record_id)
     where exists (
         select from hub.tombstones t where t.tenant_id = $1 and t.record_id = e.record_id
           and (t.event_id = e.event_id or t.purge_event_id = e.event_id))
       or exists (
         select from hub.record_states s where s.tenant_id = $1 and s.record_id = e.record_id
           and s.event_id = e.event_id)`,
    [tx.tenantId, events.map((event) => event.event_id), events.map((event) => event.record_id)],
  )
  return new Set(rows.map((row) => row.event_id))
}

/**
 * Returns the given events that a hold, a release, the retention rules or the price list depend on. The newest event
 * about prices proves the list.
 *
 * @param events `about_id` is the hold or the record that the event is about; null for the tenant
 */
export async function findEventsRequiredByHolds(
  tx: TenantTx,
  events: readonly { event_id: string; about_id: string | null }[],
): Promise<Set<string>> {
  if (events.length === 0) return new Set()
  const { rows } = await tx.client.query<{ event_id: string }>(
    `select e.event_id from unnest($2::uuid[], $3::uuid[]) as e (event_id, about_id)
     where exists (
         select from hub.legal_holds h where h.tenant_id = $1 and h.hold_id = e.about_id
           and (h.event_id = e.event_id or h.release_event_id = e.event_id))
       or exists (
         select from hub.legal_hold_releases r where r.tenant_id = $1 and r.record_id = e.about_id
           and r.event_id = e.event_id)
       or exists (
         select from hub.retention_settings s where s.tenant_id = $1 and s.event_id = e.event_id)
       or (e.about_id is null and exists (
           select from hub.records r where r.tenant_id = $1 and r.record_id = e.event_id
             and r.event_kind = 'tenant.config_changed' and strpos(r.canonical, '"change":"prices"') > 0)
         and not exists (
           select from hub.records n where n.tenant_id = $1 and n.record_id > e.event_id
             and n.event_kind = 'tenant.config_changed' and strpos(n.canonical, '"change":"prices"') > 0))`,
    [tx.tenantId, events.map((event) => event.event_id), events.map((event) => event.about_id)],
  )
  return new Set(rows.map((row) => row.event_id))
}

/** Returns the type of a stored record, regardless of its state. */
export async function findType(tx: TenantTx, recordId: string): Promise<string | undefined> {
  const row = await tx.db
    .selectFrom('hub.records')
    .select('record_type')
    .where('tenant_id', '=', tx.tenantId)
    .where('record_id', '=', recordId)
    .executeTakeFirst()
  return row?.record_type
}

/** An event by which the sweeper verifies a row that grants access. */
export interface AccessEvidence {
  event_id: string
  subject: string
  /** A pattern that matches the text of a later event about the same subject that supersedes this one. */
  successor: string
}

/** Returns the events that no later event supersedes. Few events are released and purged, so each is looked up. */
export async function findReliedByAccess(tx: TenantTx, events: readonly AccessEvidence[]): Promise<Set<string>> {
  if (events.length === 0) return new Set()
  const { rows } = await tx.client.query<{ event_id: string }>(
    `select e.event_id from unnest($2::uuid[], $3::text[], $4::text[]) as e (event_id, subject, successor)
     where not exists (
       select from hub.records n where n.tenant_id = $1 and n.record_id > e.event_id
         and n.event_kind in ('connector.added', 'tenant.config_changed')
         and strpos(n.canonical, e.subject) > 0 and n.canonical ~ e.successor)`,
    [
      tx.tenantId,
      events.map((event) => event.event_id),
      events.map((event) => `"subject":${JSON.stringify(event.subject)}`),
      events.map((event) => event.successor),
    ],
  )
  return new Set(rows.map((row) => row.event_id))
}

/** Returns whether a record of the type with that id or a later one exists. Ignores the service's own records. */
export async function hasContentSince(tx: TenantTx, recordType: string, fromId: string): Promise<boolean> {
  const { rows } = await tx.client.query(
    `select 1 from hub.records
     where tenant_id = $1 and record_type = $2 and record_id >= $3 and created_by <> 'service:hub' limit 1`,
    [tx.tenantId, recordType, fromId],
  )
  return rows.length > 0
}
