import { type FileHandle, mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { parseCheckpoint } from '../../../../provenance/index.ts'
import { checkpointLine, readCheckpointLine } from './checkpoint-line.ts'
import { type CheckpointSink, type Continuity, type KeptCheckpoint, RolledBackError } from './kept-types.ts'

/** Of a file's end; a line has less than a kibibyte, and lines of two processes may be out of order by a few. */
const tailBytes = 64 * 1024
const newline = 10

/** A folder with one file for each log, to which lines are added and nothing else. */
export interface CheckpointFolder extends CheckpointSink {
  /** Of a log; it need not be there. */
  fileOf(logName: string): string
  /** Gives a log's file another name, so that the log begins anew. Undefined where there is none. */
  putAside(logName: string, mark: string): Promise<string | undefined>
}

/** Nothing is made before the first checkpoint is kept. */
export function openCheckpointFolder(directory: string): CheckpointFolder {
  const fileOf = (logName: string) => join(directory, fileNameOf(logName))

  return {
    place: directory,
    fileOf,
    async keep(checkpoint, continues) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const file = await open(fileOf(checkpoint.log_name), 'a+', 0o600)
      try {
        const { size } = await file.stat()
        const tail = await readTail(file, size)
        const newest = newestOf(tail)
        if (newest && !(await isLater(checkpoint, newest, continues))) return
        // What a crash has cut off stays a line of its own.
        const separator = tail.length > 0 && tail.at(-1) !== newline ? '\n' : ''
        // One write at the end: lines of two processes do not mix.
        await file.appendFile(separator + checkpointLine(checkpoint))
        await file.sync()
        if (size === 0) await syncDirectory(directory)
      } finally {
        await file.close()
      }
    },
    async newest(logName) {
      const file = await openIfThere(fileOf(logName))
      if (file === undefined) return undefined
      try {
        const { size } = await file.stat()
        return newestOf(await readTail(file, size))
      } finally {
        await file.close()
      }
    },
    async some(logName, count) {
      const file = await openIfThere(fileOf(logName))
      if (file === undefined) return []
      try {
        const { size } = await file.stat()
        const begin = Math.floor(Math.random() * Math.max(1, size - tailBytes))
        const found = readLines(await readPart(file, begin, tailBytes))
        // The first ones are those that most history has been built on.
        const oldest = readLines(await readPart(file, 0, tailBytes)).slice(0, 1)
        return [...oldest, ...shuffled(found)].slice(0, count)
      } finally {
        await file.close()
      }
    },
    async putAside(logName, mark) {
      const aside = `${fileOf(logName).replace(/\.jsonl$/, '')}.${mark}.jsonl`
      try {
        await rename(fileOf(logName), aside)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
      await syncDirectory(directory)
      return aside
    },
  }
}

/** Key names have characters that file names have not. */
function fileNameOf(logName: string): string {
  return `${logName.replaceAll(/[^A-Za-z0-9_-]/g, (sign) => (sign === '/' ? '.' : `%${sign.codePointAt(0)?.toString(16)}`))}.jsonl`
}

/**
 * False where it is kept already, or one that continues it, as another process may have. Growth alone proves nothing: a log
 * that was set back grows beyond what it was.
 *
 * @throws RolledBackError
 */
async function isLater(checkpoint: KeptCheckpoint, newest: KeptCheckpoint, continues: Continuity): Promise<boolean> {
  if (checkpoint.tree_size > newest.tree_size && (await continues(newest, checkpoint))) return true
  if (checkpoint.tree_size < newest.tree_size && (await continues(checkpoint, newest))) return false
  const isSame =
    checkpoint.tree_size === newest.tree_size &&
    Buffer.from(parseCheckpoint(checkpoint.checkpoint).root).equals(parseCheckpoint(newest.checkpoint).root)
  // Signed anew, such as by the next key.
  if (isSame) return checkpoint.checkpoint !== newest.checkpoint
  throw new RolledBackError(
    `the log has ${checkpoint.tree_size} entries, and a state of ${newest.tree_size} that does not agree was kept at ${newest.kept_at}`,
    newest,
  )
}

function readTail(file: FileHandle, size: number): Promise<Buffer> {
  return readPart(file, Math.max(0, size - tailBytes), Math.min(size, tailBytes))
}

async function readPart(file: FileHandle, begin: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  const { bytesRead } = await file.read(bytes, 0, length, begin)
  return bytes.subarray(0, bytesRead)
}

/** Lines that cannot be read are passed over, such as those that a part begins or ends in: the audit reports them. */
function readLines(part: Buffer): KeptCheckpoint[] {
  return part
    .toString('utf8')
    .split('\n')
    .flatMap((line) => readCheckpointLine(line) ?? [])
}

function newestOf(tail: Buffer): KeptCheckpoint | undefined {
  let newest: KeptCheckpoint | undefined
  for (const found of readLines(tail)) {
    if (newest === undefined || found.tree_size >= newest.tree_size) newest = found
  }
  return newest
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  await handle.sync().finally(() => handle.close())
}

/** In any order (Fisher and Yates). */
function shuffled<Item>(items: readonly Item[]): Item[] {
  const mixed = [...items]
  for (let last = mixed.length - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * (last + 1))
    ;[mixed[last], mixed[other]] = [mixed[other]!, mixed[last]!]
  }
  return mixed
}
