import type { TenantTx } from '../../../db/database.ts'
import { openName } from '../entitlement-store.ts'

/** A published version of a published skill. */
export interface PublishedVersionRow {
  skill_id: string
  skill_version: string
  /** Null once its record is erased. */
  name: string | null
  record_id: string
}

/** Returns published versions by skill id in byte order, the most recently registered version of each skill first. */
export async function publishedVersions(tx: TenantTx): Promise<PublishedVersionRow[]> {
  const { rows } = await tx.client.query<PublishedVersionRow>(
    `select v.skill_id, v.skill_version, v.name, v.record_id
     from hub.skills s join hub.skill_versions v on v.tenant_id = $1 and v.skill_id = s.skill_id
     where s.tenant_id = $1 and s.state = 'published' and v.state = 'published'
     order by v.skill_id collate "C", v.created_at desc, v.record_id desc`,
    [tx.tenantId],
  )
  return rows.map((row) => ({ ...row, name: openName(tx, row) }))
}

/** Returns the grants of published skills in the byte order of the archetypes. */
export async function grantsOfPublished(tx: TenantTx): Promise<{ skill_id: string; archetype_id: string }[]> {
  const { rows } = await tx.client.query<{ skill_id: string; archetype_id: string }>(
    `select g.skill_id, g.archetype_id
     from hub.skills s join hub.skill_grants g on g.tenant_id = $1 and g.skill_id = s.skill_id
     where s.tenant_id = $1 and s.state = 'published'
     order by g.archetype_id collate "C"`,
    [tx.tenantId],
  )
  return rows
}

/** Counts published skills, those granted to some archetype, and their grants. */
export async function countPublished(tx: TenantTx): Promise<{ published: number; granted: number; grants: number }> {
  const { rows } = await tx.client.query<{ published: number; granted: number; grants: number }>(
    `select count(distinct s.skill_id)::int as published, count(distinct g.skill_id)::int as granted,
       count(g.skill_id)::int as grants
     from hub.skills s left join hub.skill_grants g on g.tenant_id = $1 and g.skill_id = s.skill_id
     where s.tenant_id = $1 and s.state = 'published'`,
    [tx.tenantId],
  )
  return rows[0]!
}
