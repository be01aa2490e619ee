import type { Static } from 'typebox'
import type { Scope } from '../../../contract/scopes.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { User } from '../roster/roster-types.ts'
import type { TokenResponse, UserTokenResponse } from './auth-schemas.ts'
import type { MeResponse } from './sessions/sessions-schemas.ts'

export type {
  ServiceAccountCredentials,
  ServiceAccounts,
} from './service-accounts/service-accounts-types.ts'

/** A service token (interface 2.7), or the token of an authorized client. */
export type ServiceToken = Static<typeof TokenResponse>

/** Error codes of the token endpoint (RFC 6749, section 5.2) and of registration. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_grant'
  /** RFC 8707, section 2. */
  | 'invalid_target'
  /** RFC 7591, section 3.2.2. */
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'

/** The credentials and the content of a request for the token of a service account. */
export interface TokenRequest {
  clientId: string
  clientSecret: string
  /** True if the secret came in an Authorization header; a rejection then carries a challenge. */
  basic: boolean
  /** The requested scopes. Absent: all assigned scopes. */
  scopes: readonly string[] | undefined
  /** The X-Service-Tenant header, which standard clients cannot send. */
  tenantHeader: string | undefined
}

/** Counts a token request against the limits of its class once its secret was checked. */
export interface TokenCharge {
  /**
   * Charges a request without a valid credential to the caller's address and the client id it names, never to a tenant.
   */
  failed(clientId: string): Promise<void>
  /** Charges a request with a valid credential to the client and its tenant. */
  succeed(clientId: string, tenantSlug: string): Promise<void>
}

/** The origin of a token request, and the host that it called. */
export interface TokenRequestOrigin {
  address: string
  requestId: string
  /** Slug of the tenant whose own host was called; accounts of other tenants are unknown there. */
  hostTenant?: string | undefined
}

export interface TokenService {
  /**
   * Issues a token. Throws DomainError with the members of an OAuth error, or `rate-limited` if the charge throws it.
   */
  issue(request: TokenRequest, charge: TokenCharge, origin: TokenRequestOrigin): Promise<ServiceToken>
}

/** A service account that proved itself with its secret. */
export interface ProvenClient {
  clientId: string
  tenant: Tenant
  scopes: ReadonlySet<Scope>
}

/** Authenticates service accounts by HTTP Basic, for programs that cannot fetch tokens. */
export interface BasicAuthenticator {
  /**
   * Returns the account of an Authorization header. Charges as {@link TokenService.issue} does, and throws the same
   * errors, and `insufficient-scope` for an account without the scope.
   *
   * @param wanted.tenantHeader X-Service-Tenant, which may be absent
   * @param wanted.operation the name in the event about a missing scope
   */
  authenticate(
    authorization: string,
    wanted: { tenantHeader: string | undefined; scope: Scope; operation: string },
    charge: TokenCharge,
    origin: TokenRequestOrigin,
  ): Promise<ProvenClient>
}

/** The owner of access tokens, by which they are revoked. */
export type Principal = `user:${string}` | `client:${string}` | `session:${string}`

/** Revokes access tokens before they expire, in every process within 5 seconds. */
export interface TokenRevoker {
  /**
   * Rejects, from the commit of `tx` on, tokens of the principal whose epoch is below `minEpoch`. Tokens of a session
   * have epoch 0, so 1 ends the session.
   */
  revoke(tx: TenantTx, principal: Principal, minEpoch: number): Promise<void>
  /** Revokes tokens of any number of principals, as `revoke` does, in one statement. */
  revokeAll(tx: TenantTx, principals: readonly Principal[], minEpoch: number): Promise<void>
}

/** Holds the revocations in memory. Notifications and a poll of the database every two seconds refresh them. */
export interface Revocations extends TokenRevoker {
  /**
   * Returns whether tokens of that epoch were revoked. Throws `hub-unavailable` if the last successful poll is so old
   * that a revocation could have been missed for 5 seconds.
   */
  isRevoked(tenantSlug: string, principal: Principal, epoch: number): boolean | Promise<boolean>
  /** Deletes a batch of revocations that concern no living token any more. Returns whether there may be more. */
  deleteOld(tx: TenantTx): Promise<boolean>
  close(): Promise<void>
}

export type SignInMethod = NonNullable<Me['session']>['method']

/** A person who has proved their identity. */
export interface SignIn {
  user: User
  method: SignInMethod
  /** The connection to the identity provider. */
  connectionId?: string
  address: string
  requestId: string
  userAgent?: string | undefined
}

export interface OpenedSession {
  sessionId: string
  userId: string
  /** Milliseconds since 1970; the session never lasts longer. */
  expiresAtMs: number
  /** The JWT for the cookie `service_session`. */
  sessionToken: string
}

/** A user token (interface 2.7). */
export type UserToken = Static<typeof UserTokenResponse>

/** A {@link UserToken} with the cookie that its refresh token requires. */
export interface IssuedUserToken {
  token: UserToken
  /** Value of the cookie `__Secure-service_refresh`. */
  refreshCookie: string
  expiresAtMs: number
}

/** Opens and ends the sessions of people. */
export interface Sessions {
  /** Opens a session and writes `auth.login`, in the transaction in which the person proved who they are. */
  open(tx: TenantTx, tenant: Tenant, signIn: SignIn): Promise<OpenedSession>
  /** Issues tokens for a session that was just opened and committed. */
  firstToken(tenant: Tenant, session: OpenedSession): Promise<IssuedUserToken>
  /**
   * Returns the tab key for the value of a session cookie; undefined unless it is the cookie of an unexpired session.
   */
  tabKey(sessionToken: string): Promise<TabKey | undefined>
}

/** Lets the tabs of one session share an access token in the browser's storage that nothing else can read. */
export interface TabKey {
  sessionId: string
  /** 32 bytes in hexadecimal digits. The key decrypts only what these tabs store. */
  key: string
}

/** The signed-in caller. */
export type Me = Static<typeof MeResponse>
