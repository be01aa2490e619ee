import type { FastifyInstance } from 'fastify'
import type { Database, TenantTx } from '../../db/database.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { ProvenanceKeyMaker, ProvenanceKeys } from '../keys/keys-types.ts'
import type { SignInLinks } from '../links/links-types.ts'
import { createProvisionService } from './provision-service.ts'
import { createTenantAdministration } from './tenant-administration-service.ts'
import { createTenantDirectory } from './tenant-directory.ts'
import { addTenantsRoutes } from './tenants-routes.ts'
import { settings } from './tenants-store.ts'
import type { TenantAdministration, TenantDirectory } from './tenants-types.ts'

export interface TenantsModule {
  directory: TenantDirectory
  administration: TenantAdministration
  /** Whom the tenant was created for. */
  adminEmail(tx: TenantTx): Promise<string | undefined>
  routes(app: FastifyInstance): void
}

export function createTenantsModule(deps: {
  database: Database
  keys: ProvenanceKeys & ProvenanceKeyMaker
  governance: GovernanceLog
  links: SignInLinks
  /** The common address, without a trailing slash; only known once the service listens. */
  baseUrl: () => string
  /** Whether tenants' own addresses must be https: everywhere but in development. */
  httpsOnly: boolean
}): TenantsModule {
  const directory = createTenantDirectory(deps)
  const services = {
    provision: createProvisionService(deps),
  }
  return {
    directory,
    administration: createTenantAdministration(deps),
    adminEmail: async (tx) => (await settings(tx))?.admin_email,
    routes: (app) => addTenantsRoutes(app, services),
  }
}
