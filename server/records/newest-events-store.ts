import type { TenantTx } from '../db/database.ts'

/**
 * Returns the ids of the newest events of each kind, the newest first. Each kind is one search of the index of kinds,
 * because the planner would otherwise scan all records in id order for rare kinds.
 *
 * @param wanted the kinds, the smallest id to return, and the maximum number for each kind
 */
export async function newestEvents(
  tx: TenantTx,
  wanted: { kinds: readonly string[]; fromId: string; perKind: number },
): Promise<string[]> {
  const { rows } = await tx.client.query<{ record_id: string }>(
    `select e.record_id
     from unnest($2::text[]) k(kind)
     cross join lateral (
       select r.record_id from hub.records r
       where r.tenant_id = $1 and r.event_kind is not null and r.event_kind = k.kind and r.record_id >= $3::uuid
       order by r.event_kind desc, r.record_id desc
       limit $4
     ) e
     order by e.record_id desc`,
    [tx.tenantId, wanted.kinds, wanted.fromId, wanted.perKind],
  )
  return rows.map(({ record_id }) => record_id)
}
