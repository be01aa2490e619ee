import type { FastifyInstance } from 'fastify'
import type { Database, TenantTx } from '../../db/database.ts'
import { cursorKeyPurpose } from '../../http/cursor.ts'
import { deriveKey } from '../../secrets/encryption.ts'
import type { ContentKeyring } from '../cmek/cmek-types.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { ProvenanceKeyMaker, ProvenanceKeys } from '../keys/keys-types.ts'
import type { SignInLinks } from '../links/links-types.ts'
import { createOperatedTenants } from './operated-tenants-service.ts'
import { addOperatorRoutes } from './operator-routes.ts'
import { createProvisionService } from './provision-service.ts'
import { createTenantAdministration } from './tenant-administration-service.ts'
import { createTenantDirectory } from './tenant-directory.ts'
import { milestonesOf, ownExportQuota } from './tenant-response.ts'
import { addTenantSettingsRoutes } from './tenant-settings-routes.ts'
import { createTenantSettings } from './tenant-settings-service.ts'
import { addTenantsRoutes } from './tenants-routes.ts'
import { adminEmailOf, settings } from './tenants-store.ts'
import type {
  Milestones,
  OperatedTenants,
  OwnExportQuota,
  TenantAdministration,
  TenantDirectory,
} from './tenants-types.ts'

export interface TenantsModule {
  directory: TenantDirectory
  administration: TenantAdministration
  operated: OperatedTenants
  /** Returns the address of the administrator for whom the tenant was created. */
  adminEmail(tx: TenantTx): Promise<string | undefined>
  /** Returns the milestones that the tenant has reached. */
  milestones(tx: TenantTx): Promise<Milestones>
  /** Reads the tenant's own quotas of exports, without a cache. */
  exportQuota(tx: TenantTx): Promise<OwnExportQuota>
  routes(app: FastifyInstance): void
}

export function createTenantsModule(deps: {
  database: Database
  masterKey: Buffer
  keys: ProvenanceKeys & ProvenanceKeyMaker
  governance: GovernanceLog
  links: SignInLinks
  keyring: ContentKeyring
  /** Returns the common address, without a trailing slash; known once the service listens. */
  baseUrl: () => string
  /** Whether tenants' own addresses must be https; true outside development. */
  httpsOnly: boolean
}): TenantsModule {
  const directory = createTenantDirectory(deps)
  const administration = createTenantAdministration(deps)
  const operated = createOperatedTenants({
    ...deps,
    changed: (slug) => directory.forget(slug),
    cursorKey: deriveKey(deps.masterKey, cursorKeyPurpose),
  })
  const tenantSettings = createTenantSettings(deps)
  const services = {
    provision: createProvisionService(deps),
  }
  return {
    directory,
    administration,
    operated,
    adminEmail: adminEmailOf,
    milestones: async (tx) => milestonesOf(await settings(tx)),
    exportQuota: async (tx) => ownExportQuota(await settings(tx)),
    routes: (app) => {
      addOperatorRoutes(app, { administration, operated })
      addTenantSettingsRoutes(app, tenantSettings)
      addTenantsRoutes(app, services)
    },
  }
}
