import { createReadStream } from 'node:fs'
import type { Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { extract, pack } from 'tar-stream'
import { fileProblem, StartupError } from '../../startup-error.ts'

export interface ArchiveWriter {
  /** Adds an entry. Resolves once the stream has room for more. */
  add(name: string, content: Buffer): Promise<void>
  /** Completes the archive. Resolves once everything is in the file. */
  end(): Promise<void>
  /** Stops without waiting; the file is then useless. */
  abandon(): Promise<void>
}

/** Writes a gzip-compressed tar archive as a stream. */
export function writeArchive(file: Writable): ArchiveWriter {
  const archive = pack()
  const entries = async function* () {
    yield* archive
  }
  // Speed matters more than size: much of the content is hexadecimal, which any level halves.
  const written = pipeline(entries, createGzip({ level: 3 }), file)
  let failure: unknown
  written.catch((error: Error) => {
    failure = error
    // Passes the error to an entry that waits for room.
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
 * Yields the entries of an archive in order.
 *
 * @param entryBytesMax maximum size of an entry; a larger one is not from the Hub
 * @throws StartupError if the file cannot be read, or is damaged
 */
export async function* readArchive(file: string, entryBytesMax: number): AsyncGenerator<ArchiveEntry> {
  const archive = extract()
  const read = pipeline(createReadStream(file), createGunzip(), archive as unknown as Writable)
  read.catch((error: Error) => archive.destroy(error))
  try {
    for await (const entry of archive) {
      const { name, size = 0 } = entry.header
      if (size > entryBytesMax) throw new Error(`its entry ${name} exceeds the size limit of a backup`)
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
    'Nothing was changed. Name another backup, or copy this one again from its source.',
    { cause },
  )
}
