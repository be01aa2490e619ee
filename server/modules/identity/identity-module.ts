import type { FastifyInstance } from 'fastify'
import type { Database, DatabaseLog } from '../../db/database.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import { createConnectionSecrets } from './connection-secrets.ts'
import type { IdentityProviders } from './identity-types.ts'
import { createProviderDirectory } from './provider-directory.ts'
import { addSsoRoutes } from './sso-routes.ts'
import { createSsoService } from './sso-service.ts'

export interface IdentityModule {
  providers: IdentityProviders
  routes(app: FastifyInstance): void
}

export function createIdentityModule(deps: {
  database: Database
  masterKey: Buffer
  governance: GovernanceLog
  outbound: Outbound
  log: DatabaseLog
}): IdentityModule {
  const secrets = createConnectionSecrets(deps.masterKey)
  const sso = createSsoService({ ...deps, secrets })
  return {
    providers: createProviderDirectory({ ...deps, secrets }),
    routes: (app) => addSsoRoutes(app, sso),
  }
}
