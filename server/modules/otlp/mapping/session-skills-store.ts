import type { TenantTx } from '../../../db/database.ts'

/** Expired rows that one statement deletes. */
const expiredAtOnce = 1000

/** Returns the last activated skills by session, null for a masked one, of those activated since `since`. */
export async function findSessionSkills(
  tx: TenantTx,
  sessionIds: readonly string[],
  since: string,
): Promise<Map<string, string | null>> {
  const { rows } = await tx.client.query<{ session_id: string; skill_id: string | null }>(
    `select session_id, skill_id from hub.session_skills
      where tenant_id = $1 and session_id = any($2::text[]) and activated_at >= $3`,
    [tx.tenantId, sessionIds, since],
  )
  return new Map(rows.map(({ session_id, skill_id }) => [session_id, skill_id]))
}

/** Saves the last activated skills by session. Locks their rows in one order, so that writers do not block each other. */
export async function saveSessionSkills(
  tx: TenantTx,
  skills: ReadonlyMap<string, string | null>,
  now: string,
): Promise<void> {
  const sorted = [...skills].sort(([a], [b]) => (a < b ? -1 : 1))
  await tx.client.query(
    `insert into hub.session_skills (tenant_id, session_id, skill_id, activated_at)
      select $1, session_id, skill_id, $4 from unnest($2::text[], $3::text[]) as activated (session_id, skill_id)
      on conflict (tenant_id, session_id) do update
        set skill_id = excluded.skill_id, activated_at = excluded.activated_at`,
    [tx.tenantId, sorted.map(([sessionId]) => sessionId), sorted.map(([, skillId]) => skillId), now],
  )
}

/** Deletes sessions of the tenant that activated nothing since `since`, unless another writer holds them. */
export async function deleteSessionSkills(tx: TenantTx, since: string): Promise<void> {
  await tx.client.query(
    `delete from hub.session_skills where tenant_id = $1 and session_id in (
      select session_id from hub.session_skills where tenant_id = $1 and activated_at < $2
        order by activated_at limit ${expiredAtOnce} for update skip locked)`,
    [tx.tenantId, since],
  )
}
