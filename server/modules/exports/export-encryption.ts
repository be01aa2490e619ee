import { randomBytes } from 'node:crypto'
import { DomainError } from '../../../contract/domain-error.ts'
import { readTenant } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { encryptedStorage, sealedKeyOf } from '../../storage/encrypted-storage.ts'
import type { Storage } from '../../storage/storage.ts'

const dataKeyBytes = 32

export type ExportEncryption = ReturnType<typeof createExportEncryption>

/**
 * Encrypts the files of Mode B exports at rest. Each attempt has its own data key, encrypted under the tenant's content
 * key and stored at the beginning of each file. Files of other tenants stay in clear.
 */
export function createExportEncryption(deps: Pick<ModuleParts, 'database' | 'secrets'>) {
  const { database, secrets } = deps
  return {
    /** Returns the storage for an attempt's files. Throws `hub-unavailable` while the tenant's key cannot be reached. */
    async forWriting(tenant: Tenant, jobId: string, storage: Storage): Promise<Storage> {
      if (tenant.mode !== 'B') return storage
      const key = randomBytes(dataKeyBytes)
      const sealed = await database.withTenant(tenant.slug, (tx) =>
        secrets.encrypt(tx, tenant, key.toString('base64url'), contextOf(jobId)),
      )
      return encryptedStorage(storage, { key, sealed })
    },

    /**
     * Returns the storage that decrypts a file, given its key there. Throws `hub-unavailable` while the tenant's key
     * cannot be reached, and `invalid-download-url` once it is destroyed.
     */
    async forReading(tenant: Tenant, jobId: string, storage: Storage, file: string): Promise<Storage> {
      const sealed = tenant.mode === 'B' ? await sealedKeyOf(storage, file) : undefined
      // Files written before encryption existed are in clear.
      if (sealed === undefined) return storage
      const key = await readTenant(database, tenant.slug, (tx) => secrets.decrypt(tx, tenant, sealed, contextOf(jobId)))
      if (key === undefined) throw keyDestroyed()
      return encryptedStorage(storage, { key: Buffer.from(key, 'base64url'), sealed })
    },
  }
}

function contextOf(jobId: string): string {
  return `export/${jobId}`
}

function keyDestroyed(): DomainError {
  return new DomainError(
    'invalid-download-url',
    'The file can no longer be decrypted: the key of the tenant was destroyed. Its content cannot be recovered.',
  )
}
