import { randomUUID } from 'node:crypto'
import type { Scope } from '../../../../contract/scopes.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { TokenKeys } from '../../keys/keys-types.ts'
import { signCompactJws } from './compact-jws.ts'

export const accessTokenType = 'at+jwt'
/** `client_id` of the tokens of people: all of them come by the Hub's own sign-in. */
export const webClientId = 'hub-web'

export interface AccessGrant {
  tenant: Tenant
  /** `sub`: the client id of a service account, the user id of a person. */
  subject: string
  clientId: string
  scopes: readonly Scope[]
  /** See `TokenClaims.epoch`. */
  epoch: number
  /** Of a person. */
  sessionId?: string
  /** Networks that the token may be used from; absent is anywhere. */
  allowedAddresses?: readonly string[]
  expiresInSeconds: number
}

/** An access token (RFC 9068), for the tenant's own address and nothing else. */
export async function mintAccessToken(keys: TokenKeys, grant: AccessGrant): Promise<string> {
  await keys.upToDate()
  const issuedAt = Math.floor(Date.now() / 1000)
  return signCompactJws(keys.signingKey(), accessTokenType, {
    iss: grant.tenant.baseUrl,
    aud: grant.tenant.baseUrl,
    sub: grant.subject,
    iat: issuedAt,
    exp: issuedAt + grant.expiresInSeconds,
    jti: randomUUID(),
    client_id: grant.clientId,
    tenant: grant.tenant.slug,
    scope: grant.scopes.join(' '),
    epoch: grant.epoch,
    // Both are left out when absent.
    sid: grant.sessionId,
    allowed_addresses: grant.allowedAddresses,
  })
}
