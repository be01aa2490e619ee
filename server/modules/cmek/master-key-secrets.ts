import { decryptSecret, deriveKey, encryptSecret } from '../../secrets/encryption.ts'
import type { TenantSecrets } from './cmek-types.ts'

const purpose = 'tenant-secrets'

/** Encrypts secrets of tenants without their own key. */
export function createMasterKeySecrets(masterKey: Buffer): TenantSecrets {
  const key = deriveKey(masterKey, purpose)
  return {
    seal: async (tx, _tenant, plaintext, context) =>
      encryptSecret(key, Buffer.from(plaintext), `${tx.tenantId}/${context}`),
    open: async (tx, _tenant, sealed, context) => decryptSecret(key, sealed, `${tx.tenantId}/${context}`).toString(),
  }
}
