import { open, readFile, rename } from 'node:fs/promises'
import { StartupError } from '../../server/startup-error.ts'

/** The progress of an import, in a file beside the imported one. A kill at any moment leaves it complete. */
export interface ImportState {
  /** SHA-256 of the imported file, in hex. */
  file_sha256: string
  /** The Hub, the tenant and the options that the import began with. */
  target: string
  /** Batches with a known result; the next one has this index. */
  batches: number
  stored: number
  rejected: number
  /** Bytes of the file of rejected lines that belong to these batches. */
  rejected_bytes: number
  /** The next batch, if it was sent and its result is not known. A batch that is sent again keeps this key. */
  uncertain?: { key?: string; client_id: string; since_ms: number; until_ms: number } | undefined
  finished: boolean
}

/**
 * Reads the progress of an earlier run of the same import, or begins a new one.
 *
 * @throws StartupError if the file is another than that of the earlier run, or the Hub or the options are others and
 *   events are stored
 */
export async function readState(path: string, fileSha256: string, target: string): Promise<ImportState> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  const none = { batches: 0, stored: 0, rejected: 0, rejected_bytes: 0, finished: false }
  const begun = { file_sha256: fileSha256, target, ...none }
  if (text === undefined) return begun
  const state = stateIn(text, path)
  if (state.file_sha256 !== fileSha256) {
    throw new StartupError(
      `The file has changed since its import began: ${path} belongs to other content.`,
      'Put added lines into a file of their own. To import the changed file as a new one, remove the file of its progress: what is stored already is then stored again.',
    )
  }
  if (state.target === target) return state
  // Nothing of the file can be stored twice.
  if (state.stored === 0 && state.uncertain === undefined) return begun
  throw new StartupError(
    `The import of this file began with other settings: ${state.target}`,
    `Repeat it with the same Hub, tenant and options. To begin again, remove ${path}: what is stored already is then stored again.`,
  )
}

function stateIn(text: string, path: string): ImportState {
  try {
    const state = JSON.parse(text) as ImportState
    if (typeof state.file_sha256 === 'string' && Number.isInteger(state.batches)) return state
  } catch {
    // The same as content of another kind.
  }
  throw new StartupError(
    `${path} is not the progress of an import.`,
    'Move it away, or import a copy of the file under another name.',
  )
}

/** Replaces the file of the progress, which is on the disk when this returns. */
export async function writeState(path: string, state: ImportState): Promise<void> {
  const file = await open(`${path}.new`, 'w', 0o600)
  try {
    await file.writeFile(JSON.stringify(state))
    await file.datasync()
  } finally {
    await file.close()
  }
  await rename(`${path}.new`, path)
}
