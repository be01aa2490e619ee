import { LRUCache } from 'lru-cache'

/** Tenants whose sessions are remembered. */
const tenantsMax = 200
/** Maximum number of sessions of a tenant, so that no tenant displaces those of another. */
const sessionsMax = 1000
/** Milliseconds after which the last activation of a session no longer counts. */
const sessionMs = 24 * 3_600_000

/** The names that Claude Code sends instead of a skill's own, unless `OTEL_LOG_TOOL_DETAILS=1` is set. */
const masked: ReadonlySet<string> = new Set(['custom_skill', 'third-party'])

/** Returns the skill id, or undefined for a masked one. */
export function unmasked(skillId: string | undefined): string | undefined {
  return skillId !== undefined && masked.has(skillId) ? undefined : skillId
}

/** The last skill that each session of one tenant activated, as far as this process received it. */
export interface SessionSkills {
  /** Remembers a skill id; undefined makes the session's skill unknown. */
  activated(sessionId: string, skillId: string | undefined): void
  lastOf(sessionId: string): string | undefined
}

/** Remembers the skills of sessions, for each tenant on its own. */
export function createSessionSkills(): (tenantId: string) => SessionSkills {
  const tenants = new LRUCache<string, LRUCache<string, string>>({ max: tenantsMax })
  const create = (tenantId: string) => {
    const skills = new LRUCache<string, string>({ max: sessionsMax, ttl: sessionMs })
    tenants.set(tenantId, skills)
    return skills
  }
  return (tenantId) => ({
    activated(sessionId, skillId) {
      if (skillId === undefined) tenants.get(tenantId)?.delete(sessionId)
      else (tenants.get(tenantId) ?? create(tenantId)).set(sessionId, skillId)
    },
    lastOf: (sessionId) => tenants.get(tenantId)?.get(sessionId),
  })
}
