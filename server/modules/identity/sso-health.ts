import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import { type Database, readTenant } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import { checkKeys, discover } from './discovery.ts'
import type { SsoHealth, SsoHealthReader } from './identity-types.ts'
import { ProviderError } from './provider-metadata.ts'
import { currentConnection } from './sso-store.ts'

const rememberedMs = 10_000
/** Maximum wait in milliseconds for callers that ask for the health of a tenant. */
const waitMs = 3000
const tenantsMax = 1000

type Checked = Required<Pick<SsoHealth, 'healthy' | 'checkedAt' | 'detail'>>

/** Fetches the configuration and the keys of providers, at most once in ten seconds each. */
export function createSsoHealth(deps: { database: Database; outbound: Outbound }): SsoHealthReader {
  const { database, outbound } = deps
  const checks = new LRUCache<string, Checked, string>({
    max: tenantsMax,
    ttl: rememberedMs,
    fetchMethod: (_key, _stale, { context: issuer }) => check(issuer),
  })

  async function check(issuer: string): Promise<Checked> {
    const checkedAt = formatTimestamp(Date.now())
    try {
      await checkKeys((await discover(issuer, outbound)).jwks_uri, outbound)
      return { healthy: true, checkedAt, detail: 'The identity provider responds correctly.' }
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      return { healthy: false, checkedAt, detail: `The identity provider cannot be used. ${error.message}` }
    }
  }

  return {
    async of(tenant: Pick<Tenant, 'slug'>): Promise<SsoHealth> {
      const row = await readTenant(database, tenant.slug, currentConnection)
      if (!row) return { configured: false, healthy: false, detail: 'No single sign-on is configured.' }
      const { connection_id: connectionId, issuer } = row
      const key = `${tenant.slug} ${connectionId} ${row.updated_at}`
      const waiting = new AbortController()
      const late = delay(waitMs, undefined, { signal: waiting.signal }).catch(() => undefined)
      try {
        const checked = await Promise.race([checks.fetch(key, { context: issuer }), late])
        const detail = `The identity provider did not respond within ${waitMs / 1000} s.`
        return { configured: true, connectionId, ...(checked ?? { healthy: false, detail }) }
      } finally {
        waiting.abort()
      }
    },
  }
}
