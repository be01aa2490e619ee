import type { FastifyInstance } from 'fastify'
import type { Database, DatabaseLog } from '../../db/database.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { IdentityProviders } from './identity-types.ts'

export interface IdentityModule {
  providers: IdentityProviders
  routes(app: FastifyInstance): void
}

export function createIdentityModule(_deps: {
  database: Database
  masterKey: Buffer
  governance: GovernanceLog
  outbound: Outbound
  log: DatabaseLog
}): IdentityModule {
  return {
    providers: { of: async () => undefined, isConfigured: async () => false },
    routes: () => {},
  }
}
