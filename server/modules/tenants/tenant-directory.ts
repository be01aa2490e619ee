import { LRUCache } from 'lru-cache'
import { patterns } from '../../../contract/literals.ts'
import { getOrFetch } from '../../cached-fetch.ts'
import { type Database, readTenant } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { TenantLimits } from '../../http/rate-limits/rate-limit-headers.ts'
import { createTenantHosts } from './tenant-hosts.ts'
import { allLogNames, allSlugs, limits, readEntry, type TenantRow, tenantsWithAddress } from './tenants-store.ts'
import type { TenantDirectory } from './tenants-types.ts'

const foundMs = 2_000
/** Milliseconds; short, so that a tenant created on the command line is available at once. */
const missingMs = 500
const entriesMax = 10_000
const slugPattern = new RegExp(patterns.tenantSlug)

/** A cached entry. An entry whose proof fails is treated as suspended. */
type Entry = Awaited<ReturnType<typeof readEntry>>

/**
 * Creates the directory of tenants by slug and host. It caches each for two seconds, so a change takes effect within
 * that time.
 */
export function createTenantDirectory(deps: {
  database: Database
  /** Returns the common address, which is known once the service listens. */
  baseUrl: () => string
}): TenantDirectory & {
  /** Removes the tenant from the cache, so that code that changed it in this process reads it again. */
  forget(slug: string): void
} {
  const { database, baseUrl } = deps
  const bySlug = new LRUCache<string, Entry>({
    max: entriesMax,
    ttl: foundMs,
    fetchMethod: async (slug, _stale, { options }) => {
      const entry = await database.withRegistry((tx) => readEntry(tx, slug))
      if (!entry.row) options.ttl = missingMs
      return entry
    },
  })
  const limitsBySlug = new LRUCache<string, TenantLimits>({
    max: entriesMax,
    ttl: foundMs,
    fetchMethod: async (slug) => {
      const own = Object.entries(await readTenant(database, slug, limits))
      return Object.fromEntries(
        own.map(([name, { per_token, per_tenant }]) => [name, { perToken: per_token, perTenant: per_tenant }]),
      )
    },
  })
  const ownerOf = createTenantHosts(async () => {
    const rows = await database.withRegistry(tenantsWithAddress)
    return rows.map((row) => asTenant(row, baseUrl()))
  })

  return {
    async find(slug, { evenSuspended = false } = {}) {
      if (!slugPattern.test(slug)) return undefined
      const { row, isProven } = (await getOrFetch(bySlug, slug)) ?? {}
      if (!row || ((row.suspended_at !== null || !isProven) && !evenSuspended)) return undefined
      return asTenant(row, baseUrl())
    },
    async read(slug) {
      if (!slugPattern.test(slug)) return undefined
      const { row, isProven } = await database.withRegistry((tx) => readEntry(tx, slug))
      return row && isProven && row.suspended_at === null ? asTenant(row, baseUrl()) : undefined
    },
    slugs: () => database.withRegistry(allSlugs),
    logNames: () => database.withRegistry(allLogNames),
    async limitsOf(slug) {
      return (await getOrFetch(limitsBySlug, slug)) ?? {}
    },
    async atHost(host) {
      return host === commonHost(baseUrl()) ? undefined : ownerOf(host)
    },
    commonUrl: baseUrl,
    forget(slug) {
      bySlug.delete(slug)
      limitsBySlug.delete(slug)
    },
  }
}

/** Returns the host of the common address. Caches it, because every request needs it. */
const commonHost = (() => {
  let known = { url: '', host: '' }
  return (url: string) => {
    if (known.url !== url) known = { url, host: new URL(url).host }
    return known.host
  }
})()

export function asTenant(row: Pick<TenantRow, 'slug' | 'mode' | 'base_url' | 'log_name'>, commonUrl: string): Tenant {
  const { slug, mode, base_url: ownUrl, log_name: logName } = row
  // The common address may have been set to the tenant's own address after the tenant was created.
  const hasOwnAddress = ownUrl !== null && new URL(ownUrl).host !== commonHost(commonUrl)
  return { slug, mode, baseUrl: ownUrl ?? commonUrl, hasOwnAddress, logName }
}
