import type { Config } from '../../../config.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { SignInUsers } from '../../roster/roster-types.ts'
import type { SignInMethod } from '../auth-types.ts'
import type { NamedSession } from './session-tokens.ts'
import { lockSession, type SessionRow, sessionById } from './sessions-store.ts'
import type { LiveSession } from './sessions-types.ts'

/** The sessions that go on: neither ended nor expired, of people who are active. */
export interface LiveSessions {
  find(tx: TenantTx, session: NamedSession): Promise<LiveSession | undefined>
  /** As `find`; whatever else would change it waits until the transaction ends. */
  lock(tx: TenantTx, session: NamedSession): Promise<LiveSession | undefined>
}

export function createLiveSessions(deps: {
  users: SignInUsers
  environment: Config['environment']
  now: () => number
}): LiveSessions {
  async function asLive(
    tx: TenantTx,
    { tenant, userId }: NamedSession,
    row: SessionRow | undefined,
  ): Promise<LiveSession | undefined> {
    if (!row || row.user_id !== userId || row.ended_at !== null) return undefined
    // As in a database that was taken over from staging: nobody proved anything there.
    if (row.method === 'mock' && deps.environment === 'production') return undefined
    const expiresAtMs = Date.parse(row.expires_at)
    // Tokens say whole seconds, and one of none would be of no use.
    if (expiresAtMs - deps.now() < 1000) return undefined
    const user = await deps.users.byId(tx, userId)
    if (!user?.active) return undefined
    return {
      tenant,
      sessionId: row.session_id,
      user,
      method: row.method as SignInMethod,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      expiresAtMs,
    }
  }

  return {
    find: async (tx, session) => asLive(tx, session, await sessionById(tx, session.sessionId)),
    lock: async (tx, session) => asLive(tx, session, await lockSession(tx, session.sessionId)),
  }
}
