import { closeSync, openSync, readSync } from 'node:fs'
import { access } from 'node:fs/promises'
import type { ManifestSource } from '../../provenance/export/manifest-reader.ts'
import { fileProblem } from '../../server/startup-error.ts'
import { fetchInput, isUrl } from './fetch-input.ts'
import { InconclusiveError } from './inconclusive-error.ts'

export interface FoundManifest {
  /** The path or URL as given, or the path where it was found. */
  place: string
  source: ManifestSource
}

/**
 * Returns the manifest of a file: the given one, or the one beside the file, even if the file was compressed or
 * unpacked since. Undefined if absent. Throws InconclusiveError if the given one is unreadable.
 */
export async function findManifest(file: string, given: string | undefined): Promise<FoundManifest | undefined> {
  if (given !== undefined) return { place: given, source: await sourceOf(given) }
  const unpacked = file.endsWith('.gz') ? [file.slice(0, -3)] : []
  for (const name of [file, `${file}.gz`, ...unpacked]) {
    const place = `${name}.manifest.json`
    if (await exists(place)) return { place, source: await sourceOf(place) }
  }
  return undefined
}

async function sourceOf(place: string): Promise<ManifestSource> {
  if (isUrl(place)) {
    const chunks = await fetchInput(place)
    return () => chunks
  }
  try {
    closeSync(openSync(place, 'r'))
    return () => chunksOf(place)
  } catch (error) {
    throw new InconclusiveError(
      `The manifest ${place} cannot be read: ${fileProblem(error)}.`,
      'See that --manifest is right.',
    )
  }
}

const chunkBytes = 256 * 1024

function* chunksOf(path: string): Generator<Uint8Array, void> {
  const file = openSync(path, 'r')
  try {
    for (;;) {
      const chunk = new Uint8Array(chunkBytes)
      const length = readSync(file, chunk)
      if (length === 0) return
      yield chunk.subarray(0, length)
    }
  } finally {
    closeSync(file)
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
