import { DomainError } from '../../../../contract/domain-error.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { Tenant, TokenClaims } from '../../../http/caller.ts'
import type { User } from '../../roster/roster-types.ts'
import type { IssuedUserToken, Me, Sessions, SignInMethod } from '../auth-types.ts'

/** Counts a call against the limits of class `auth`, once its credential was found to be good. */
export interface SessionCharge {
  /** Against the session, or the service account, and its tenant. Throws `rate-limited`, unless the call is one that always acts. */
  succeed(id: string, tenantSlug: string): Promise<void>
}

/** A call as the operations of sessions see it. */
export interface SessionCall {
  address: string
  requestId: string
  /** `X-Service-Tenant`, which may be left out. */
  tenantHeader: string | undefined
  /** Slug of the tenant whose own address was called. */
  hostTenant: string | undefined
  charge: SessionCharge
}

/** What a call shows of who makes it. */
export interface Credentials {
  /** An access token. */
  bearer: string | undefined
  /** Of the cookie `service_session`. */
  sessionToken: string | undefined
}

/** A session that has neither ended nor expired, of a person who is active. */
export interface LiveSession {
  tenant: Tenant
  sessionId: string
  user: User
  method: SignInMethod
  /** RFC 3339, UTC. */
  createdAt: string
  expiresAt: string
  expiresAtMs: number
}

/** Who calls: a person in a session, or a service account. */
export type SignedIn =
  | { kind: 'person'; session: LiveSession; scopes: Me['scopes'] }
  | { kind: 'account'; tenant: Tenant; claims: TokenClaims }

/** A session in the names of the answer. */
export interface SessionItem {
  session_id: string
  method: SignInMethod
  created_at: string
  expires_at: string
  address: string
  user_agent?: string
  current: boolean
}

export interface SessionPage {
  items: SessionItem[]
  next_cursor: string | null
}

/** All that is done with sessions. Without a valid credential every call throws `authentication-failed`. */
export interface SessionService extends Sessions {
  /** The session and its first tokens, or further ones for another tab. */
  issue(call: SessionCall, sessionToken: string | undefined): Promise<IssuedUserToken>
  /** The next tokens of a family. A token that was used too long ago ends the session. */
  refresh(call: SessionCall, refreshToken: string, cookie: string | undefined): Promise<IssuedUserToken>
  /** Ends the sessions that the call shows credentials of, or all of their owners. */
  logOut(call: SessionCall, credentials: Credentials, everywhere: boolean): Promise<void>
  me(call: SessionCall, credentials: Credentials): Promise<Me>
  list(
    call: SessionCall,
    credentials: Credentials,
    page: { limit: number; cursor?: string | undefined },
  ): Promise<SessionPage>
  /** Answers whether it was the one of the call. Throws `not-found` for any that is not the caller's own. */
  end(call: SessionCall, credentials: Credentials, sessionId: string): Promise<{ current: boolean }>
  /** A chore: forgets a part of the sessions that expired more than a day ago; true when there may be more. */
  forgetExpired(tx: TenantTx): Promise<boolean>
}

/** The session itself is over, or never was: cookies that still speak of it are of no use and are to be cleared. */
export class SessionEndedError extends DomainError {
  constructor(detail = 'The session has ended. Sign in again.') {
    super('authentication-failed', detail)
  }
}
