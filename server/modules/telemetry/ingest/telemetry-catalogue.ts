import { LRUCache } from 'lru-cache'
import type { Database } from '../../../db/database.ts'
import type { SkillRegistry } from '../../entitlement/entitlement-types.ts'
import type { ArchetypeBundle } from '../../roster/roster-types.ts'
import type { CatalogueChanged } from '../../tenants/tenants-types.ts'
import { isProvisioned } from '../telemetry-store.ts'
import type { Catalogue } from '../telemetry-types.ts'

/** Milliseconds for which a process may accept skills that another process retired or removed. */
const ttlMs = 1000
const tenantsMax = 1000

export interface Catalogues {
  /** Returns the catalogue, at most one second old, and never older than the last change by this process. */
  of(tenantId: string): Promise<Catalogue>
  /** Reads the catalogue from the database after the call; concurrent calls share the read. */
  fresh(tenantId: string): Promise<Catalogue>
  changed: CatalogueChanged
}

interface Entry {
  value?: Catalogue
  expiresAtMs: number
  running?: Promise<Catalogue> | undefined
  queued?: Promise<Catalogue> | undefined
}

export function createCatalogues(deps: {
  database: Database
  archetypes: ArchetypeBundle
  skills: SkillRegistry
  nowMs?: () => number
}): Catalogues {
  const { database, archetypes, skills, nowMs = () => performance.now() } = deps
  const entries = new LRUCache<string, Entry>({ max: tenantsMax })

  function entryOf(tenantId: string): Entry {
    const known = entries.get(tenantId)
    if (known) return known
    const made: Entry = { expiresAtMs: 0 }
    entries.set(tenantId, made)
    return made
  }

  async function read(tenantId: string, entry: Entry): Promise<Catalogue> {
    try {
      const value = await database.withTenant(
        tenantId,
        async (tx) => ({
          provisioned: await isProvisioned(tx),
          archetypeIds: await archetypes.allIds(tx),
          skillStates: await skills.allStates(tx),
        }),
        { readOnly: true },
      )
      entry.value = value
      entry.expiresAtMs = nowMs() + ttlMs
      return value
    } finally {
      entry.running = undefined
    }
  }

  function start(tenantId: string, entry: Entry): Promise<Catalogue> {
    entry.running = read(tenantId, entry)
    return entry.running
  }

  return {
    async of(tenantId) {
      const entry = entryOf(tenantId)
      if (entry.value && nowMs() < entry.expiresAtMs) return entry.value
      return entry.running ?? start(tenantId, entry)
    },

    async fresh(tenantId) {
      const entry = entryOf(tenantId)
      if (!entry.running) return start(tenantId, entry)
      // A running read may have started before the change that the caller needs was committed; the next one has not.
      entry.queued ??= entry.running
        .catch(() => undefined)
        .then(() => {
          entry.queued = undefined
          return entry.running ?? start(tenantId, entry)
        })
      return entry.queued
    },

    // A running read writes to its dropped entry, so its stale value is not used.
    changed: (tenantId) => void entries.delete(tenantId),
  }
}
