import { serviceTokenSeconds } from '../../../../contract/limits.ts'
import { isScope, type Scope } from '../../../../contract/scopes.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { Database } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { TokenKeys } from '../../keys/keys-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { TokenRequest, TokenService } from '../auth-types.ts'
import type { ClientDirectory, KnownClient } from '../service-accounts/client-directory.ts'
import { hashClientSecret, matchesAny } from '../service-accounts/client-secrets.ts'
import { touchAccount } from '../service-accounts/service-accounts-store.ts'
import { invalidClient, oauthError } from './oauth-error.ts'
import { mintAccessToken } from './token-issuer.ts'

const touchIntervalMs = 60_000

/** OAuth 2.0 client credentials (RFC 6749, section 4.4). */
export function createTokenService(deps: {
  database: Database
  keys: TokenKeys
  directory: TenantDirectory
  clients: ClientDirectory
  secretsKey: Buffer
}): TokenService {
  const { database, keys, directory, clients, secretsKey } = deps

  async function authenticate(request: TokenRequest): Promise<{ client: KnownClient; tenant: Tenant } | undefined> {
    const known = await clients.find(request.clientId)
    const given = hashClientSecret(secretsKey, request.clientId, request.clientSecret)
    const live = (known?.secrets ?? []).filter(({ expiresAt }) => !expiresAt || Date.parse(expiresAt) > Date.now())
    const matches = matchesAny(
      given,
      live.map((secret) => secret.hash),
    )
    if (!known || !matches || known.disabled) return undefined
    const tenant = await directory.find(known.tenantSlug)
    return tenant && { client: known, tenant }
  }

  async function noteUse(client: KnownClient): Promise<void> {
    const now = Date.now()
    if (client.lastUsedAt && now - Date.parse(client.lastUsedAt) < touchIntervalMs) return
    // Kept with the account in memory as well, so that a burst of requests writes once.
    client.lastUsedAt = formatTimestamp(now)
    await database.withTenant(client.tenantSlug, (tx) => touchAccount(tx, client.clientId, formatTimestamp(now)))
  }

  return {
    async issue(request, charge, servedTenant) {
      await charge.attempt(request.clientId)
      const authenticated = await authenticate(request)
      if (!authenticated) throw invalidClient()
      const { client, tenant } = authenticated
      if (servedTenant !== undefined && servedTenant !== tenant.slug) throw invalidClient()
      if (request.tenantHeader !== undefined && request.tenantHeader !== tenant.slug) {
        throw wrongTenant(request.tenantHeader)
      }
      await charge.succeed(client.clientId, tenant.slug)
      const scopes = grantedScopes(request.scopes, client.scopes)
      await noteUse(client)
      return {
        access_token: await mintAccessToken(keys, {
          tenant,
          subject: client.clientId,
          clientId: client.clientId,
          scopes,
          epoch: 1,
          expiresInSeconds: serviceTokenSeconds,
        }),
        expires_in: serviceTokenSeconds,
        token_type: 'Bearer',
        scope: scopes.join(' '),
      }
    },
  }
}

/** A subset of what is assigned, in the order asked for; without a wish all of it. */
function grantedScopes(wanted: readonly string[] | undefined, assigned: readonly string[]): Scope[] {
  const beyond = (wanted ?? []).filter((scope) => !assigned.includes(scope))
  if (beyond.length > 0) {
    throw oauthError('invalid_scope', `Not assigned to this account: ${beyond.join(' ').slice(0, 500)}`, {
      pointer: '/scope',
    })
  }
  return (wanted ?? assigned).filter(isScope)
}

function wrongTenant(slug: string) {
  return oauthError('unauthorized_client', 'The tenant does not exist, or this account is not one of its own.', {
    slug: 'invalid-tenant',
    pointer: '/headers/x-service-tenant',
    extensions: { tenant_slug: slug },
  })
}
