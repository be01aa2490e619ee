import { DomainError } from '../../../../contract/domain-error.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import { type Database, readTenant } from '../../../db/database.ts'
import type { Caller } from '../../../http/caller.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import type { SignInUsers } from '../../roster/roster-types.ts'
import type { SessionEnds } from './session-ends.ts'
import { pageOfSessions, type SessionPageQuery } from './session-pages.ts'
import { liveSessionsOf, sessionById } from './sessions-store.ts'
import type { SessionPage } from './sessions-types.ts'

/** Shows administrators the sessions of a person, and ends them. */
export interface UserSessions {
  /** Throws `not-found` for an unknown person. */
  list(caller: Caller, userId: string, query: SessionPageQuery): Promise<SessionPage>
  /** Throws `not-found` unless it is an active session of the person. */
  end(caller: Caller, userId: string, sessionId: string): Promise<void>
}

export function createUserSessions(deps: {
  database: Database
  users: SignInUsers
  governance: GovernanceLog
  ends: SessionEnds
  cursorKey: Buffer
  now?: () => number
}): UserSessions {
  const { database, users, governance, ends, cursorKey, now = () => Date.now() } = deps
  return {
    list({ tenant, sessionId }, userId, query) {
      const binding = { tenant: tenant.slug, operation: 'listUserSessions', query: { user: userId } }
      return pageOfSessions({ cursorKey, binding, query, currentId: sessionId }, (position) =>
        readTenant(database, tenant.slug, async (tx) => {
          if (!(await users.byId(tx, userId))) throw new DomainError('not-found', 'No user has this id.')
          return liveSessionsOf(tx, userId, { now: formatTimestamp(now()), ...position })
        }),
      )
    },

    async end(caller, userId, sessionId) {
      const { tenant } = caller
      await database.withTenant(tenant.slug, async (tx) => {
        const isTheirs = (await sessionById(tx, sessionId))?.user_id === userId
        const cause = { actor: caller, reason: 'requested' } as const
        const ended = isTheirs ? await ends.end(tx, tenant, sessionId, cause) : undefined
        if (!ended) throw new DomainError('not-found', 'The user has no active session with this id.')
        if (ended.client_name !== null) return
        const details = { session_id: sessionId, everywhere: false }
        await governance.append(tx, tenant, { kind: 'auth.logout', subject: `user:${userId}`, details, actor: caller })
      })
    },
  }
}
