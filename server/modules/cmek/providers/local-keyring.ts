import { hash, randomBytes } from 'node:crypto'
import { link, mkdir, open, readdir, readFile, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { decryptSecret, deriveKey, encryptSecret } from '../../../secrets/encryption.ts'
import type { KeyContext, KeyProvider } from '../cmek-types.ts'
import { KeyProviderError } from '../key-provider-error.ts'

const keyBytes = 32

/**
 * Opens a keyring of files, outside the database and its backups: `<directory>/<tenant>/<SHA-256 of the name>.key`,
 * each encrypted under the master key. The first wrap creates a key; unwrapping never does.
 *
 * @param directory absolute; shared by all processes of the service
 */
export function openLocalKeyring(directory: string, masterKey: Buffer): KeyProvider {
  const sealingKey = deriveKey(masterKey, 'local keyring')
  const pathOf = (tenant: string, keyRef: string) => join(directory, tenant, `${hash('sha256', keyRef)}.key`)

  async function readKey(tenant: string, keyRef: string): Promise<Buffer | undefined> {
    try {
      return decryptSecret(sealingKey, await readFile(pathOf(tenant, keyRef)), `${tenant}/${keyRef}`)
    } catch (cause) {
      if (isMissing(cause)) return undefined
      throw new KeyProviderError('A key of the local keyring cannot be read.', { isAway: true, cause })
    }
  }

  async function ensureKey(tenant: string, keyRef: string): Promise<Buffer> {
    const known = await readKey(tenant, keyRef)
    if (known !== undefined) return known
    const sealed = encryptSecret(sealingKey, randomBytes(keyBytes), `${tenant}/${keyRef}`)
    try {
      await mkdir(join(directory, tenant), { recursive: true, mode: 0o700 })
      await writeOnce(pathOf(tenant, keyRef), sealed)
    } catch (cause) {
      throw new KeyProviderError('The local keyring cannot be written.', { isAway: true, cause })
    }
    // A concurrent call may have created it first.
    return (await readKey(tenant, keyRef))!
  }

  return {
    problemOf: () => undefined,

    async wrap(keyRef, key, { tenant, keyId }) {
      return encryptSecret(await ensureKey(tenant, keyRef), key, contextText({ tenant, keyId }))
    },

    async unwrap(keyRef, wrapped, { tenant, keyId }) {
      const customerKey = await readKey(tenant, keyRef)
      if (customerKey === undefined) {
        throw new KeyProviderError('The local keyring has no such key.', { isAway: false })
      }
      try {
        return decryptSecret(customerKey, wrapped, contextText({ tenant, keyId }))
      } catch (cause) {
        throw new KeyProviderError('The key of the local keyring does not decrypt the content key.', {
          isAway: false,
          cause,
        })
      }
    },

    async destroyKeysOf(tenant) {
      const folder = join(directory, tenant)
      try {
        for (const name of await readdir(folder)) await shred(join(folder, name))
        await rmdir(folder)
      } catch (cause) {
        if (isMissing(cause)) return
        throw new KeyProviderError('The keys of the local keyring could not be destroyed.', { isAway: true, cause })
      }
    },
  }
}

function contextText({ tenant, keyId }: KeyContext): string {
  return `${tenant}/${keyId}`
}

/** Creates the file completely or not at all, even across a power cut; an existing file stays. */
async function writeOnce(path: string, content: Buffer): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}.new`
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  try {
    await link(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(draft, { force: true })
  }
  await syncFolder(join(path, '..'))
}

/** Overwrites and deletes a file. Flash and snapshots may keep the old content, which the master key still protects. */
async function shred(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    const { size } = await file.stat()
    await file.write(randomBytes(size), 0, size, 0)
    await file.sync()
  } finally {
    await file.close()
  }
  await rm(path)
  await syncFolder(join(path, '..'))
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}
