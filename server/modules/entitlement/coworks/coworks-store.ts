import { coworkPageBytesMax } from '../../../../contract/limits.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'
import type { Application, CoworkSkill } from './coworks-types.ts'

/** A stored skill. In Mode B everything except id and version is encrypted, and the name is empty. */
export type StoredSkill = CoworkSkill & { sealed?: string }

type StoredCowork = Omit<TenantTables['hub.coworks'], 'tenant_id' | 'applied_by'>
export type CoworkRow = StoredCowork & { skills: StoredSkill[]; application: Application | null }

const columns = 'cowork_id, name, skills, archetype_ids, created_at, updated_at, applied_at'

export async function coworkRow(tx: TenantTx, coworkId: string): Promise<CoworkRow | undefined> {
  const { rows } = await tx.client.query<CoworkRow>(
    `select ${columns}, application from hub.coworks where tenant_id = $1 and cowork_id = $2`,
    [tx.tenantId, coworkId],
  )
  return rows[0]
}

/**
 * Returns packs in the byte order of their ids, and whether more follow. Returns fewer than `count` if their text is
 * too long, but at least one.
 */
export async function coworksAfter(
  tx: TenantTx,
  after: string,
  count: number,
): Promise<{ rows: Omit<CoworkRow, 'application'>[]; more: boolean }> {
  const { rows } = await tx.client.query<Omit<CoworkRow, 'application'>>(
    `select ${columns} from (
       select ${columns}, sum(octet_length(skills::text)) over (order by cowork_id collate "C") as bytes,
         row_number() over (order by cowork_id collate "C") as place
       from (
         select ${columns} from hub.coworks
         where tenant_id = $1 and cowork_id collate "C" > $2 order by cowork_id collate "C" limit $3
       ) page
     ) counted
     where place = 1 or bytes <= $4
     order by place`,
    [tx.tenantId, after, count, coworkPageBytesMax],
  )
  const last = rows.at(-1)
  return { rows, more: last !== undefined && (await hasCoworkAfter(tx, last.cowork_id)) }
}

async function hasCoworkAfter(tx: TenantTx, after: string): Promise<boolean> {
  const { rows } = await tx.client.query(
    'select 1 from hub.coworks where tenant_id = $1 and cowork_id collate "C" > $2 limit 1',
    [tx.tenantId, after],
  )
  return rows.length > 0
}

export async function putCowork(
  tx: TenantTx,
  cowork: {
    coworkId: string
    name: string
    skills: readonly StoredSkill[]
    archetypeIds: readonly string[]
    now: string
  },
): Promise<void> {
  await tx.client.query(
    `insert into hub.coworks (tenant_id, cowork_id, name, skills, archetype_ids, created_at, updated_at)
     values ($1, $2, $3, $4::json, $5, $6, $6)
     on conflict (tenant_id, cowork_id) do update set name = excluded.name, skills = excluded.skills,
       archetype_ids = excluded.archetype_ids, updated_at = excluded.updated_at`,
    [tx.tenantId, cowork.coworkId, cowork.name, JSON.stringify(cowork.skills), cowork.archetypeIds, cowork.now],
  )
}

/** Returns the contents of other packs at their last application. */
export async function otherApplications(
  tx: TenantTx,
  coworkId: string,
): Promise<{ cowork_id: string; archetype_ids: string[]; skill_ids: string[] }[]> {
  const { rows } = await tx.client.query<{ cowork_id: string; archetype_ids: string[]; skill_ids: string[] }>(
    `select cowork_id, application -> 'archetype_ids' as archetype_ids, application -> 'skill_ids' as skill_ids
     from hub.coworks where tenant_id = $1 and cowork_id <> $2 and application is not null
     order by cowork_id collate "C"`,
    [tx.tenantId, coworkId],
  )
  return rows
}

export async function setApplication(
  tx: TenantTx,
  applied: { coworkId: string; by: string; now: string; application: Application },
): Promise<void> {
  await tx.client.query(
    `update hub.coworks set applied_at = $3, applied_by = $4, application = $5::json
     where tenant_id = $1 and cowork_id = $2`,
    [tx.tenantId, applied.coworkId, applied.now, applied.by, JSON.stringify(applied.application)],
  )
}

/** Returns the packs that contain any of the versions. */
export async function coworksNaming(
  tx: TenantTx,
  versions: readonly { skill_id: string; skill_version: string }[],
): Promise<{ cowork_id: string; skills: StoredSkill[] }[]> {
  const { rows } = await tx.client.query<{ cowork_id: string; skills: StoredSkill[] }>(
    `select cowork_id, skills from hub.coworks
     where tenant_id = $1 and exists (
       select from jsonb_array_elements($2::jsonb) as gone (version) where skills::jsonb @> jsonb_build_array(gone.version))
     order by cowork_id collate "C"`,
    [tx.tenantId, JSON.stringify(versions)],
  )
  return rows
}

export async function setSkills(tx: TenantTx, coworkId: string, skills: readonly StoredSkill[]): Promise<void> {
  await tx.client.query('update hub.coworks set skills = $3::json where tenant_id = $1 and cowork_id = $2', [
    tx.tenantId,
    coworkId,
    JSON.stringify(skills),
  ])
}
