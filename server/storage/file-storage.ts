import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Disk } from 'flydrive'
import { checkKey, contentOf, failureOf, type Storage, storageFailed } from './storage.ts'

/** Maximum number of attempts to create a folder and a file in it, while others may be removing the empty folder. */
const openAttemptsMax = 5
const unfinishedSuffix = '.unfinished'

/**
 * Stores files in a directory that only the service's user can enter. An unfinished file has a hidden name in the same
 * folder, and gets its own name when all of it is on the disk. The drive of flydrive lists and deletes.
 */
export class FileStorage implements Storage {
  readonly place: string
  #disk: Promise<Disk> | undefined

  constructor(directory: string) {
    this.place = directory
  }

  async write(key: string, content: Readable | Uint8Array): Promise<void> {
    checkKey(key)
    const path = this.#pathOf(key)
    const unfinished = join(dirname(path), `.${basename(path)}.${randomUUID()}${unfinishedSuffix}`)
    const source = contentOf(content)
    try {
      const file = await openNew(unfinished)
      try {
        await file.writeFile(source)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(unfinished, path)
      await syncDirectory(dirname(path))
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => {})
      throw failureOf(error)
    }
  }

  async read(key: string, range?: { start: number; end: number }): Promise<Readable | undefined> {
    checkKey(key)
    try {
      const file = await open(this.#pathOf(key))
      // The open file stays complete for this reader even if it is deleted or replaced.
      return file.createReadStream(range)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw storageFailed(error)
    }
  }

  async size(key: string): Promise<number | undefined> {
    checkKey(key)
    try {
      const found = await stat(this.#pathOf(key))
      return found.isFile() ? found.size : undefined
    } catch (error) {
      if (isMissing(error)) return undefined
      throw storageFailed(error)
    }
  }

  async delete(key: string): Promise<void> {
    checkKey(key)
    const folder = dirname(this.#pathOf(key))
    try {
      await (await this.#drive()).delete(key)
      // Removes leftovers of killed writers. Writers that are still active then fail.
      for (const name of await readdir(folder).catch(noneIfMissing)) {
        if (name.startsWith(`.${basename(key)}.`) && name.endsWith(unfinishedSuffix)) await rm(join(folder, name))
      }
      await this.#removeEmpty(folder)
    } catch (error) {
      if (!isMissing(error)) throw storageFailed(error)
    }
  }

  async *list(prefix: string): AsyncIterable<string> {
    if (prefix !== '') checkKey(prefix.replace(/\/$/, ''))
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
    let names: Iterable<{ isFile: boolean; key?: string }>
    try {
      const { objects } = await (await this.#drive()).listAll(folder === '' ? '/' : folder, { recursive: true })
      names = objects as Iterable<{ isFile: boolean; key?: string }>
    } catch (error) {
      throw storageFailed(error)
    }
    for (const { isFile, key } of names) {
      if (isFile && key?.startsWith(prefix) && !basename(key).startsWith('.')) yield key
    }
  }

  #pathOf(key: string): string {
    return join(this.place, key)
  }

  /** Loads the drive on first use, so that a start does not wait for it. */
  #drive(): Promise<Disk> {
    this.#disk ??= Promise.all([import('flydrive'), import('flydrive/drivers/fs')]).then(
      ([{ Disk }, { FSDriver }]) => new Disk(new FSDriver({ location: this.place, visibility: 'private' })),
    )
    return this.#disk
  }

  async #removeEmpty(folder: string): Promise<void> {
    for (let each = folder; each.startsWith(`${this.place}/`); each = dirname(each)) {
      try {
        await rmdir(each)
      } catch {
        return
      }
    }
  }
}

async function openNew(path: string): Promise<FileHandle> {
  for (let attempt = 1; ; attempt += 1) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    try {
      return await open(path, 'wx', 0o600)
    } catch (error) {
      if (!isMissing(error) || attempt === openAttemptsMax) throw error
    }
  }
}

/** Syncs a directory. A new name outlasts a power cut only when its folder is on the disk too. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR'
}

function noneIfMissing(error: unknown): string[] {
  if (isMissing(error)) return []
  throw error
}
