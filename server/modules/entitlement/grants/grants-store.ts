import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'

export type GrantRow = Omit<TenantTables['hub.skill_grants'], 'tenant_id'>

/** That an archetype is granted a skill. */
export type GrantPair = Pick<GrantRow, 'archetype_id' | 'skill_id'>

const columns = 'archetype_id, skill_id, granted_at, cowork_id'
const pairs =
  '(select given.archetype_id, given.skill_id from unnest($2::text[], $3::text[]) as given (archetype_id, skill_id))'

function arraysOf(given: readonly GrantPair[]): [string[], string[]] {
  return [given.map((pair) => pair.archetype_id), given.map((pair) => pair.skill_id)]
}

/** Grants of any of the archetypes for any of the skills. */
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

/** Those that the pack gave. */
export async function grantsOfCowork(tx: TenantTx, coworkId: string): Promise<GrantRow[]> {
  const { rows } = await tx.client.query<GrantRow>(
    `select ${columns} from hub.skill_grants where tenant_id = $1 and cowork_id = $2`,
    [tx.tenantId, coworkId],
  )
  return rows
}

/** In the byte order of the skills. */
export async function grantsOfArchetype(tx: TenantTx, archetypeId: string): Promise<GrantRow[]> {
  const { rows } = await tx.client.query<GrantRow>(
    `select ${columns} from hub.skill_grants where tenant_id = $1 and archetype_id = $2 order by skill_id collate "C"`,
    [tx.tenantId, archetypeId],
  )
  return rows
}

/** In the byte order of archetype, then skill; a filter that is null takes all. */
export async function grantsAfter(
  tx: TenantTx,
  filter: { archetypeId: string | null; skillId: string | null },
  after: GrantPair,
  count: number,
): Promise<GrantRow[]> {
  const { rows } = await tx.client.query<GrantRow>(
    `select ${columns} from hub.skill_grants
     where tenant_id = $1 and ($2::text is null or archetype_id = $2) and ($3::text is null or skill_id = $3)
       and (archetype_id collate "C", skill_id collate "C") > ($4, $5)
     order by archetype_id collate "C", skill_id collate "C" limit $6`,
    [tx.tenantId, filter.archetypeId, filter.skillId, after.archetype_id, after.skill_id, count],
  )
  return rows
}

/** Leaves those that are there as they are. */
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

/** Another pack gives them from now on. */
export async function passGrants(tx: TenantTx, given: readonly GrantPair[], coworkId: string): Promise<void> {
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

/** Answers what they were. */
export async function deleteGrantsOfArchetypes(tx: TenantTx, archetypeIds: readonly string[]): Promise<GrantPair[]> {
  const { rows } = await tx.client.query<GrantPair>(
    `delete from hub.skill_grants where tenant_id = $1 and archetype_id = any($2::text[])
     returning archetype_id, skill_id`,
    [tx.tenantId, archetypeIds],
  )
  return rows
}
