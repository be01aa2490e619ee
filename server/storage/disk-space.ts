import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type FullPlace, storageFull } from '../../contract/domain-error.ts'
import { readStorageUrl } from '../config/storage-url.ts'
import type { Config } from '../config.ts'

const retryAfterSeconds = 300
const mebibyte = 1024 * 1024

/** Returns the bytes that the service's user may still write to the disk of a path. */
export type FreeBytes = (path: string) => Promise<number>

export interface DiskSpace {
  /** Returns the free bytes of each disk on which the service itself stores data. */
  free(): Promise<Partial<Record<FullPlace, number>>>
  /** Throws `hub-unavailable` with the name of the full disk, while a disk has less free space than the floor. */
  requireRoom(): Promise<void>
  readonly floorBytes: number
}

export type DiskSettings = Pick<Config, 'storageUrl' | 'databaseUrl' | 'dataDir' | 'diskFreeMinMb'> &
  Partial<Pick<Config, 'aws'>>

/**
 * Watches the disks of the embedded database and of a storage in a directory. Other disks are watched by their
 * operators.
 */
export function createDiskSpace(config: DiskSettings, freeBytes: FreeBytes = freeBytesOf): DiskSpace {
  const { storageUrl, databaseUrl, dataDir } = config
  const settings = storageUrl === undefined ? undefined : readStorageUrl(storageUrl, config.aws)
  const files = settings === undefined ? dataDir : settings.kind === 'file' ? settings.directory : undefined
  const places: Partial<Record<FullPlace, string>> = {
    ...(databaseUrl === undefined && { database: dataDir }),
    ...(files !== undefined && { files }),
  }
  return watch(places, config.diskFreeMinMb * mebibyte, freeBytes)
}

/** Watches the disk that a backup is written to. */
export function backupSpace(destination: string, config: Pick<Config, 'diskFreeMinMb'>): DiskSpace {
  return watch({ backup: destination }, config.diskFreeMinMb * mebibyte, freeBytesOf)
}

function watch(places: Partial<Record<FullPlace, string>>, floorBytes: number, freeBytes: FreeBytes): DiskSpace {
  async function free() {
    const entries = Object.entries(places).map(async ([place, path]) => [place, await freeBytes(path)] as const)
    return Object.fromEntries(await Promise.all(entries))
  }
  return {
    free,
    floorBytes,
    async requireRoom() {
      const found = Object.entries(await free()) as [FullPlace, number][]
      const full = found.find(([, bytes]) => bytes < floorBytes)
      if (full) throw storageFull(full[0], { retryAfterSeconds })
    },
  }
}

/** Returns the free bytes of the nearest folder that exists: the service creates its folders on first use. */
async function freeBytesOf(path: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(path)
    return bavail * bsize
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if ((code !== 'ENOENT' && code !== 'ENOTDIR') || dirname(path) === path) throw error
    return freeBytesOf(dirname(path))
  }
}
