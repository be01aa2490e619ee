import type { Config } from '../../../config.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { SignInUsers } from '../../roster/roster-types.ts'
import type { SignInMethod } from '../auth-types.ts'
import type { NamedSession } from './session-tokens.ts'
import { lockSession, type SessionRow, sessionById } from './sessions-store.ts'
import type { LiveSession } from './sessions-types.ts'

/** Finds live sessions: neither ended nor expired, of active people. */
export interface LiveSessions {
  find(tx: TenantTx, session: NamedSession): Promise<LiveSession | undefined>
  /** Finds a session as `find` does, and locks it until the transaction ends. */
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
    // The client has not redeemed its authorization code.
    if (row.code_hash !== null) return undefined
    // A database copied from staging can hold mock sessions, which prove no identity.
    if (row.method === 'mock' && deps.environment === 'production') return undefined
    const expiresAtMs = Date.parse(row.expires_at)
    // Tokens expire at whole seconds, and a lifetime of zero is useless.
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
      ...(row.client_name !== null && { clientName: row.client_name }),
    }
  }

  return {
    find: async (tx, session) => asLive(tx, session, await sessionById(tx, session.sessionId)),
    lock: async (tx, session) => asLive(tx, session, await lockSession(tx, session.sessionId)),
  }
}
