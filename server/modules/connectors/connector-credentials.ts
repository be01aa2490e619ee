import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { TenantSecrets } from '../cmek/cmek-types.ts'
import type { ConnectorCredentials, Credentials } from './connectors-types.ts'

/** {@link ConnectorCredentials} that also seals them. */
export interface CredentialVault extends ConnectorCredentials {
  /** Null for none. */
  seal(tx: TenantTx, tenant: Tenant, connectorId: string, credentials: Credentials): Promise<Buffer | null>
}

export function createCredentialVault(secrets: TenantSecrets): CredentialVault {
  const contextOf = (connectorId: string) => `hub.connectors/${connectorId}`
  return {
    async seal(tx, tenant, connectorId, credentials) {
      if (Object.keys(credentials).length === 0) return null
      return secrets.seal(tx, tenant, textOf(credentials), contextOf(connectorId))
    },
    async open(tx, tenant, { connector_id, credentials_sealed }) {
      if (credentials_sealed === null) return {}
      return JSON.parse(await secrets.open(tx, tenant, credentials_sealed, contextOf(connector_id)))
    },
  }
}

/** The same for the same credentials, in whatever order. */
export function textOf(credentials: Credentials): string {
  return JSON.stringify(Object.fromEntries(Object.entries(credentials).sort(([a], [b]) => (a < b ? -1 : 1))))
}
