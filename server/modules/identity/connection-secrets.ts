import type { Tenant } from '../../http/caller.ts'
import { decryptSecret, deriveKey, encryptSecret } from '../../secrets/encryption.ts'
import type { ConnectionRow } from './sso-store.ts'

/**
 * Encrypts the client secrets of connections, bound to tenant and connection. Uses the master key in every mode: an
 * administrator who replaces or destroys an unreachable customer key must still be able to sign in.
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
