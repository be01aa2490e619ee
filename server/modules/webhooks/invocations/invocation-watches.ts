import { LRUCache } from 'lru-cache'
import type { Database } from '../../../db/database.ts'
import type { Endpoints, InvocationWatch, InvocationWatches } from '../webhooks-types.ts'
import { invocationWatch } from './invocation-watch.ts'

/** Milliseconds that ingest may use endpoints after another process changed them. */
const ttlMs = 1000
const tenantsMax = 1000

interface Entry {
  watch: InvocationWatch | undefined
  expiresAtMs: number
  running: Promise<InvocationWatch | undefined> | undefined
}

/**
 * Caches the watches of tenants: endpoints are read at most once a second and tenant, regardless of the ingest rate.
 */
export function createInvocationWatches(deps: {
  database: Pick<Database, 'withTenant'>
  endpoints: Pick<Endpoints, 'all'>
  nowMs?: () => number
}): InvocationWatches {
  const { database, endpoints, nowMs = () => performance.now() } = deps
  const entries = new LRUCache<string, Entry>({ max: tenantsMax })

  async function read(tenantId: string, entry: Entry): Promise<InvocationWatch | undefined> {
    const startMs = nowMs()
    try {
      const all = await database.withTenant(tenantId, (tx) => endpoints.all(tx), { readOnly: true })
      entry.watch = invocationWatch(all)
      entry.expiresAtMs = startMs + ttlMs
      return entry.watch
    } finally {
      entry.running = undefined
    }
  }

  function entryOf(tenantId: string): Entry {
    const known = entries.get(tenantId)
    if (known) return known
    const made: Entry = { watch: undefined, expiresAtMs: Number.NEGATIVE_INFINITY, running: undefined }
    entries.set(tenantId, made)
    return made
  }

  return {
    async of(tenantId) {
      const entry = entryOf(tenantId)
      if (nowMs() < entry.expiresAtMs) return entry.watch
      entry.running ??= read(tenantId, entry)
      return entry.running
    },

    // Dropping the entry also discards the result of a running read.
    changed: (tenantId) => void entries.delete(tenantId),
  }
}
