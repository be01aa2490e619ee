import { decryptSecret, deriveKey, encryptSecret } from '../../secrets/encryption.ts'
import type { TenantSecrets } from './cmek-types.ts'
import type { ContentKeys } from './content-keys.ts'

const purpose = 'tenant-secrets'
/**
 * Format byte of a secret under a content key, followed by the length of the key id and the id. Secrets under the
 * master key begin with version 1.
 */
const ownKeyFormat = 2

/** Encrypts secrets of tenants without their own key. */
export function createMasterKeySecrets(masterKey: Buffer): TenantSecrets {
  const key = deriveKey(masterKey, purpose)
  return {
    encrypt: async (tx, _tenant, plaintext, context) =>
      encryptSecret(key, Buffer.from(plaintext), `${tx.tenantId}/${context}`),
    decrypt: async (tx, _tenant, sealed, context) => decryptSecret(key, sealed, `${tx.tenantId}/${context}`).toString(),
  }
}

/**
 * Encrypts secrets of a Mode B tenant by a key derived from its active content key. Secrets from before it had one, and
 * those of all other tenants, are under the master key.
 */
export function createTenantSecrets(masterKey: Buffer, contentKeys: ContentKeys): TenantSecrets {
  const masterKeySecrets = createMasterKeySecrets(masterKey)
  return {
    async encrypt(tx, tenant, plaintext, context) {
      const active = tenant.mode === 'B' ? await contentKeys.activeKey(tx) : undefined
      if (active === undefined) return masterKeySecrets.encrypt(tx, tenant, plaintext, context)
      const keyId = Buffer.from(active.keyId)
      const sealed = encryptSecret(
        deriveKey(active.held.key, purpose),
        Buffer.from(plaintext),
        `${tx.tenantId}/${context}`,
      )
      return Buffer.concat([Buffer.of(ownKeyFormat, keyId.length), keyId, sealed])
    },

    async decrypt(tx, tenant, sealed, context) {
      if (sealed[0] !== ownKeyFormat) return masterKeySecrets.decrypt(tx, tenant, sealed, context)
      const keyIdEnd = 2 + (sealed[1] ?? 0)
      const key = contentKeys.keyOf(tx.tenantId, sealed.subarray(2, keyIdEnd).toString())
      if (key === undefined) return undefined
      return decryptSecret(deriveKey(key, purpose), sealed.subarray(keyIdEnd), `${tx.tenantId}/${context}`).toString()
    },
  }
}
