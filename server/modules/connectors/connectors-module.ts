import type { FastifyInstance } from 'fastify'
import type { Database } from '../../db/database.ts'
import { cursorKeyPurpose } from '../../http/cursor.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import { deriveKey } from '../../secrets/sealing.ts'
import type { TenantSecrets } from '../cmek/cmek-types.ts'
import type { ConnectorTester, Deliveries } from '../distribution/distribution-types.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import { connectorOf } from './connector-answer.ts'
import { createCredentialVault } from './connector-credentials.ts'
import { addConnectorRoutes } from './connectors-routes.ts'
import { createConnectorAdministration } from './connectors-service.ts'
import { allConnectors } from './connectors-store.ts'
import type { ConnectorCredentials, Connectors } from './connectors-types.ts'

export interface ConnectorsModule {
  connectors: Connectors
  credentials: ConnectorCredentials
  routes(app: FastifyInstance): void
}

export function createConnectorsModule(deps: {
  database: Database
  masterKey: Buffer
  governance: GovernanceLog
  outbound: Outbound
  secrets: TenantSecrets
  /** Of the module that delivers, which needs this one. */
  distribution: () => { deliveries: Deliveries; tester: ConnectorTester }
}): ConnectorsModule {
  const vault = createCredentialVault(deps.secrets)
  const administration = createConnectorAdministration({
    ...deps,
    vault,
    deliveries: () => deps.distribution().deliveries,
    cursorKey: deriveKey(deps.masterKey, cursorKeyPurpose),
  })
  return {
    connectors: { all: async (tx) => (await allConnectors(tx)).map(connectorOf) },
    credentials: vault,
    routes: (app) => addConnectorRoutes(app, administration, deps.distribution().tester),
  }
}
