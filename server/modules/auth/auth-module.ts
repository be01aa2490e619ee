import type { FastifyInstance } from 'fastify'
import type { Database } from '../../db/database.ts'
import type { AccessControl } from '../../http/caller.ts'
import { deriveKey } from '../../secrets/sealing.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { TokenKeys } from '../keys/keys-types.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import { addAuthRoutes } from './auth-routes.ts'
import type { ServiceAccounts } from './auth-types.ts'
import { createClientDirectory } from './service-accounts/client-directory.ts'
import { createServiceAccounts } from './service-accounts/service-accounts-service.ts'
import { createTokenService } from './tokens/token-service.ts'
import { createTokenVerifier } from './tokens/token-verifier.ts'

export interface AuthModule {
  /** What the HTTP layer asks about every request. */
  access: AccessControl
  serviceAccounts: ServiceAccounts
  routes(app: FastifyInstance): void
}

export function createAuthModule(deps: {
  database: Database
  masterKey: Buffer
  keys: TokenKeys
  directory: TenantDirectory
  governance: GovernanceLog
}): AuthModule {
  const { directory } = deps
  const secretsKey = deriveKey(deps.masterKey, 'service account secrets')
  const clients = createClientDirectory(deps)
  const tokens = createTokenService({ ...deps, clients, secretsKey })
  return {
    access: {
      authenticate: createTokenVerifier({ ...deps, clients }),
      findTenant: (slug) => directory.find(slug),
      tenantAt: (host) => directory.atHost(host),
    },
    serviceAccounts: createServiceAccounts({ ...deps, secretsKey }),
    routes: (app) => addAuthRoutes(app, { tokens, directory }),
  }
}
