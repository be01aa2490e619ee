import type { TenantTx } from '../../db/database.ts'

/** A suggestion of one kind. */
export interface SuggestionRow {
  id: string
  label: string
}

/** Returns the pattern of LIKE for texts that contain this one. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}

/** Returns skills by id, and by name if the caller may read names. */
export async function findSkills(
  tx: TenantTx,
  pattern: string,
  withNames: boolean,
  count: number,
): Promise<SuggestionRow[]> {
  const { rows } = await tx.client.query<SuggestionRow>(
    `select s.skill_id as id, coalesce(v.name, s.skill_id) as label
     from hub.skills s
     left join lateral (
       select name from hub.skill_versions
       where tenant_id = $1 and skill_id = s.skill_id and $3::boolean and name is not null
       order by created_at desc limit 1
     ) v on true
     where s.tenant_id = $1 and (s.skill_id ilike $2 or v.name ilike $2)
     order by length(s.skill_id), s.skill_id limit $4`,
    [tx.tenantId, pattern, withNames, count],
  )
  return rows
}

/** Returns active people by name, address and id. */
export async function findPeople(tx: TenantTx, pattern: string, count: number): Promise<SuggestionRow[]> {
  const { rows } = await tx.client.query<SuggestionRow>(
    `select user_id as id, case when coalesce(display_name, '') = '' then coalesce(nullif(email, ''), user_id)
         when email = '' then display_name else display_name || ' (' || email || ')' end as label
     from hub.users
     where tenant_id = $1 and deactivated_at is null
       and (display_name ilike $2 or email ilike $2 or user_id ilike $2)
     order by 2, 1 limit $3`,
    [tx.tenantId, pattern, count],
  )
  return rows
}

/** Returns archetypes by id, and by name if the caller may read names. */
export async function findArchetypes(
  tx: TenantTx,
  pattern: string,
  withNames: boolean,
  count: number,
): Promise<SuggestionRow[]> {
  const { rows } = await tx.client.query<SuggestionRow>(
    `select archetype_id as id, case when $3::boolean then coalesce(name, archetype_id) else archetype_id end as label
     from hub.archetypes
     where tenant_id = $1 and (archetype_id ilike $2 or $3::boolean and name ilike $2)
     order by length(archetype_id), archetype_id limit $4`,
    [tx.tenantId, pattern, withNames, count],
  )
  return rows
}

/**
 * Returns the models of aggregated telemetry events. Days are compacted within seconds, so quarters are read of the
 * newest days only.
 *
 * @param from quarters since 1970
 */
export async function findModels(
  tx: TenantTx,
  pattern: string,
  from: { day: number; quarter: number },
  count: number,
): Promise<SuggestionRow[]> {
  const { rows } = await tx.client.query<SuggestionRow>(
    `select distinct llm_model as id, llm_model as label from hub.telemetry_rollups
     where tenant_id = $1 and view = 'model' and llm_model ilike $2
       and (grain = 'day' and first_quarter >= $3 or grain = 'quarter' and first_quarter >= $4)
     order by 1 limit $5`,
    [tx.tenantId, pattern, from.day, from.quarter, count],
  )
  return rows
}
