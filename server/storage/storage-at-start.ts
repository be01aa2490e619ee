import type { Config } from '../config.ts'
import type { DatabaseLog } from '../db/database.ts'
import { StartupError } from '../startup-error.ts'
import { checkStorage } from './open-storage.ts'
import type { Storage } from './storage.ts'

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
        'files cannot be kept: exports and erasures wait; see HUB_STORAGE_URL',
      ),
    )
    return
  }
  try {
    await check
  } catch (error) {
    const reason = ((error as Error).cause ?? error) as Error
    throw new StartupError(
      `Files cannot be kept in ${storage.place}: ${reason.message}`,
      'Make the directory writable for the user that the Hub runs as, or set HUB_STORAGE_URL to another one or a bucket.',
      { cause: error },
    )
  }
}
