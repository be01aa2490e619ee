import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import { serviceTokenSeconds } from '../../../../contract/limits.ts'
import type { Scope } from '../../../../contract/scopes.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { TokenKeys } from '../../keys/keys-types.ts'

export const accessTokenType = 'at+jwt'

/** An access token of a service account (RFC 9068), for the tenant's own address and nothing else. */
export function mintServiceToken(
  keys: TokenKeys,
  grant: { clientId: string; tenant: Tenant; scopes: readonly Scope[] },
): Promise<string> {
  const key = keys.signingKey()
  const issuedAt = Math.floor(Date.now() / 1000)
  return new SignJWT({
    iss: grant.tenant.baseUrl,
    aud: grant.tenant.baseUrl,
    sub: grant.clientId,
    iat: issuedAt,
    exp: issuedAt + serviceTokenSeconds,
    jti: randomUUID(),
    client_id: grant.clientId,
    tenant: grant.tenant.slug,
    scope: grant.scopes.join(' '),
  })
    .setProtectedHeader({ alg: key.algorithm, typ: accessTokenType, kid: key.keyId })
    .sign(key.privateKey)
}
