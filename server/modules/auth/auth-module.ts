import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Database } from '../../db/database.ts'
import type { AccessControl } from '../../http/caller.ts'
import { deriveKey } from '../../secrets/sealing.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { TokenKeys } from '../keys/keys-types.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import { addAuthRoutes } from './auth-routes.ts'
import type { ServiceAccounts, TokenCharge } from './auth-types.ts'
import { createClientDirectory } from './client-directory.ts'
import { createServiceAccounts } from './service-accounts-service.ts'
import { createTokenService } from './token-service.ts'
import { createTokenVerifier } from './token-verifier.ts'

export interface AuthModule {
  /** What the HTTP layer asks about every request. */
  access: AccessControl
  serviceAccounts: ServiceAccounts
  /** @param charges the limits of one request of class `auth` */
  routes(app: FastifyInstance, charges: (request: FastifyRequest, reply: FastifyReply) => TokenCharge): void
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
    access: { authenticate: createTokenVerifier({ ...deps, clients }), findTenant: (slug) => directory.find(slug) },
    serviceAccounts: createServiceAccounts({ ...deps, secretsKey }),
    routes: (app, charges) => addAuthRoutes(app, { tokens, directory, charges }),
  }
}
