import type { FastifyInstance } from 'fastify'
import type { Database, TenantTx } from '../../db/database.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { ProvenanceKeyMaker, ProvenanceKeys } from '../keys/keys-types.ts'
import { createProvisionService } from './provision-service.ts'
import { createTenantAdministration } from './tenant-administration-service.ts'
import { createTenantDirectory } from './tenant-directory.ts'
import { addTenantsRoutes } from './tenants-routes.ts'
import type { TenantAdministration, TenantDirectory } from './tenants-types.ts'
import { createWelcomeLinkOpener, forgetExpiredLinks } from './welcome-links-service.ts'

export interface TenantsModule {
  directory: TenantDirectory
  administration: TenantAdministration
  /** A chore: forgets a part of the links that expired long ago, and answers whether there may be more. */
  forgetExpiredLinks(tx: TenantTx): Promise<boolean>
  routes(app: FastifyInstance): void
}

export function createTenantsModule(deps: {
  database: Database
  keys: ProvenanceKeys & ProvenanceKeyMaker
  governance: GovernanceLog
  /** The common address, without a trailing slash; only known once the service listens. */
  baseUrl: () => string
  /** Whether tenants' own addresses must be https: everywhere but in development. */
  httpsOnly: boolean
}): TenantsModule {
  const directory = createTenantDirectory(deps)
  const services = {
    provision: createProvisionService(deps),
    openWelcomeLink: createWelcomeLinkOpener({ ...deps, directory }),
  }
  return {
    directory,
    administration: createTenantAdministration(deps),
    forgetExpiredLinks,
    routes: (app) => addTenantsRoutes(app, services),
  }
}
