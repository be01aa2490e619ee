import type { Tenant } from '../../http/caller.ts'
import { decryptSecret, deriveKey, encryptSecret } from '../../secrets/encryption.ts'
import type { ConnectionRow } from './sso-store.ts'

/**
 * Client secrets of connections: sealed at rest, each for its tenant and connection. Under the master key in every mode:
 * who has to name another key for a tenant, or to destroy one, signs in while that key cannot be reached.
 */
export interface ConnectionSecrets {
  seal(secret: string, tenant: Owner, connectionId: string): Buffer
  unseal(row: Pick<ConnectionRow, 'connection_id' | 'client_secret_sealed'>, tenant: Owner): string
}

type Owner = Pick<Tenant, 'slug'>

export function createConnectionSecrets(masterKey: Buffer): ConnectionSecrets {
  const key = deriveKey(masterKey, 'client secrets of identity providers')
  const contextOf = (tenant: Owner, connectionId: string) => `${tenant.slug}/${connectionId}`
  return {
    seal: (secret, tenant, connectionId) => encryptSecret(key, Buffer.from(secret), contextOf(tenant, connectionId)),
    unseal: (row, tenant) =>
      decryptSecret(key, row.client_secret_sealed, contextOf(tenant, row.connection_id)).toString(),
  }
}
