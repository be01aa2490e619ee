import { LRUCache } from 'lru-cache'
import { DomainError } from '../../../contract/domain-error.ts'
import { readTenant } from '../../db/database.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { ConnectionSecrets } from './connection-secrets.ts'
import { discover } from './discovery.ts'
import type { IdentityProviders } from './identity-types.ts'
import { createProviderClient, type KnownProvider } from './provider-client.ts'
import { ProviderError } from './provider-metadata.ts'
import { currentConnection, storedConnection } from './sso-store.ts'

const rememberedMs = 10 * 60_000
const providersMax = 1000

/**
 * Holds the providers of all tenants. Reads the connection on every use, so that a change is effective at once in every
 * process. Caches the provider's own configuration for ten minutes, or until the connection changes.
 */
export function createProviderDirectory(
  deps: Pick<ModuleParts, 'database' | 'log'> & {
    outbound: Outbound
    secrets: ConnectionSecrets
  },
): IdentityProviders {
  const { database, outbound, secrets, log } = deps
  const known = new LRUCache<string, KnownProvider, { issuer: string }>({
    max: providersMax,
    ttl: rememberedMs,
    fetchMethod: async (_key, _stale, { context }) => ({ metadata: await discover(context.issuer, outbound) }),
  })

  return {
    async of(tenant) {
      const row = await readTenant(database, tenant.slug, currentConnection)
      if (!row) return undefined
      const key = `${tenant.slug} ${row.connection_id} ${row.updated_at}`
      return createProviderClient({
        connectionId: row.connection_id,
        allowedEmailDomains: row.allowed_email_domains,
        clientId: row.client_id,
        clientSecret: () => secrets.unseal(row, tenant),
        outbound,
        log,
        known: async () => {
          try {
            return (await known.fetch(key, { context: { issuer: row.issuer } })) as KnownProvider
          } catch (error) {
            if (!(error instanceof ProviderError)) throw error
            throw new DomainError(
              'hub-unavailable',
              'The identity provider of this tenant does not respond correctly. Try again in a moment. If the ' +
                'problem continues, an administrator of the tenant finds the reason by testing single sign-on.',
              { cause: error },
            )
          }
        },
      })
    },
    // An edited row still limits mailed links to administrators, as the unedited connection did.
    isConfigured: async (tx) => (await storedConnection(tx)) !== undefined,
  }
}
