import { pipeline } from 'node:stream/promises'
import { type Pack, pack } from 'tar-stream'
import type { PackedFile } from './stored-file.ts'

/** Yields a tar archive of the files, in their order. Its entries have the given time. */
export async function* packArchive(files: readonly PackedFile[], at: string): AsyncGenerator<Buffer> {
  const archive = pack()
  const fed = feed(archive, files, new Date(at)).catch((error: Error) => archive.destroy(error))
  try {
    for await (const chunk of archive) yield chunk as Buffer
  } finally {
    archive.destroy()
    await fed
  }
}

async function feed(archive: Pack, files: readonly PackedFile[], mtime: Date): Promise<void> {
  for (const { name, sizeBytes, open } of files) {
    await pipeline(await open(), archive.entry({ name, size: sizeBytes, mode: 0o644, mtime }))
  }
  archive.finalize()
}
