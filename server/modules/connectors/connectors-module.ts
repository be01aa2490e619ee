import type { FastifyInstance } from 'fastify'
import type { Database } from '../../db/database.ts'
import { cursorKeyPurpose } from '../../http/cursor.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import { deriveKey } from '../../secrets/encryption.ts'
import { createUrlRedactor } from '../../secrets/redacted-url.ts'
import type { ConnectorTester, Deliveries } from '../distribution/distribution-types.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { InboundSecrets } from '../inbound/inbound-types.ts'
import type { CredentialVault } from './connector-credentials.ts'
import { connectorOf } from './connector-response.ts'
import { addConnectorRoutes } from './connectors-routes.ts'
import { createConnectorAdministration } from './connectors-service.ts'
import { allConnectors, connectorById } from './connectors-store.ts'
import type { Connectors } from './connectors-types.ts'

export interface ConnectorsModule {
  connectors: Connectors
  routes(app: FastifyInstance): void
}

export function createConnectorsModule(deps: {
  database: Database
  masterKey: Buffer
  governance: GovernanceLog
  outbound: Outbound
  vault: CredentialVault
  inboundSecrets: InboundSecrets
  deliveries: Deliveries
  tester: ConnectorTester
}): ConnectorsModule {
  const administration = createConnectorAdministration({
    ...deps,
    cursorKey: deriveKey(deps.masterKey, cursorKeyPurpose),
    describeUrl: createUrlRedactor(deps.masterKey),
  })
  return {
    connectors: {
      all: async (tx) => (await allConnectors(tx)).map(connectorOf),
      async find(tx, connectorId) {
        const row = await connectorById(tx, connectorId)
        return row === undefined || row.removed_at !== null ? undefined : connectorOf(row)
      },
    },
    routes: (app) => addConnectorRoutes(app, administration, deps.tester),
  }
}
