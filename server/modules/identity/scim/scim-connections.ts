import { createHmac, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import { readTenant, type TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import { deriveKey } from '../../../secrets/encryption.ts'
import { randomText } from '../../../secrets/random-text.ts'
import type { ScimConfiguration } from '../../roster/sync/sync-types.ts'
import { findScim, type ScimRow, saveLastRequest } from './scim-store.ts'

/** 43 characters out of 62 hold 256 bits. */
const secretLength = 44

export type ScimTokens = ReturnType<typeof createScimTokens>

/** Milliseconds for which a token that another process revoked remains valid here. */
const rememberedMs = 3000

const tenantsMax = 10_000

const noteEveryMs = 30_000

export const pullTokenContext = (connectionId: string) => `scim/${connectionId}`

export type ScimConnectionCache = ReturnType<typeof createScimConnections>

export function createScimConnections(
  deps: Pick<ModuleParts, 'database' | 'secrets' | 'log'> & { tokens: ScimTokens },
) {
  const { database, secrets, tokens, log } = deps
  const known = new LRUCache<string, { row: ScimRow | undefined }>({
    max: tenantsMax,
    ttl: rememberedMs,
    fetchMethod: async (slug) => ({ row: await readTenant(database, slug, findScim) }),
  })
  const notedAt = new LRUCache<string, number>({ max: tenantsMax })
  const writing = new Set<Promise<void>>()

  return {
    of: async (tx: TenantTx) => {
      const row = await findScim(tx)
      return row && configurationOf(row)
    },
    async pullTokenOf(tx: TenantTx, tenant: Tenant) {
      const row = await findScim(tx)
      if (!row?.bearer_token_sealed) return undefined
      return secrets.decrypt(tx, tenant, row.bearer_token_sealed, pullTokenContext(row.connection_id))
    },
    async admits(tenant: Tenant, token: string) {
      const hash = tokens.hash(tenant, token)
      const row = (await known.fetch(tenant.slug))?.row
      const isFormer = matches(hash, row?.former_token_hash)
      const isCurrent = matches(hash, row?.token_hash)
      if (row?.mode !== 'push') return undefined
      const formerIsGood = row.former_token_until !== null && formatTimestamp(Date.now()) < row.former_token_until
      return isCurrent || (isFormer && formerIsGood) ? configurationOf(row) : undefined
    },
    noteRequest({ slug }: Tenant) {
      const now = Date.now()
      if (now - (notedAt.get(slug) ?? 0) < noteEveryMs) return
      notedAt.set(slug, now)
      const work = database
        .withTenant(slug, (tx) => saveLastRequest(tx, formatTimestamp(now)))
        .catch((error: unknown) => {
          notedAt.delete(slug)
          log.warn({ err: error, tenant: slug }, 'the last request of a directory was not noted')
        })
        .finally(() => writing.delete(work))
      writing.add(work)
    },
    /** Removes a tenant from the cache. Call this after a commit that changed the configuration. */
    forget: (tenantId: string) => {
      known.delete(tenantId)
      notedAt.delete(tenantId)
    },
    /** Waits for pending writes of request times. */
    settled: async () => {
      await Promise.all(writing)
    },
  }
}

function configurationOf(row: ScimRow): ScimConfiguration {
  return {
    connectionId: row.connection_id,
    mode: row.mode,
    ...(row.base_url !== null && { baseUrl: row.base_url }),
    groupArchetypeMap: row.group_archetype_map,
    ...(row.last_request_at !== null && { lastRequestAt: row.last_request_at }),
  }
}

/** Compares in a time that does not reveal whether a stored hash exists. */
function matches(hash: Buffer, stored: Buffer | null | undefined): boolean {
  const other = stored?.length === hash.length ? stored : Buffer.alloc(hash.length)
  return timingSafeEqual(hash, other) && stored?.length === hash.length
}

/**
 * Makes and hashes the bearer tokens of directories in push mode. They have the entropy of a key, so a keyed hash
 * protects them.
 */
export function createScimTokens(masterKey: Buffer) {
  const key = deriveKey(masterKey, 'bearer tokens of directories')
  return {
    /** Returns a new token: `scim` and 44 letters and digits. Secret scanners recognise the prefix. */
    make: () => `scim${randomText(secretLength)}`,
    /** Hashes a token of the tenant. The same token of another tenant has another hash. */
    hash: (tenant: Pick<Tenant, 'slug'>, token: string) =>
      createHmac('sha256', key).update(`${tenant.slug}\0${token}`).digest(),
  }
}
