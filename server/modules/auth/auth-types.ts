import type { Role } from '../../../contract/roles.ts'
import type { Scope } from '../../../contract/scopes.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { User } from '../roster/roster-types.ts'

export type {
  ServiceAccountCredentials,
  ServiceAccounts,
} from './service-accounts/service-accounts-types.ts'

/** A token of interface 2.7, in the names of the answer. */
export interface ServiceToken {
  access_token: string
  /** Seconds. */
  expires_in: number
  token_type: 'Bearer'
  /** Space-delimited. */
  scope: string
}

/** Error codes of RFC 6749, section 5.2. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'

/** What a token request authenticates and asks with. */
export interface TokenRequest {
  clientId: string
  clientSecret: string
  /** The secret came in an Authorization header, so a refusal answers with a challenge. */
  basic: boolean
  /** Absent: all that are assigned. */
  scopes: readonly string[] | undefined
  /** X-Service-Tenant, which standard clients cannot send. */
  tenantHeader: string | undefined
}

/** Counts a token request against the limits of its class, once its secret was looked at. */
export interface TokenCharge {
  /** Without a valid credential: against the caller's address and the client id it names, never a tenant. */
  failed(clientId: string): Promise<void>
  /** With one: against the client and its tenant. */
  succeed(clientId: string, tenantSlug: string): Promise<void>
}

/** Where a token request came from, and to. */
export interface TokenRequestOrigin {
  address: string
  requestId: string
  /** Slug of the tenant whose own address was called: the accounts of others are unknown there. */
  hostTenant?: string | undefined
}

export interface TokenService {
  /** Throws DomainError with the members of an OAuth error, or `rate-limited` where the charge does. */
  issue(request: TokenRequest, charge: TokenCharge, origin: TokenRequestOrigin): Promise<ServiceToken>
}

/** What access tokens belong to, and are revoked by. */
export type Principal = `user:${string}` | `client:${string}` | `session:${string}`

/** Ends access tokens before they expire, in every process within 5 seconds. */
export interface TokenRevoker {
  /**
   * From the commit of `tx` on, tokens of the principal whose epoch is below `minEpoch` are refused. Tokens of a session
   * are of epoch 0, so 1 ends it.
   */
  revoke(tx: TenantTx, principal: Principal, minEpoch: number): Promise<void>
  /** As `revoke`, of any number in one statement. */
  revokeAll(tx: TenantTx, principals: readonly Principal[], minEpoch: number): Promise<void>
}

/** What is revoked, from memory: kept true by notifications and by a look at the database every two seconds. */
export interface Revocations extends TokenRevoker {
  /**
   * Whether tokens of that epoch were revoked. Throws `hub-unavailable` when the database has not been heard for so
   * long that a revocation could have been missed for 5 seconds.
   */
  isRevoked(tenantSlug: string, principal: Principal, epoch: number): boolean | Promise<boolean>
  /** Deletes, a part at a time, what concerns no living token any more. Answers whether there may be more. */
  forgetOld(tx: TenantTx): Promise<boolean>
  close(): Promise<void>
}

export type SignInMethod = 'oidc' | 'magic_link' | 'welcome_link' | 'mock'

/** A person who has proved who they are. */
export interface SignIn {
  user: User
  method: SignInMethod
  /** Of the identity provider. */
  connectionId?: string
  address: string
  requestId: string
  userAgent?: string | undefined
}

export interface OpenedSession {
  sessionId: string
  userId: string
  /** Milliseconds since 1970; absolute. */
  expiresAtMs: number
  /** The JWT for the cookie `service_session`. */
  sessionToken: string
}

/** A token of interface 2.7, in the names of the answer. */
export interface UserToken {
  access_token: string
  /** Seconds. */
  expires_in: number
  token_type: 'Bearer'
  refresh_token: string
  /** Seconds, until the session ends. */
  refresh_expires_in: number
}

/** A {@link UserToken}, with the cookie that its refresh token needs. */
export interface IssuedUserToken {
  token: UserToken
  /** For `__Secure-service_refresh`. */
  refreshCookie: string
  expiresAtMs: number
}

/** The sessions of people. */
export interface Sessions {
  /** Opens a session and writes `auth.login`, in the transaction in which the person proved who they are. */
  open(tx: TenantTx, tenant: Tenant, signIn: SignIn): Promise<OpenedSession>
  /** Tokens for a session that was just opened, and has been committed. */
  firstToken(tenant: Tenant, session: OpenedSession): Promise<IssuedUserToken>
  /**
   * Returns the tab key of a session, by the value of its cookie; undefined for anything but the cookie of a session that
   * has not expired.
   */
  tabKey(sessionToken: string): Promise<TabKey | undefined>
  /** Ends every session of the person, in the transaction that takes away the right to them. */
  endAll(tx: TenantTx, userId: string): Promise<void>
}

/** Lets the tabs of one session share an access token in the browser's storage, and nobody else read it. */
export interface TabKey {
  sessionId: string
  /** 32 bytes in hexadecimal digits. It opens nothing but what these tabs store. */
  key: string
}

/** Who is signed in, in the names of the answer. */
export interface Me {
  kind: 'user' | 'service_account'
  /** `sub` of the token. */
  subject: string
  tenant: string
  scopes: Scope[]
  user_id?: string
  email?: string
  display_name?: string
  role?: Role
  client_id?: string
  name?: string
  session?: { session_id: string; method: SignInMethod; created_at: string; expires_at: string }
}
