import { LRUCache } from 'lru-cache'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { DatabaseLog } from '../../../db/database.ts'
import type { Caller } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import { setLiveSince } from '../telemetry-store.ts'

const tenantsMax = 10_000

export interface TenantLive {
  /**
   * Ensures that `tenant.live` is recorded, once in the life of the tenant, after an event is stored. Never throws: the
   * event is already committed, and the next event tries again.
   */
  ensure(caller: Caller, recordId: string): Promise<void>
}

export function createTenantLive(
  deps: Pick<ModuleParts, 'database' | 'governance'> & { log: Pick<DatabaseLog, 'warn'> },
): TenantLive {
  const { database, governance, log } = deps
  const live = new LRUCache<string, Promise<void>>({ max: tenantsMax })

  async function record(caller: Caller, recordId: string): Promise<void> {
    const { tenant } = caller
    await database.withTenant(tenant.slug, async (tx) => {
      if (!(await setLiveSince(tx, formatTimestamp(Date.now())))) return
      await governance.append(tx, tenant, {
        kind: 'tenant.live',
        subject: `tenant:${tenant.slug}`,
        details: { record_id: recordId },
        actor: caller,
      })
    })
  }

  return {
    ensure(caller, recordId) {
      const { slug } = caller.tenant
      const known = live.get(slug)
      if (known) return known
      const recorded = record(caller, recordId).catch((error: unknown) => {
        live.delete(slug)
        log.warn({ err: error, tenant: slug }, 'tenant.live could not be recorded; the next event tries again')
      })
      live.set(slug, recorded)
      return recorded
    },
  }
}
