import type { Static } from 'typebox'
import { DomainError } from '../../../../contract/domain-error.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { Tenant, TokenClaims } from '../../../http/caller.ts'
import type { User } from '../../roster/roster-types.ts'
import type { IssuedUserToken, Me, Sessions, SignInMethod } from '../auth-types.ts'
import type { SessionPageQuery } from './session-pages.ts'
import type { SessionList } from './sessions-schemas.ts'

/** Counts a call against the limits of class `auth` once its credential was verified. */
export interface SessionCharge {
  /**
   * Charges the session or the service account, and its tenant. Throws `rate-limited`, except for calls that are never
   * limited.
   */
  succeed(id: string, tenantSlug: string): Promise<void>
}

/** A call to the session operations. */
export interface SessionCall {
  address: string
  requestId: string
  /** The optional header `X-Service-Tenant`. */
  tenantHeader: string | undefined
  /** Slug of the tenant whose own host was called. */
  hostTenant: string | undefined
  charge: SessionCharge
}

/** The credentials of a call. */
export interface Credentials {
  /** The access token. */
  bearer: string | undefined
  /** Value of the cookie `service_session`. */
  sessionToken: string | undefined
}

/** A session that has neither ended nor expired, of an active person. */
export interface LiveSession {
  tenant: Tenant
  sessionId: string
  user: User
  method: SignInMethod
  /** RFC 3339, UTC. */
  createdAt: string
  expiresAt: string
  expiresAtMs: number
  /** The name of the authorized client; absent for the session of a browser. */
  clientName?: string
}

/** The caller: a person in a session, or a service account. */
export type SignedIn =
  | { kind: 'person'; session: LiveSession; scopes: Me['scopes'] }
  | { kind: 'account'; tenant: Tenant; claims: TokenClaims }

export type SessionPage = Static<typeof SessionList>

/** Handles every session operation. Without a valid credential each call throws `authentication-failed`. */
export interface SessionService extends Sessions {
  /** Returns the session of a cookie, and charges it. */
  admit(call: SessionCall, sessionToken: string | undefined): Promise<LiveSession>
  /** Issues the first tokens of the session, or further ones for another tab. */
  issue(call: SessionCall, sessionToken: string | undefined): Promise<IssuedUserToken>
  /** Issues the next tokens of a family. Reusing a token after the grace period ends the session. */
  refresh(call: SessionCall, refreshToken: string, cookie: string | undefined): Promise<IssuedUserToken>
  /** Ends the sessions that the call has credentials of, or all sessions of their owners. */
  logOut(call: SessionCall, credentials: Credentials, everywhere: boolean): Promise<void>
  me(call: SessionCall, credentials: Credentials): Promise<Me>
  list(call: SessionCall, credentials: Credentials, query: SessionPageQuery): Promise<SessionPage>
  /**
   * Ends a session and returns whether it was the caller's current one. Throws `not-found` for a session that is not
   * the caller's, and for any but its own if the caller is an authorized client.
   */
  end(call: SessionCall, credentials: Credentials, sessionId: string): Promise<{ current: boolean }>
  /**
   * Deletes, as a chore, a batch of the sessions that expired more than a day ago. Returns true if there may be more.
   */
  deleteExpired(tx: TenantTx): Promise<boolean>
}

/** Signals that the session has ended or never existed, so the caller must clear its cookies. */
export class SessionEndedError extends DomainError {
  constructor(detail = 'The session has ended. Sign in again.') {
    super('authentication-failed', detail)
  }
}
