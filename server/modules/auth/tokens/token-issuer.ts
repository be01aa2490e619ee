import { randomUUID } from 'node:crypto'
import type { Scope } from '../../../../contract/scopes.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { TokenKeys } from '../../keys/keys-types.ts'
import { signCompactJws } from './compact-jws.ts'

export const accessTokenType = 'at+jwt'
/** The `client_id` in the tokens of people, who all sign in through the Hub. */
export const webClientId = 'hub-web'

export interface AccessGrant {
  tenant: Tenant
  /** `sub`: the client id of a service account, the user id of a person. */
  subject: string
  clientId: string
  scopes: readonly Scope[]
  /** See `TokenClaims.epoch`. */
  epoch: number
  /** The session of a person; absent for a service account. */
  sessionId?: string
  /** Networks that the token may be used from. Absent: anywhere. */
  allowedAddresses?: readonly string[]
  expiresInSeconds: number
}

/** Issues an access token (RFC 9068) whose only audience is the tenant's own address. */
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
    // JSON leaves both out if undefined.
    sid: grant.sessionId,
    allowed_addresses: grant.allowedAddresses,
  })
}
