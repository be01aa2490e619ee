import type { Config } from '../config.ts'
import type { Storage } from './storage.ts'

/** The storage of `HUB_STORAGE_URL`; a folder of the data directory without it. */
export function openStorage(config: Pick<Config, 'storageUrl' | 'dataDir'>): Storage {
  const notYet = (): never => {
    throw new Error('not built yet')
  }
  return {
    write: notYet,
    read: notYet,
    size: notYet,
    delete: notYet,
    list: notYet,
    place: config.storageUrl?.toString() ?? config.dataDir,
  }
}
