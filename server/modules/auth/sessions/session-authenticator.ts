import { DomainError, invalidTenant } from '../../../../contract/domain-error.ts'
import { roles } from '../../../../contract/roles.ts'
import { type Database, readTenant } from '../../../db/database.ts'
import { type AccessControl, agentDetails, isServedAt, type Tenant } from '../../../http/caller.ts'
import type { DenialRecorder } from '../../governance/governance-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { LiveSessions } from './live-sessions.ts'
import type { NamedSession, SessionTokens } from './session-tokens.ts'
import {
  type Credentials,
  type LiveSession,
  type SessionCall,
  SessionEndedError,
  type SignedIn,
} from './sessions-types.ts'

interface AdmissionDeps {
  database: Database
  directory: TenantDirectory
  live: LiveSessions
  denials: DenialRecorder
  authenticate: AccessControl['authenticate']
  tokens: SessionTokens
  now: () => number
}

/**
 * Authenticates calls, and charges admitted ones to their session or account. All methods throw
 * `authentication-failed`, `invalid-tenant` and the errors of the charge.
 */
export interface SessionAuthenticator {
  byCookie(call: SessionCall, sessionToken: string | undefined): Promise<LiveSession>
  /** Authenticates by the session that another token of this service names. */
  byName(call: SessionCall, session: NamedSession): Promise<LiveSession>
  /** Authenticates by the access token, or by the cookie if there is no token. */
  bySignIn(call: SessionCall, credentials: Credentials): Promise<SignedIn>
  /** Returns every session the call has credentials of. An expired access token beside a valid cookie is ignored. */
  byAnything(call: SessionCall, credentials: Credentials): Promise<LiveSession[]>
}

export function createSessionAuthenticator(deps: AdmissionDeps): SessionAuthenticator {
  const { database, directory, tokens, now } = deps

  async function ofName(call: SessionCall, session: NamedSession): Promise<LiveSession> {
    if (!isServedAt(call.hostTenant, session.tenant)) throw new SessionEndedError()
    const live = await readTenant(database, session.tenant.slug, (tx) => deps.live.find(tx, session))
    if (!live) throw new SessionEndedError()
    return live
  }

  async function ofCookie(call: SessionCall, sessionToken: string | undefined): Promise<LiveSession> {
    if (sessionToken === undefined) throw new SessionEndedError('The request has no session cookie. Sign in first.')
    const session = await tokens.open(sessionToken, now())
    if (!session) throw new SessionEndedError()
    return ofName(call, session)
  }

  async function ofBearer(call: SessionCall, bearer: string): Promise<SignedIn> {
    const claims = await deps.authenticate(bearer, call.address)
    const tenant = await directory.find(claims.tenantSlug)
    if (!tenant) throw invalidTenant(claims.tenantSlug)
    if (!isServedAt(call.hostTenant, tenant)) {
      throw new DomainError('authentication-failed', 'The bearer token does not belong to a tenant of this address.')
    }
    if (claims.sessionId === undefined) return { kind: 'account', tenant, claims }
    const session = await ofName(call, { tenant, sessionId: claims.sessionId, userId: claims.subject })
    return { kind: 'person', session, scopes: [...claims.scopes] }
  }

  async function countSession(call: SessionCall, live: LiveSession): Promise<LiveSession> {
    if (isOtherTenant(call, live.tenant)) throw otherTenant(call, live.tenant, `user:${live.user.userId}`, live)
    await call.charge.succeed(live.sessionId, live.tenant.slug)
    return live
  }

  async function countSignIn(call: SessionCall, signedIn: SignedIn): Promise<SignedIn> {
    if (signedIn.kind === 'person') {
      await countSession(call, signedIn.session)
      return signedIn
    }
    const { tenant, claims } = signedIn
    if (isOtherTenant(call, tenant)) throw otherTenant(call, tenant, `service_account:${claims.clientId}`)
    await call.charge.succeed(claims.clientId, tenant.slug)
    return signedIn
  }

  /** Returns the error for a call that names another tenant, and records it for the tenant that owns the credential. */
  function otherTenant(call: SessionCall, tenant: Tenant, subject: string, live?: LiveSession): DomainError {
    const { address, requestId } = call
    const details = live ? agentDetails(live) : {}
    const what = { kind: 'auth.access_refused', subject, reason: 'wrong_tenant' } as const
    deps.denials.note(tenant, { ...what, address, requestId, details })
    return invalidTenant(call.tenantHeader ?? '')
  }

  async function shown(call: SessionCall, { bearer, sessionToken }: Credentials): Promise<LiveSession[]> {
    const found = new Map<string, LiveSession>()
    if (bearer !== undefined) {
      const signedIn = await unlessUnknown(ofBearer(call, bearer))
      if (signedIn?.kind === 'person') found.set(signedIn.session.sessionId, signedIn.session)
    }
    const live = sessionToken === undefined ? undefined : await unlessUnknown(ofCookie(call, sessionToken))
    if (live) found.set(live.sessionId, live)
    return [...found.values()]
  }

  return {
    byCookie: async (call, sessionToken) => countSession(call, await ofCookie(call, sessionToken)),
    byName: async (call, session) => countSession(call, await ofName(call, session)),
    async bySignIn(call, { bearer, sessionToken }) {
      if (bearer !== undefined) return countSignIn(call, await ofBearer(call, bearer))
      const session = await ofCookie(call, sessionToken)
      return countSignIn(call, { kind: 'person', session, scopes: [...roles[session.user.role]] })
    },
    async byAnything(call, credentials) {
      const all = await shown(call, credentials)
      const [first, ...rest] = all.filter((live) => !isOtherTenant(call, live.tenant))
      if (first) return [await countSession(call, first), ...rest]
      if (all[0]) await countSession(call, all[0])
      throw new SessionEndedError('The request has no active session.')
    },
  }
}

/** Returns whether the optional header names another tenant. */
function isOtherTenant(call: SessionCall, tenant: Tenant): boolean {
  return call.tenantHeader !== undefined && call.tenantHeader !== tenant.slug
}

async function unlessUnknown<Found>(found: Promise<Found>): Promise<Found | undefined> {
  try {
    return await found
  } catch (error) {
    if (error instanceof DomainError && error.slug === 'authentication-failed') return undefined
    throw error
  }
}
