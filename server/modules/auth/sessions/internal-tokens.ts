import { type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { invalidTenant } from '../../../../contract/domain-error.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import { isCanonicalBase64url } from '../tokens/compact-jws.ts'

const tokenLengthMax = 4096

/** Signed claims that this service alone writes and reads: JWTs (RFC 7519) under a key of their own. */
export interface InternalTokens {
  /** The same claims give the same token. Times are seconds since 1970. */
  sign(tenant: Tenant, times: { iat: number; exp: number }, claims: JWTPayload): Promise<string>
  /**
   * Claims and tenant of a token of this kind that has not expired; undefined for anything else. Throws `invalid-tenant`
   * while the tenant is suspended: the token is good again afterwards.
   */
  open(token: string, nowMs: number): Promise<{ tenant: Tenant; claims: JWTPayload } | undefined>
}

/**
 * @param type the `typ` of the header, by which no token passes for one of another kind (RFC 8725, section 3.11)
 * @param key of `deriveKey`, for this kind only: should the type ever go unchecked, the signature still differs
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
      // A MAC has one form, but its base64url ends with bits that decoders ignore.
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

/** They are for the operations of signing in and for no others. */
function audienceOf(tenant: Tenant): string {
  return `${tenant.baseUrl}/api/v1/auth`
}
