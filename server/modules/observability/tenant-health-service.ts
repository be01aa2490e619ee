import type { Static } from 'typebox'
import { type Database, readTenant } from '../../db/database.ts'
import type { Caller } from '../../http/caller.ts'
import type { RecordClock } from '../../records/record-clock.ts'
import { judgeHealth } from './tenant-health-rules.ts'
import { eventsCountedMax, type TenantHealthResponse } from './tenant-health-schemas.ts'
import type { HealthFacts, HealthSources } from './tenant-health-types.ts'

export interface TenantHealthDeps {
  database: Pick<Database, 'withTenant'>
  clock: RecordClock
  sources: HealthSources
}

/** Returns the health of the caller's tenant, from one read-only transaction and a check of the identity provider. */
export async function readTenantHealth(
  { database, clock, sources }: TenantHealthDeps,
  { tenant }: Caller,
): Promise<Static<typeof TenantHealthResponse>> {
  const stored = readTenant(
    database,
    tenant.slug,
    async (tx): Promise<Omit<HealthFacts, 'sso'>> => ({
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
    }),
  )
  const [sso, facts] = await Promise.all([sources.sso(tenant), stored])
  return judgeHealth({ ...facts, sso }, clock.next().createdAt)
}
