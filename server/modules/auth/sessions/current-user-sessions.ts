import { DomainError } from '../../../../contract/domain-error.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { JsonValue } from '../../../../provenance/json.ts'
import { type Database, readTenant, type TenantTx } from '../../../db/database.ts'
import type { Actor, GovernanceLog } from '../../governance/governance-types.ts'
import type { Me } from '../auth-types.ts'
import { webClientId } from '../tokens/token-issuer.ts'
import type { SessionAuthenticator } from './session-authenticator.ts'
import type { SessionEnds } from './session-ends.ts'
import { pageOfSessions } from './session-pages.ts'
import { liveSessionsOf, type SessionRow, sessionById } from './sessions-store.ts'
import type { LiveSession, SessionCall, SessionService } from './sessions-types.ts'

interface OwnSessionsDeps {
  database: Database
  governance: GovernanceLog
  ends: SessionEnds
  admission: SessionAuthenticator
  cursorKey: Buffer
  /** Returns the name of a service account. */
  accountName: (tx: TenantTx, clientId: string) => Promise<string | undefined>
  now: () => number
}

interface LogOut extends Record<string, JsonValue> {
  session_id: string
  everywhere: boolean
}

/** Shows people their own sessions and ends them. */
export function createCurrentUserSessions(
  deps: OwnSessionsDeps,
): Pick<SessionService, 'me' | 'list' | 'end' | 'logOut'> {
  const { database, ends, admission, cursorKey, now } = deps

  const actorOf = ({ user, sessionId, clientName }: LiveSession, { address, requestId }: SessionCall): Actor => ({
    ...{ subject: user.userId, clientId: webClientId, address, requestId, sessionId },
    ...(clientName !== undefined && { clientName }),
  })

  /** Writes the event of the end of a browser's session. That of an authorization is written with its end. */
  async function noteLogOut(tx: TenantTx, by: LiveSession, call: SessionCall, details: LogOut): Promise<void> {
    const subject = `user:${by.user.userId}`
    await deps.governance.append(tx, by.tenant, { kind: 'auth.logout', subject, details, actor: actorOf(by, call) })
  }

  return {
    async me(call, credentials) {
      const signedIn = await admission.bySignIn(call, credentials)
      if (signedIn.kind === 'person') return personOf(signedIn.session, signedIn.scopes)
      const { tenant, claims } = signedIn
      const name = await readTenant(database, tenant.slug, (tx) => deps.accountName(tx, claims.clientId))
      return {
        kind: 'service_account',
        subject: claims.subject,
        tenant: tenant.slug,
        scopes: [...claims.scopes],
        client_id: claims.clientId,
        ...(name !== undefined && { name }),
      }
    },

    async list(call, credentials, query) {
      const signedIn = await admission.bySignIn(call, credentials)
      if (signedIn.kind === 'account') return { items: [], next_cursor: null }
      const { session } = signedIn
      const { tenant, user, sessionId } = session
      const binding = { tenant: tenant.slug, operation: 'listSessions', query: { user: user.userId } }
      return pageOfSessions({ cursorKey, binding, query, currentId: sessionId }, (position) =>
        readTenant(database, tenant.slug, (tx) =>
          visibleSessions(tx, session, { now: formatTimestamp(now()), ...position }),
        ),
      )
    },

    async end(call, credentials, sessionId) {
      const signedIn = await admission.bySignIn(call, credentials)
      if (signedIn.kind === 'account') throw noSuchSession()
      const by = signedIn.session
      await database.withTenant(by.tenant.slug, async (tx) => {
        const row = await sessionById(tx, sessionId)
        const isOwn = row?.user_id === by.user.userId && (by.clientName === undefined || sessionId === by.sessionId)
        const cause = { actor: actorOf(by, call), reason: 'requested' } as const
        const ended = isOwn ? await ends.end(tx, by.tenant, sessionId, cause) : undefined
        if (!ended) throw noSuchSession()
        if (ended.client_name === null) await noteLogOut(tx, by, call, { session_id: sessionId, everywhere: false })
      })
      return { current: sessionId === by.sessionId }
    },

    async logOut(call, credentials, everywhere) {
      for (const by of await admission.byAnything(call, credentials)) {
        await database.withTenant(by.tenant.slug, async (tx) => {
          const { tenant, sessionId, user } = by
          const actor = actorOf(by, call)
          const ended = await ends.end(tx, tenant, sessionId, { actor, reason: 'requested' })
          // A client ends its own authorization and nothing else of the person.
          if (ended?.client_name !== null) return
          if (everywhere) await ends.endAll(tx, tenant, user.userId, { actor, reason: 'signed_out_everywhere' })
          await noteLogOut(tx, by, call, { session_id: sessionId, everywhere })
        })
      }
    },
  }
}

/** Returns a page of sessions. An authorized client sees its own authorization only. */
async function visibleSessions(
  tx: TenantTx,
  { user, sessionId, clientName }: LiveSession,
  page: Parameters<typeof liveSessionsOf>[2],
): Promise<SessionRow[]> {
  if (clientName === undefined) return liveSessionsOf(tx, user.userId, page)
  const own = page.before === undefined ? await sessionById(tx, sessionId) : undefined
  return own ? [own] : []
}

function personOf({ tenant, user, sessionId, method, createdAt, expiresAt }: LiveSession, scopes: Me['scopes']): Me {
  return {
    kind: 'user',
    subject: user.userId,
    tenant: tenant.slug,
    scopes,
    user_id: user.userId,
    email: user.email,
    ...(user.displayName !== null && { display_name: user.displayName }),
    role: user.role,
    session: { session_id: sessionId, method, created_at: createdAt, expires_at: expiresAt },
  }
}

/** Creates the error for a session that has ended or belongs to somebody else. Both get the same text. */
function noSuchSession(): DomainError {
  return new DomainError('not-found', 'You have no active session with this id.')
}
