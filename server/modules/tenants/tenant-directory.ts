import { LRUCache } from 'lru-cache'
import { type RateClass, rateClasses } from '../../../contract/limits.ts'
import { patterns } from '../../../contract/literals.ts'
import type { Database } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import { allSlugs, limits, ownAddresses, type TenantRow, tenantBySlug } from './tenants-store.ts'
import type { RateLimit, TenantDirectory } from './tenants-types.ts'

const foundMs = 2_000
/** Shorter, so that a tenant made on the command line is there at once. */
const missingMs = 500
const entriesMax = 10_000
const slugPattern = new RegExp(patterns.tenantSlug)

interface Entry {
  row: TenantRow | undefined
}

/** Tenants by slug and host, each kept for two seconds: also the longest that a change takes to be seen. */
export function createTenantDirectory(deps: {
  database: Database
  /** The common address; only known once the service listens. */
  baseUrl: () => string
}): TenantDirectory {
  const { database, baseUrl } = deps
  const bySlug = new LRUCache<string, Entry>({
    max: entriesMax,
    ttl: foundMs,
    fetchMethod: async (slug, _stale, { options }) => {
      const row = await database.withRegistry((tx) => tenantBySlug(tx, slug))
      if (!row) options.ttl = missingMs
      return { row }
    },
  })
  const limitsBySlug = new LRUCache<string, Partial<Record<RateClass, RateLimit>>>({
    max: entriesMax,
    ttl: foundMs,
    fetchMethod: async (slug) => {
      const set = await database.withTenant(slug, limits, { readOnly: true })
      return Object.fromEntries(Object.entries(set).filter(([name]) => (rateClasses as string[]).includes(name)))
    },
  })
  // All at once, so that strangers who make up hosts cause no queries.
  const slugsByHost = new LRUCache<'all', Map<string, string>>({
    max: 1,
    ttl: foundMs,
    fetchMethod: async () => {
      const addresses = await database.withRegistry(ownAddresses)
      return new Map(addresses.flatMap(({ slug, baseUrl }) => hostsOf(baseUrl).map((host) => [host, slug] as const)))
    },
  })

  async function find(slug: string): Promise<Tenant | undefined> {
    if (!slugPattern.test(slug)) return undefined
    const row = (await bySlug.fetch(slug))?.row
    return row && asTenant(row, baseUrl())
  }

  return {
    find,
    slugs: () => database.withRegistry(allSlugs),
    async limitsOf(slug) {
      return (await limitsBySlug.fetch(slug)) ?? {}
    },
    async atHost(host) {
      try {
        const slug = (await slugsByHost.fetch('all'))?.get(host.toLowerCase())
        return slug === undefined ? undefined : await find(slug)
      } catch {
        return undefined
      }
    },
    commonUrl: baseUrl,
  }
}

/** What a Host header says for an address: its host, and with the port where that is the scheme's own. */
function hostsOf(baseUrl: string): string[] {
  const { host, port, protocol } = new URL(baseUrl)
  return port === '' ? [host, `${host}:${protocol === 'https:' ? 443 : 80}`] : [host]
}

export function asTenant(row: Pick<TenantRow, 'slug' | 'mode' | 'base_url' | 'log_name'>, commonUrl: string): Tenant {
  return { slug: row.slug, mode: row.mode, baseUrl: row.base_url ?? commonUrl, logName: row.log_name }
}
