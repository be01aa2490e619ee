import type { FastifyInstance } from 'fastify'
import type { TenantTx } from '../../db/database.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import { createUrlRedactor } from '../../secrets/redacted-url.ts'
import type { ConnectorTester, Deliveries } from '../distribution/distribution-types.ts'
import type { InboundSecrets } from '../inbound/inbound-types.ts'
import type { CredentialVault } from './connector-credentials.ts'
import { publishStateOf } from './connector-response.ts'
import { addConnectorRoutes, addConnectorSecretRoutes } from './connectors-routes.ts'
import { ConnectorAdministration } from './connectors-service.ts'
import { allConnectors, connectorById } from './connectors-store.ts'

export function createConnectorsModule(
  deps: Pick<ModuleParts, 'database' | 'masterKey' | 'cursorKey' | 'governance'> & {
    outbound: Outbound
    vault: CredentialVault
    inboundSecrets: InboundSecrets
    deliveries: Deliveries
    tester: ConnectorTester
  },
) {
  const administration = new ConnectorAdministration({
    ...deps,
    describeUrl: createUrlRedactor(deps.masterKey),
  })
  return {
    /** Returns the state of publishes to each connector. */
    publishStates: async (tx: TenantTx) => (await allConnectors(tx)).map(publishStateOf),
    /** Returns the platform of a connector; undefined if it does not exist or was removed. */
    async platformOf(tx: TenantTx, connectorId: string): Promise<string | undefined> {
      const row = await connectorById(tx, connectorId)
      return row?.removed_at === null ? row.platform : undefined
    },
    routes: (app: FastifyInstance) => {
      addConnectorRoutes(app, administration)
      addConnectorSecretRoutes(app, administration, deps.tester)
    },
  }
}
