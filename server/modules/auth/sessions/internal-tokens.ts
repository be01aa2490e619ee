import { type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { invalidTenant } from '../../../../contract/domain-error.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import { isCanonicalBase64url } from '../tokens/compact-jws.ts'

const tokenLengthMax = 4096

/** Signs and verifies claims for this service's own use: JWTs (RFC 7519) under a separate key. */
export interface InternalTokens {
  /** Signs claims; equal claims give an equal token. Times are seconds since 1970. */
  sign(tenant: Tenant, times: { iat: number; exp: number }, claims: JWTPayload): Promise<string>
  /**
   * Returns the claims and the tenant of an unexpired token of this kind; undefined for any other text. Throws
   * `invalid-tenant` while the tenant is suspended: the token is valid again afterwards.
   */
  open(token: string, nowMs: number): Promise<{ tenant: Tenant; claims: JWTPayload } | undefined>
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
