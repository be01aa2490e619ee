import type { Tenant } from '../../http/caller.ts'
import { decryptSecret, deriveKey, encryptSecret } from '../../secrets/encryption.ts'
import type { ConnectionRow } from './sso-store.ts'

type Owner = Pick<Tenant, 'slug'>

export type ConnectionSecrets = ReturnType<typeof createConnectionSecrets>

/**
 * Encrypts the client secrets of connections, bound to tenant and connection. Uses the master key in every mode: an
 * administrator who replaces or destroys an unreachable customer key must still be able to sign in.
 */
export function createConnectionSecrets(masterKey: Buffer) {
  const key = deriveKey(masterKey, 'client secrets of identity providers')
  const contextOf = (tenant: Owner, connectionId: string) => `${tenant.slug}/${connectionId}`
  return {
    encrypt: (secret: string, tenant: Owner, connectionId: string) =>
      encryptSecret(key, Buffer.from(secret), contextOf(tenant, connectionId)),
    unseal: (row: Pick<ConnectionRow, 'connection_id' | 'client_secret_sealed'>, tenant: Owner) =>
      decryptSecret(key, row.client_secret_sealed, contextOf(tenant, row.connection_id)).toString(),
  }
}
