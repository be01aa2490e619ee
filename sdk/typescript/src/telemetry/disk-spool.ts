import { newRequestId } from '../request-id.ts'
import { type BatchStore, EventsLost, type OpenBatch, type StoredBatch, TelemetryBufferError } from './batch-types.ts'
import { bodyOf } from './event-body.ts'
import { type FileSystem, LineFile, loadFileSystem } from './line-file.ts'
import { lockDirectory } from './spool-lock.ts'

export interface SpoolOptions {
  /** A directory of this client alone. It is created if it is absent. */
  directory: string
  /** Maximum bytes of all files; defaults to 256 MiB. */
  maxBytes?: number
  /**
   * When data is flushed to disk, which only matters if the machine fails: `always` before `track` resolves, `batch` (the
   * default) when a batch is complete, `never`. A killed process loses nothing in either case.
   */
  fsync?: Fsync
}

export type Fsync = 'always' | 'batch' | 'never'

const filesMax = 100_000
const fileBytesMax = 64 << 20
const suffix = '.events.jsonl'

/** Opens a spool, and returns the batches that earlier processes left in it, oldest first. */
export async function openSpool(
  options: SpoolOptions,
  unwrittenBytesMax: number,
  onRoom: () => void,
): Promise<{ store: BatchStore; found: StoredBatch[] }> {
  const { directory: given, maxBytes = 256 << 20, fsync = 'batch' } = options
  if (typeof given !== 'string' || given === '') throw new TypeError('spool.directory is required')
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 1 << 20) throw new TypeError('spool.maxBytes must be from 1 MiB')
  if (!['always', 'batch', 'never'].includes(fsync)) throw new TypeError('spool.fsync must be always, batch or never')
  const fs = await loadFileSystem()
  await fs.mkdir(given, { recursive: true, mode: 0o700 })
  // The program may change its folder, or a link.
  const directory = await fs.realpath(given)
  const unlock = await lockDirectory(fs, directory)
  const spool = new DiskSpool(fs, { directory, maxBytes, fsync, unwrittenBytesMax }, onRoom, unlock)
  try {
    return { store: spool, found: await spool.found() }
  } catch (error) {
    await unlock()
    throw error
  }
}

interface SpoolBounds {
  directory: string
  maxBytes: number
  fsync: Fsync
  unwrittenBytesMax: number
}

/**
 * Keeps each batch in a file of its own, which is complete when it is sent and deleted when the Hub has answered. The
 * name of the file is the idempotency key, so a batch that is sent again after a crash is stored once.
 */
class DiskSpool implements BatchStore {
  readonly isDurable = true
  readonly #fs: FileSystem
  readonly #bounds: SpoolBounds
  readonly #onRoom: () => void
  readonly #unlock: () => Promise<void>
  #bytes = 0
  #files = 0
  #unwritten = 0
  #sequence = 0

  constructor(fs: FileSystem, bounds: SpoolBounds, onRoom: () => void, unlock: () => Promise<void>) {
    this.#fs = fs
    this.#bounds = bounds
    this.#onRoom = onRoom
    this.#unlock = unlock
  }

  hasRoom(bytes: number): boolean {
    const { maxBytes, unwrittenBytesMax } = this.#bounds
    return this.#bytes + bytes <= maxBytes && this.#unwritten + bytes <= unwrittenBytesMax && this.#files < filesMax
  }

  open(): OpenBatch {
    // Sorts by time, and within a millisecond by sequence.
    const time = Date.now().toString().padStart(14, '0')
    const key = `${time}-${(this.#sequence++ % 1e6).toString().padStart(6, '0')}-${newRequestId()}`
    const path = this.#pathOf(key)
    const file = new LineFile(this.#fs, path, this.#bounds.fsync)
    let size = 0
    this.#files += 1
    return {
      key,
      add: async (line, byteLength) => {
        const bytes = byteLength + 1
        this.#bytes += bytes
        this.#unwritten += bytes
        size += bytes
        try {
          await file.append(`${line}\n`)
        } finally {
          this.#unwritten -= bytes
          this.#onRoom()
        }
      },
      seal: () => file.end(),
      body: async () => {
        await file.ended
        return file.hasLines ? bodyOf(await readLines(this.#fs, path)) : undefined
      },
      remove: () => this.#remove(path, size),
    }
  }

  async found(): Promise<StoredBatch[]> {
    const names = (await this.#fs.readdir(this.#bounds.directory)).filter((name) => name.endsWith(suffix)).sort()
    const found: StoredBatch[] = []
    for (const name of names) {
      const key = name.slice(0, -suffix.length)
      const path = this.#pathOf(key)
      const { size } = await this.#fs.stat(path)
      this.#bytes += size
      this.#files += 1
      found.push({
        key,
        body: async () => {
          if (size > fileBytesMax) throw tooLarge(path, size)
          return bodyOf((await readLines(this.#fs, path)).filter(isJson))
        },
        remove: () => this.#remove(path, size),
      })
    }
    return found
  }

  close(): Promise<void> {
    return this.#unlock()
  }

  #pathOf(key: string): string {
    return `${this.#bounds.directory}/${key}${suffix}`
  }

  async #remove(path: string, size: number): Promise<void> {
    await this.#fs.rm(path, { force: true })
    this.#bytes -= size
    this.#files -= 1
    this.#onRoom()
  }
}

/** Returns the complete lines of a file. A line without an end was being written when the process died. */
async function readLines(fs: FileSystem, path: string): Promise<string[]> {
  try {
    return (await fs.readFile(path, 'utf8')).split('\n').slice(0, -1)
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error
    throw new EventsLost(`The events of ${path} are lost: another program deleted the file`, { cause: error })
  }
}

function tooLarge(path: string, size: number): Error {
  return new TelemetryBufferError(
    `${path} has ${size} bytes, more than any batch of this client. It stays there and is not sent: move it away.`,
  )
}

/** Returns false for lines that a failure of the machine left without their content. */
function isJson(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}
