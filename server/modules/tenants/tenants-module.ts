import type { FastifyInstance } from 'fastify'
import type { TenantTx } from '../../db/database.ts'
import type { Mailer } from '../../mail/mailer.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { ContentKeyring } from '../cmek/cmek-types.ts'
import type { ProvenanceKeyMaker } from '../keys/keys-types.ts'
import type { SignInLinks } from '../links/links-types.ts'
import { OperatedTenants } from './operated-tenants-service.ts'
import { addOperatorRoutes } from './operator-routes.ts'
import { createProvisionService } from './provision-service.ts'
import { createTenantAdministration } from './tenant-administration-service.ts'
import { createTenantDirectory } from './tenant-directory.ts'
import type { TenantHostPolicy } from './tenant-host-policy.ts'
import { milestonesOf, ownExportQuota } from './tenant-response.ts'
import { createTenantSettings } from './tenant-settings-service.ts'
import { addTenantsRoutes } from './tenants-routes.ts'
import { adminEmailOf, settings } from './tenants-store.ts'

export function createTenantsModule(
  deps: TenantHostPolicy &
    Pick<ModuleParts, 'database' | 'cursorKey' | 'governance' | 'events'> & {
      keys: ProvenanceKeyMaker
      links: SignInLinks
      keyring: ContentKeyring
      mailer: Pick<Mailer, 'hasServer'>
    },
) {
  const directory = createTenantDirectory(deps)
  const administration = createTenantAdministration(deps)
  const operated = new OperatedTenants({
    ...deps,
    changed: (slug) => directory.forget(slug),
  })
  return {
    ...{ directory, administration, operated },
    /** Returns the address of the administrator for whom the tenant was created. */
    adminEmail: adminEmailOf,
    /** Returns the milestones that the tenant has reached. */
    milestones: async (tx: TenantTx) => milestonesOf(await settings(tx)),
    /** Reads the tenant's own quotas of exports, without a cache. */
    exportQuota: async (tx: TenantTx) => ownExportQuota(await settings(tx)),
    routes: (app: FastifyInstance) => {
      addOperatorRoutes(app, administration, operated)
      addTenantsRoutes(app, createTenantSettings(deps), createProvisionService(deps))
    },
  }
}
