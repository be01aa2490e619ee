import { hash } from 'node:crypto'
import { sessionHours } from '../../../../contract/limits.ts'
import { roles } from '../../../../contract/roles.ts'
import type { Scope } from '../../../../contract/scopes.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import type { LiveSessions } from '../sessions/live-sessions.ts'
import { newSessionId } from '../sessions/session-tokens.ts'
import { insertSession } from '../sessions/sessions-store.ts'
import { type LiveSession, SessionEndedError } from '../sessions/sessions-types.ts'
import { webClientId } from '../tokens/token-issuer.ts'
import { type AuthorizationRequest, responseTo } from './authorization-request.ts'
import { type ClientTokens, type CodeGrant, hashOf } from './client-tokens.ts'
import { hostOf } from './redirect-uris.ts'

const userAgentLengthMax = 512

/** The browser in which a person decided. */
export interface ConsentVisitor {
  address: string
  requestId: string
  userAgent: string | undefined
}

/** Records the consent of people. */
export interface ClientAuthorizations {
  /**
   * Grants the scopes to the client and returns the address of the response, with a code. Throws
   * {@link SessionEndedError} if the session of the person ended meanwhile.
   */
  approve(
    asked: AuthorizationRequest,
    by: LiveSession,
    scopes: readonly Scope[],
    visitor: ConsentVisitor,
  ): Promise<string>
}

/**
 * Returns the scopes that a person of a role may grant to an agent: those of the role except `connector:admin`. With it, an
 * agent could set the identity provider or create service accounts, and so outlive the end of its authorization.
 */
export function grantableScopes(role: LiveSession['user']['role']): Scope[] {
  const ofRole: readonly Scope[] = roles[role]
  return ofRole.filter((scope) => scope !== 'connector:admin')
}

/** Returns the requested scopes that the person may grant. */
export function offeredScopes({ scopes }: AuthorizationRequest, { user }: LiveSession): Scope[] {
  return grantableScopes(user.role).filter((scope) => scopes.includes(scope))
}

export function createClientAuthorizations(deps: {
  database: Database
  live: LiveSessions
  codes: Pick<ClientTokens, 'signCode'>
  governance: GovernanceLog
  now: () => number
}): ClientAuthorizations {
  const { database, live, codes, governance, now } = deps

  async function store(
    tx: TenantTx,
    { client, redirectUri }: AuthorizationRequest,
    by: LiveSession,
    granted: { sessionId: string; code: string; scopes: readonly Scope[] },
    { address, requestId, userAgent }: ConsentVisitor,
  ): Promise<void> {
    const createdAtMs = now()
    const { tenant, user } = by
    await insertSession(
      tx,
      {
        session_id: granted.sessionId,
        user_id: user.userId,
        method: by.method,
        connection_id: null,
        address,
        user_agent: userAgent?.slice(0, userAgentLengthMax) || null,
        created_at: formatTimestamp(createdAtMs),
        expires_at: formatTimestamp(Math.floor(createdAtMs / 1000) * 1000 + sessionHours * 3_600_000),
      },
      { client_name: client.name, code_hash: codeHash(granted.code) },
    )
    await governance.append(tx, tenant, {
      kind: 'auth.client_authorized',
      subject: `user:${user.userId}`,
      details: {
        session_id: granted.sessionId,
        client_name: client.name,
        redirect_host: hostOf(redirectUri),
        scopes: [...granted.scopes],
      },
      actor: { subject: user.userId, clientId: webClientId, address, requestId },
    })
  }

  return {
    async approve(asked, by, scopes, visitor) {
      const sessionId = newSessionId()
      const { client, redirectUri, resource, codeChallenge } = asked
      const { tenant, user } = by
      const grant: CodeGrant = {
        tenant,
        userId: user.userId,
        sessionId,
        client: hashOf(client.clientId),
        redirect: hashOf(redirectUri),
        scopes,
        resource,
        codeChallenge,
      }
      const code = await codes.signCode(grant, now())
      await database.withTenant(tenant.slug, async (tx) => {
        // The lock orders this with the end of the session, such as by a deactivation.
        const person = await live.lock(tx, { tenant, sessionId: by.sessionId, userId: user.userId })
        if (!person) throw new SessionEndedError()
        await store(tx, asked, by, { sessionId, code, scopes }, visitor)
      })
      return responseTo(asked, { code })
    },
  }
}

/** Returns the stored form of an authorization code. */
export function codeHash(code: string): Buffer {
  return hash('sha256', code, 'buffer')
}
