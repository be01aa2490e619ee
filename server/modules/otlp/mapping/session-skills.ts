import { LRUCache } from 'lru-cache'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import { type Database, readTenant } from '../../../db/database.ts'
import { type Activation, deleteSessionSkills, findSessionSkills, saveSessionSkills } from './session-skills-store.ts'

/** Maximum number of sessions that a process remembers. */
const sessionsMax = 20_000
/** Milliseconds after which a session is looked up again, because another process may have received an activation. */
const freshMs = 5000
/** Milliseconds after which the last activation of a session no longer counts. */
const sessionMs = 24 * 3_600_000

/** The names that Claude Code sends instead of a skill's own, unless `OTEL_LOG_TOOL_DETAILS=1` is set. */
const masked: ReadonlySet<string> = new Set(['custom_skill', 'third-party'])

const none: Activation = { skillId: null, at: '' }

/** Returns the skill id, or undefined for a masked one. */
export function unmasked(skillId: string | undefined): string | undefined {
  return skillId !== undefined && masked.has(skillId) ? undefined : skillId
}

/** The last skills that sessions activated, for one request. */
export interface SessionSkills {
  /** Notes a skill and the time of its activation; undefined makes the session's skill unknown. */
  activated(sessionId: string, skillId: string | undefined, at: string): void
  lastOf(sessionId: string): string | undefined
  /** Saves what was activated, for all processes. */
  save(): Promise<void>
}

/**
 * Reads the last activated skills of the sessions of a tenant: in one statement, and none if this process knows all of
 * them since less than five seconds.
 */
export type ReadSessionSkills = (tenantId: string, sessionIds: ReadonlySet<string>) => Promise<SessionSkills>

export function createSessionSkills(database: Database): ReadSessionSkills {
  const known = new LRUCache<string, Activation & { readAt: number }>({ max: sessionsMax })
  const expired = () => formatTimestamp(Date.now() - sessionMs)

  /** Returns the time if it is in the last day; else now, because the sender's clock is wrong. */
  function trusted(at: string): string {
    const now = formatTimestamp(Date.now())
    return at > expired() && at < now ? at : now
  }

  return async (tenantId, sessionIds) => {
    const keyOf = (sessionId: string) => `${tenantId} ${sessionId}`
    const remember = (sessionId: string, activation: Activation) =>
      known.set(keyOf(sessionId), { ...activation, readAt: Date.now() })
    const isStale = (id: string) => Date.now() - (known.get(keyOf(id))?.readAt ?? 0) >= freshMs
    const stale = [...sessionIds].filter(isStale)
    if (stale.length > 0) {
      const found = await readTenant(database, tenantId, (tx) => findSessionSkills(tx, stale, expired()))
      for (const id of stale) remember(id, found.get(id) ?? none)
    }
    const last = new Map([...sessionIds].map((id) => [id, known.get(keyOf(id)) ?? none]))
    const activated = new Map<string, Activation>()
    return {
      activated(sessionId, skillId, at) {
        const activation = { skillId: skillId ?? null, at: trusted(at) }
        if (activation.at < (last.get(sessionId) ?? none).at) return
        last.set(sessionId, activation)
        activated.set(sessionId, activation)
      },
      lastOf: (sessionId) => last.get(sessionId)?.skillId ?? undefined,
      async save() {
        if (activated.size === 0) return
        const saved = await database.withTenant(tenantId, async (tx) => {
          await deleteSessionSkills(tx, expired())
          return saveSessionSkills(tx, activated)
        })
        for (const [id, activation] of activated) {
          if (saved.has(id)) remember(id, activation)
          else known.delete(keyOf(id))
        }
      },
    }
  }
}
