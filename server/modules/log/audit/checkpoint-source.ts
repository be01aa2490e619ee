import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import {
  type Checkpoint,
  isJsonObject,
  type JsonValue,
  ProvenanceError,
  parseCheckpoint,
} from '../../../../provenance/index.ts'
import { fileProblem, StartupError } from '../../../startup-error.ts'

/** A stored checkpoint that is not verified yet. */
export interface FoundCheckpoint extends Checkpoint {
  /** The line of the file, from 1 on. */
  line: number
  note: string
}

/** A file with checkpoints, which may be read more than once. */
export interface CheckpointSource {
  readonly file: string
  /** Reads the checkpoints in file order. Counts and skips unreadable lines, such as one that a crash has cut off. */
  read(unreadable?: (line: number) => void): AsyncGenerator<FoundCheckpoint>
}

const checkpointFileFix =
  'Name a file of HUB_CHECKPOINT_SINK, a signed note, or a saved answer of GET /api/v1/hub/log/checkpoint.'
/** Maximum size in bytes of a file with one checkpoint. */
const singleBytesMax = 1_000_000

/**
 * Opens a file in one of three forms: lines of JSON as the file sink writes them, one signed note, or the JSON response
 * of `GET /api/v1/hub/log/checkpoint`.
 *
 * @throws StartupError if it cannot be read, or contains no checkpoint
 */
export async function openCheckpointSource(file: string): Promise<CheckpointSource> {
  const start = await beginningOf(file)
  const single = readSingle(start)
  const source: CheckpointSource = { file, read: single ? () => one(single) : (skipped) => linesOf(file, skipped) }
  for await (const _ of source.read()) return source
  throw new StartupError(`${file} contains no checkpoint.`, checkpointFileFix)
}

async function* one(found: FoundCheckpoint): AsyncGenerator<FoundCheckpoint> {
  yield found
}

async function* linesOf(file: string, unreadable: (line: number) => void = () => {}): AsyncGenerator<FoundCheckpoint> {
  const input = createReadStream(file, 'utf8')
  let line = 0
  try {
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      line += 1
      if (text.trim() === '') continue
      const found = readJson(text, line)
      if (found) yield found
      else unreadable(line)
    }
  } finally {
    input.destroy()
  }
}

/** Parses the whole file as one checkpoint. Returns undefined if it is not one. */
function readSingle(text: string | undefined): FoundCheckpoint | undefined {
  if (text === undefined) return undefined
  return text.trimStart().startsWith('{') ? readJson(text, 1) : readNote(text, 1)
}

function readJson(text: string, line: number): FoundCheckpoint | undefined {
  let json: JsonValue
  try {
    json = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isJsonObject(json) || typeof json.checkpoint !== 'string') return undefined
  return readNote(json.checkpoint, line)
}

function readNote(note: string, line: number): FoundCheckpoint | undefined {
  try {
    return { ...parseCheckpoint(note), line, note }
  } catch (error) {
    if (error instanceof ProvenanceError) return undefined
    throw error
  }
}

/** Returns the content of a small file; undefined if it is too large for a single checkpoint. */
async function beginningOf(file: string): Promise<string | undefined> {
  try {
    const handle = await open(file, 'r')
    try {
      const { size } = await handle.stat()
      return size > singleBytesMax ? undefined : await handle.readFile('utf8')
    } finally {
      await handle.close()
    }
  } catch (cause) {
    throw new StartupError(
      `The file ${file} with checkpoints cannot be read: ${fileProblem(cause)}.`,
      checkpointFileFix,
      {
        cause,
      },
    )
  }
}
