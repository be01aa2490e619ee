import { createReadStream } from 'node:fs'
import type { Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { extract, pack } from 'tar-stream'
import { fileProblem, StartupError } from '../../startup-error.ts'

export interface ArchiveWriter {
  /** Returns once there is room for more. */
  add(name: string, content: Buffer): Promise<void>
  /** Returns once all is in the file. */
  end(): Promise<void>
  /** Ends without waiting; the file is of no use then. */
  abandon(): Promise<void>
}

/** A gzip-compressed tar archive, written as it comes. */
export function writeArchive(file: Writable): ArchiveWriter {
  const archive = pack()
  const entries = async function* () {
    yield* archive
  }
  // Fast rather than small: the rows are hexadecimal for a good part, and any level halves that.
  const written = pipeline(entries, createGzip({ level: 3 }), file)
  let failure: unknown
  written.catch((error: Error) => {
    failure = error
    // An entry that waits for room hears of it.
    archive.destroy(error)
  })
  return {
    async add(name, content) {
      try {
        await new Promise<void>((done, fail) => {
          archive.entry({ name, size: content.length, mode: 0o600 }, content, (error) => (error ? fail(error) : done()))
        })
      } catch (error) {
        throw failure ?? error
      }
    },
    async end() {
      archive.finalize()
      await written
    },
    async abandon() {
      archive.destroy()
      await written.catch(() => {})
    },
  }
}

export interface ArchiveEntry {
  name: string
  content: Buffer
}

/**
 * The entries of an archive, one after the other.
 *
 * @param entryBytesMax a larger entry is none of ours
 * @throws StartupError where the file cannot be read, or is damaged
 */
export async function* readArchive(file: string, entryBytesMax: number): AsyncGenerator<ArchiveEntry> {
  const archive = extract()
  const read = pipeline(createReadStream(file), createGunzip(), archive as unknown as Writable)
  read.catch((error: Error) => archive.destroy(error))
  try {
    for await (const entry of archive) {
      const { name, size = 0 } = entry.header
      if (size > entryBytesMax) throw new Error(`its entry ${name} is larger than any of a backup`)
      yield { name, content: await buffer(entry) }
    }
    await read
  } catch (cause) {
    if (cause instanceof StartupError) throw cause
    throw unreadable(file, cause)
  } finally {
    archive.destroy()
    await read.catch(() => {})
  }
}

export function unreadable(file: string, cause: unknown): StartupError {
  return new StartupError(
    `The backup ${file} cannot be restored: ${fileProblem(cause)}.`,
    'Nothing was changed. Name another backup, or copy this one again from where it came.',
    { cause },
  )
}
