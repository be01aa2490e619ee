import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { DomainError } from '../../contract/domain-error.ts'
import { readStorageUrl } from '../config/storage-url.ts'
import type { Config } from '../config.ts'
import type { DatabaseLog } from '../db/database.ts'
import { StartupError } from '../startup-error.ts'
import { FileStorage } from './file-storage.ts'
import { S3Storage } from './s3-storage.ts'
import type { Storage } from './storage.ts'

/**
 * Opens the storage of `HUB_STORAGE_URL`; without it, the folder `storage` of the data directory. Nothing is created or
 * called before its first use.
 *
 * @throws Error for an address that the configuration would have rejected
 */
export function openStorage(config: Pick<Config, 'storageUrl' | 'dataDir'> & Partial<Pick<Config, 'aws'>>): Storage {
  if (config.storageUrl === undefined) return new FileStorage(join(config.dataDir, 'storage'))
  const settings = readStorageUrl(config.storageUrl, config.aws)
  return settings.kind === 'file' ? new FileStorage(settings.directory) : new S3Storage(settings)
}

/**
 * Writes, reads and deletes a small file.
 *
 * @throws DomainError `hub-unavailable` that names the failed step, with the storage's own error as its cause
 */
export async function checkStorage(storage: Storage): Promise<void> {
  const key = `checks/${randomUUID()}`
  const content = Buffer.from('A file that tells whether files can be kept here. It can be deleted.\n')
  await storage.write(key, content)
  const found = await storage.read(key)
  const isSame = found !== undefined && content.equals(await buffer(found))
  await storage.delete(key)
  if (!isSame) throw new DomainError('hub-unavailable', 'The file storage does not return what was written.')
}

/**
 * Checks at the start whether files can be stored, instead of failing with the first export. A bucket is only checked
 * in the background: it may be away for now, and only exports and erasures wait for it.
 *
 * @throws StartupError for a directory that cannot be used
 */
export async function checkStorageAtStart(
  storage: Storage,
  config: Pick<Config, 'storageUrl'>,
  log: DatabaseLog,
): Promise<void> {
  const check = checkStorage(storage)
  if (config.storageUrl?.startsWith('s3:')) {
    check.catch((error: unknown) =>
      log.error(
        { err: error, storage: storage.place },
        'files cannot be stored: exports and erasures wait; see HUB_STORAGE_URL',
      ),
    )
    return
  }
  try {
    await check
  } catch (error) {
    const reason = ((error as Error).cause ?? error) as Error
    throw new StartupError(
      `Files cannot be stored in ${storage.place}: ${reason.message}`,
      'Make the directory writable for the user that the Hub runs as, or set HUB_STORAGE_URL to another one or a bucket.',
      { cause: error },
    )
  }
}
