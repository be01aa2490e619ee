import { createHmac, hash, randomBytes } from 'node:crypto'
import { type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { invalidTenant } from '../../../../contract/domain-error.ts'
import type { Tenant } from '../../../http/caller.ts'
import { constantTimeEqual } from '../../../secrets/constant-time-equal.ts'
import { deriveKey } from '../../../secrets/encryption.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import { isCanonicalBase64url } from '../tokens/compact-jws.ts'

/** One of the tokens that descend from one call with the session cookie. */
export interface FamilyMember {
  familyId: string
  /** Number of the generation; the first is 1. */
  generation: number
  /** Start of this generation, in milliseconds since 1970. */
  rotatedAtMs: number
}

export interface NamedFamily extends NamedSession, Pick<FamilyMember, 'familyId' | 'generation'> {}

/**
 * Makes refresh tokens and the cookie that they require. Scripts hold the token, so an injected script can steal it;
 * the cookie stays in the browser. Both derive from the database and from keys alone: requests for one generation get
 * the same token, byte for byte, and tabs that start at the same time get the same cookie.
 */
export interface RefreshTokens {
  cookieOf(tenantSlug: string, sessionId: string): string
  sign(session: NamedSession & { expiresAtMs: number }, member: FamilyMember): Promise<string>
  /** Opens an unexpired token that came with its cookie; returns undefined for any other. */
  open(token: string, cookie: string, nowMs: number): Promise<NamedFamily | undefined>
}

const tokenLengthMax = 4096

/** Signs and verifies claims for this service's own use: JWTs (RFC 7519) under a separate key. */
interface InternalTokens {
  /** Signs claims; equal claims give an equal token. Times are seconds since 1970. */
  sign(tenant: Tenant, times: { iat: number; exp: number }, claims: JWTPayload): Promise<string>
  /**
   * Returns the claims and the tenant of an unexpired token of this kind; undefined for any other text. Throws
   * `invalid-tenant` while the tenant is suspended: the token is valid again afterwards.
   */
  open(token: string, nowMs: number): Promise<{ tenant: Tenant; claims: JWTPayload } | undefined>
}

/** The session that a token names. Only the database knows whether it is live. */
export interface NamedSession {
  tenant: Tenant
  sessionId: string
  userId: string
}

export function newSessionId(): string {
  return `ses_${randomBytes(18).toString('base64url')}`
}

/** Signs and opens the value of the cookie `service_session`. */
export interface SessionTokens {
  sign(session: NamedSession & { createdAtMs: number; expiresAtMs: number }): Promise<string>
  /** Opens an unexpired session token; returns undefined for any other text. */
  open(token: string, nowMs: number): Promise<NamedSession | undefined>
}

export function createSessionTokens(deps: { masterKey: Buffer; directory: TenantDirectory }): SessionTokens {
  const tokens = createInternalTokens('session+jwt', deriveKey(deps.masterKey, 'session tokens'), deps.directory)
  return {
    sign: ({ tenant, sessionId, userId, createdAtMs, expiresAtMs }) =>
      tokens.sign(
        tenant,
        { iat: Math.floor(createdAtMs / 1000), exp: Math.floor(expiresAtMs / 1000) },
        { sub: userId, sid: sessionId },
      ),
    async open(token, nowMs) {
      const opened = await tokens.open(token, nowMs)
      if (!opened) return undefined
      const { sub, sid } = opened.claims
      if (typeof sub !== 'string' || typeof sid !== 'string') return undefined
      return { tenant: opened.tenant, sessionId: sid, userId: sub }
    },
  }
}

/**
 * Creates the signer and verifier of one kind of internal token.
 *
 * @param type the `typ` of the header, which keeps a token of another kind from passing (RFC 8725, section 3.11)
 * @param key from `deriveKey`, for this kind only: if the type ever went unchecked, the signature would still differ
 */
export function createInternalTokens(type: string, key: Buffer, directory: TenantDirectory): InternalTokens {
  const header = { alg: 'HS256', typ: type }
  return {
    sign: (tenant, { iat, exp }, claims) =>
      new SignJWT({
        iss: tenant.baseUrl,
        aud: audienceOf(tenant),
        tenant: tenant.slug,
        iat,
        exp,
        ...claims,
      })
        .setProtectedHeader(header)
        .sign(key),
    async open(token, nowMs) {
      if (token.length > tokenLengthMax) return undefined
      // A MAC has one form, but its base64url ends in bits that decoders ignore.
      if (!isCanonicalBase64url(token.slice(token.lastIndexOf('.') + 1))) return undefined
      const verified = await jwtVerify(token, key, {
        typ: type,
        algorithms: ['HS256'],
        requiredClaims: ['iss', 'aud', 'tenant', 'iat', 'exp'],
        currentDate: new Date(nowMs),
      }).catch(() => undefined)
      if (verified === undefined) return undefined
      const claims = verified.payload
      const tenant = await directory.find(String(claims.tenant), { evenSuspended: true })
      if (!tenant || claims.iss !== tenant.baseUrl || claims.aud !== audienceOf(tenant)) return undefined
      if ((await directory.find(tenant.slug)) === undefined) throw invalidTenant(tenant.slug)
      return { tenant, claims }
    },
  }
}

/** Returns the audience: internal tokens are valid for the sign-in operations only. */
function audienceOf(tenant: Tenant): string {
  return `${tenant.baseUrl}/api/v1/auth`
}

export function createRefreshTokens(deps: { masterKey: Buffer; directory: TenantDirectory }): RefreshTokens {
  const tokens = createInternalTokens('refresh+jwt', deriveKey(deps.masterKey, 'refresh tokens'), deps.directory)
  const cookieKey = deriveKey(deps.masterKey, 'refresh cookies')
  const idKey = deriveKey(deps.masterKey, 'refresh token ids')
  const macOf = (key: Buffer, ...parts: (string | number)[]) =>
    createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url')

  function cookieOf(tenantSlug: string, sessionId: string): string {
    return macOf(cookieKey, tenantSlug, sessionId)
  }

  return {
    cookieOf,
    sign: (session, { familyId, generation, rotatedAtMs }) =>
      tokens.sign(
        session.tenant,
        { iat: Math.floor(rotatedAtMs / 1000), exp: Math.floor(session.expiresAtMs / 1000) },
        {
          sub: session.userId,
          sid: session.sessionId,
          family: familyId,
          generation,
          jti: macOf(idKey, session.tenant.slug, familyId, generation).slice(0, 22),
          cookie_hash: hashOf(cookieOf(session.tenant.slug, session.sessionId)),
        },
      ),
    async open(token, cookie, nowMs) {
      const opened = await tokens.open(token, nowMs)
      if (!opened) return undefined
      const { sub, sid, family, generation, cookie_hash: bound } = opened.claims
      if (
        typeof sub !== 'string' ||
        typeof sid !== 'string' ||
        typeof family !== 'string' ||
        typeof generation !== 'number' ||
        typeof bound !== 'string' ||
        !constantTimeEqual(bound, hashOf(cookie))
      ) {
        return undefined
      }
      return { tenant: opened.tenant, sessionId: sid, userId: sub, familyId: family, generation }
    },
  }
}

function hashOf(cookie: string): string {
  return hash('sha256', cookie, 'base64url')
}
