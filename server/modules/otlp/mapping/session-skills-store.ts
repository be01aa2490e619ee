import type { TenantTx } from '../../../db/database.ts'

/** Expired rows that one statement deletes. */
const expiredAtOnce = 1000

/** A skill that a session activated, null for a masked one, and when. */
export interface Activation {
  skillId: string | null
  at: string
}

/** Returns the last activations by session, of those since `since`. */
export async function findSessionSkills(
  tx: TenantTx,
  sessionIds: readonly string[],
  since: string,
): Promise<Map<string, Activation>> {
  const { rows } = await tx.client.query<{ session_id: string; skill_id: string | null; activated_at: string }>(
    `select session_id, skill_id, activated_at from hub.session_skills
      where tenant_id = $1 and session_id = any($2::text[]) and activated_at >= $3`,
    [tx.tenantId, sessionIds, since],
  )
  return new Map(rows.map(({ session_id, skill_id, activated_at: at }) => [session_id, { skillId: skill_id, at }]))
}

/**
 * Saves activations by session, and returns the sessions without a later one, which are saved. Locks their rows in one
 * order, so that writers do not block each other.
 */
export async function saveSessionSkills(
  tx: TenantTx,
  activations: ReadonlyMap<string, Activation>,
): Promise<Set<string>> {
  const sorted = [...activations].sort(([a], [b]) => (a < b ? -1 : 1))
  const { rows } = await tx.client.query<{ session_id: string }>(
    `insert into hub.session_skills (tenant_id, session_id, skill_id, activated_at)
      select $1, session_id, skill_id, activated_at
        from unnest($2::text[], $3::text[], $4::timestamptz[]) as activated (session_id, skill_id, activated_at)
      on conflict (tenant_id, session_id) do update
        set skill_id = excluded.skill_id, activated_at = excluded.activated_at
        where excluded.activated_at >= session_skills.activated_at
      returning session_id`,
    [
      tx.tenantId,
      sorted.map(([sessionId]) => sessionId),
      sorted.map(([, { skillId }]) => skillId),
      sorted.map(([, { at }]) => at),
    ],
  )
  return new Set(rows.map(({ session_id }) => session_id))
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
