import type { TenantTx } from '../../../db/database.ts'

/*
 * Lists what an evidence pack has besides records, page by page. Each function requires a transaction of `inIndexOrder`
 * and continues behind the id `after`.
 */

/** A period, with the smallest record ids of both ends. */
export interface PackPeriod {
  from: string
  to: string
  firstId: string
  endId: string
}

export interface PackPerson {
  user_id: string
  role: string
  active: boolean
  created_at: string
  deactivated_at: string | null
  archetype_ids: string[]
}

/** Returns people without names and addresses. */
export async function peopleAfter(tx: TenantTx, after: string, count: number): Promise<PackPerson[]> {
  const { rows } = await tx.client.query<PackPerson>(
    `select user_id, role, deactivated_at is null as active, created_at, deactivated_at,
       array(select archetype_id from hub.user_archetypes a
         where a.tenant_id = $1 and a.user_id = u.user_id order by archetype_id) as archetype_ids
     from hub.users u where tenant_id = $1 and user_id > $2 order by user_id limit $3`,
    [tx.tenantId, after, count],
  )
  return rows
}

export interface PackHold {
  hold_id: string
  name: string
  reason: string
  filter: unknown
  record_count: number | null
  created_at: string
  created_by: string
  released_at: string | null
  released_by: string | null
  release_reason: string | null
}

/** Returns the holds that were in force at any time of the period. */
export async function holdsDuring(
  tx: TenantTx,
  { from, to }: PackPeriod,
  after: string,
  count: number,
): Promise<PackHold[]> {
  const { rows } = await tx.client.query<PackHold>(
    `select hold_id, name, reason, filter, record_count, created_at, created_by, released_at, released_by, release_reason
     from hub.legal_holds
     where tenant_id = $1 and hold_id > $2 and created_at < $4 and (released_at is null or released_at >= $3)
     order by hold_id limit $5`,
    [tx.tenantId, after, from, to, count],
  )
  return rows
}

export interface PackPurge {
  record_id: string
  record_type: string
  purged_at: string
  purged_by: string | null
  purge_reason: string | null
  hard_delete_after: string | null
}

/** Returns the records of the period that are purged and not yet erased. */
export async function purgedOf(
  tx: TenantTx,
  { firstId, endId }: PackPeriod,
  after: string,
  count: number,
): Promise<PackPurge[]> {
  const { rows } = await tx.client.query<PackPurge>(
    `select s.record_id, r.record_type, s.purged_at, s.purged_by, s.purge_reason, s.hard_delete_after
     from hub.record_states s join hub.records r on r.tenant_id = $1 and r.record_id = s.record_id
     where s.tenant_id = $1 and s.record_id > $2 and s.record_id >= $3 and s.record_id < $4 and s.purged_at is not null
     order by s.record_id limit $5`,
    [tx.tenantId, after, firstId, endId, count],
  )
  return rows
}

export interface PackErasure {
  record_id: string
  record_type: string
  erased_at: string
  purge_reason: string
}

/** Returns the records that were erased in the period, and those of the period that were erased later. */
export async function erasedOf(
  tx: TenantTx,
  { from, to, firstId, endId }: PackPeriod,
  after: string,
  count: number,
): Promise<PackErasure[]> {
  const { rows } = await tx.client.query<PackErasure>(
    `select record_id, record_type, erased_at, purge_reason from hub.tombstones
     where tenant_id = $1 and record_id > $2
       and ((erased_at >= $3 and erased_at < $4) or (record_id >= $5 and record_id < $6))
     order by record_id limit $7`,
    [tx.tenantId, after, from, to, firstId, endId, count],
  )
  return rows
}
