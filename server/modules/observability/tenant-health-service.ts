import type { Database, TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { RecordClock } from '../../records/record-clock.ts'
import { eventsCountedMax, judgeHealth } from './tenant-health-rules.ts'
import type { HealthFacts, HealthSources, TenantHealthReader } from './tenant-health-types.ts'

/**
 * Creates the health of tenants. Each request reads it in one read-only transaction, and checks the identity provider
 * beside it.
 */
export function createTenantHealth(deps: {
  database: Pick<Database, 'withTenant'>
  clock: RecordClock
  sources: HealthSources
}): TenantHealthReader {
  const { database, clock, sources } = deps

  async function stored(tx: TenantTx, tenant: Tenant): Promise<Omit<HealthFacts, 'sso'>> {
    return {
      tenantSlug: tenant.slug,
      ...(await sources.milestones(tx)),
      contentKey: await sources.contentKey(tx, tenant),
      scim: await sources.scim(tx),
      unknownArchetypes: await sources.unknownArchetypes(tx),
      lastSyncedAt: await sources.lastSyncedAt(tx),
      connectors: await sources.connectors(tx),
      roster: await sources.roster(tx),
      skills: await sources.skills(tx),
      eventsReceived: await sources.eventsReceived(tx, eventsCountedMax),
    }
  }

  return {
    async of({ tenant }) {
      const [sso, facts] = await Promise.all([
        sources.sso(tenant),
        database.withTenant(tenant.slug, (tx) => stored(tx, tenant), { readOnly: true }),
      ])
      return judgeHealth({ ...facts, sso }, clock.next().createdAt)
    },
  }
}
