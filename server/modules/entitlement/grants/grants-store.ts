import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'
import { openName, type VersionRow } from '../entitlement-store.ts'

export type GrantRow = Omit<TenantTables['hub.skill_grants'], 'tenant_id'>

export type GrantPair = Pick<GrantRow, 'archetype_id' | 'skill_id'>

const columns = 'archetype_id, skill_id, granted_at, cowork_id'
const pairs =
  '(select given.archetype_id, given.skill_id from unnest($2::text[], $3::text[]) as given (archetype_id, skill_id))'

function arraysOf(given: readonly GrantPair[]): [string[], string[]] {
  return [given.map((pair) => pair.archetype_id), given.map((pair) => pair.skill_id)]
}

/** Returns the grants between these archetypes and skills. */
export async function grantsBetween(
  tx: TenantTx,
  archetypeIds: readonly string[],
  skillIds: readonly string[],
): Promise<GrantRow[]> {
  const { rows } = await tx.client.query<GrantRow>(
    `select ${columns} from hub.skill_grants
     where tenant_id = $1 and archetype_id = any($2::text[]) and skill_id = any($3::text[])`,
    [tx.tenantId, archetypeIds, skillIds],
  )
  return rows
}

export async function grantsOfCowork(tx: TenantTx, coworkId: string): Promise<GrantRow[]> {
  const { rows } = await tx.client.query<GrantRow>(
    `select ${columns} from hub.skill_grants where tenant_id = $1 and cowork_id = $2`,
    [tx.tenantId, coworkId],
  )
  return rows
}

/** Returns the grants of an archetype in the byte order of the skills. */
export async function grantsOfArchetype(tx: TenantTx, archetypeId: string): Promise<GrantRow[]> {
  const { rows } = await tx.client.query<GrantRow>(
    `select ${columns} from hub.skill_grants where tenant_id = $1 and archetype_id = $2 order by skill_id collate "C"`,
    [tx.tenantId, archetypeId],
  )
  return rows
}

/** Returns grants in the byte order of archetype, then skill. */
export async function grantsAfter(
  tx: TenantTx,
  filter: { archetype_id?: string; skill_id?: string },
  after: readonly [archetypeId: string, skillId: string] = ['', ''],
  count: number,
): Promise<GrantRow[]> {
  const { rows } = await tx.client.query<GrantRow>(
    `select ${columns} from hub.skill_grants
     where tenant_id = $1 and ($2::text is null or archetype_id = $2) and ($3::text is null or skill_id = $3)
       and (archetype_id collate "C", skill_id collate "C") > ($4, $5)
     order by archetype_id collate "C", skill_id collate "C" limit $6`,
    [tx.tenantId, filter.archetype_id ?? null, filter.skill_id ?? null, ...after, count],
  )
  return rows
}

/** Inserts grants; existing ones stay unchanged. */
export async function insertGrants(
  tx: TenantTx,
  given: readonly GrantPair[],
  grant: { coworkId: string | null; now: string },
): Promise<void> {
  await tx.client.query(
    `insert into hub.skill_grants (tenant_id, archetype_id, skill_id, granted_at, cowork_id)
     select $1, given.archetype_id, given.skill_id, $4::timestamptz, $5::text
     from unnest($2::text[], $3::text[]) as given (archetype_id, skill_id)
     on conflict (tenant_id, archetype_id, skill_id) do nothing`,
    [tx.tenantId, ...arraysOf(given), grant.now, grant.coworkId],
  )
}

/** Assigns grants to another pack. */
export async function reassignGrants(tx: TenantTx, given: readonly GrantPair[], coworkId: string): Promise<void> {
  await tx.client.query(
    `update hub.skill_grants set cowork_id = $4 where tenant_id = $1 and (archetype_id, skill_id) in ${pairs}`,
    [tx.tenantId, ...arraysOf(given), coworkId],
  )
}

export async function deleteGrants(tx: TenantTx, given: readonly GrantPair[]): Promise<void> {
  await tx.client.query(`delete from hub.skill_grants where tenant_id = $1 and (archetype_id, skill_id) in ${pairs}`, [
    tx.tenantId,
    ...arraysOf(given),
  ])
}

export async function deleteGrantsOfArchetypes(tx: TenantTx, archetypeIds: readonly string[]): Promise<GrantPair[]> {
  const { rows } = await tx.client.query<GrantPair>(
    `delete from hub.skill_grants where tenant_id = $1 and archetype_id = any($2::text[])
     returning archetype_id, skill_id`,
    [tx.tenantId, archetypeIds],
  )
  return rows
}

export type PublishedVersionRow = Pick<VersionRow, 'skill_id' | 'skill_version' | 'name' | 'record_id'>

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
