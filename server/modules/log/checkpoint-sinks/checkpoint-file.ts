import { mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import { parseCheckpoint } from '../../../../provenance/index.ts'
import { checkpointLine } from './checkpoint-line.ts'
import {
  checkpointNewestIn,
  fileNameOf,
  newestOf,
  openIfThere,
  readLines,
  readPart,
  readTail,
  tailBytes,
} from './checkpoint-tail.ts'
import {
  type CheckpointSink,
  type ConsistencyCheck,
  LogRollbackError,
  type StoredCheckpoint,
} from './checkpoint-types.ts'
import { type KnownLogs, openKnownLogs } from './known-logs.ts'

const newline = 10

/** A folder with one file for each log, to which lines are added and nothing else, and the list of these logs. */
export interface CheckpointFolder extends CheckpointSink {
  /** Of a log; it need not be there. */
  fileOf(logName: string): string
  /** Gives a log's file another name, so that the log begins anew. Undefined where there is none. */
  putAside(logName: string, mark: string): Promise<string | undefined>
  readonly known: KnownLogs
}

/** Nothing is made before the first checkpoint is kept. */
export function openCheckpointFolder(directory: string): CheckpointFolder {
  const fileOf = (logName: string) => join(directory, fileNameOf(logName))
  const known = openKnownLogs(directory)
  /** Spares reading the list each time. */
  const listed = new Set<string>()

  /** @throws Error where checkpoints of the log were kept here, and are gone: a new file would hide that */
  async function requireFile(logName: string): Promise<void> {
    if (await openIfThere(fileOf(logName)).then((file) => file?.close().then(() => true))) return
    listed.delete(logName)
    if (!(await known.isKnown(logName))) return
    throw new Error(`the checkpoints that were kept of ${logName} are gone: put ${fileOf(logName)} back`)
  }

  async function list(logName: string): Promise<void> {
    if (listed.has(logName)) return
    if (!(await known.isKnown(logName))) await known.note({ log_name: logName, begun_at: formatTimestamp(Date.now()) })
    listed.add(logName)
  }

  return {
    place: directory,
    fileOf,
    known,
    async keep(checkpoint, continues) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      await requireFile(checkpoint.log_name)
      const file = await open(fileOf(checkpoint.log_name), 'a+', 0o600)
      try {
        const { size } = await file.stat()
        const tail = await readTail(file, size)
        const newest = newestOf(tail)
        if (newest && !(await isLater(checkpoint, newest, continues))) return
        await list(checkpoint.log_name)
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
    newest: (logName) => checkpointNewestIn(fileOf(logName)),
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
      listed.delete(logName)
      await known.note({ log_name: logName, put_aside_at: formatTimestamp(Date.now()) })
      return aside
    },
  }
}

/**
 * False where it is kept already, or one that continues it, as another process may have. Growth alone proves nothing: a log
 * that was set back grows beyond what it was.
 *
 * @throws RolledBackError
 */
async function isLater(
  checkpoint: StoredCheckpoint,
  newest: StoredCheckpoint,
  continues: ConsistencyCheck,
): Promise<boolean> {
  if (checkpoint.tree_size > newest.tree_size && (await continues(newest, checkpoint))) return true
  if (checkpoint.tree_size < newest.tree_size && (await continues(checkpoint, newest))) return false
  const isSame =
    checkpoint.tree_size === newest.tree_size &&
    Buffer.from(parseCheckpoint(checkpoint.checkpoint).root).equals(parseCheckpoint(newest.checkpoint).root)
  // Signed anew, such as by the next key.
  if (isSame) return checkpoint.checkpoint !== newest.checkpoint
  throw new LogRollbackError(
    `the log has ${checkpoint.tree_size} entries, and a state of ${newest.tree_size} that does not agree was kept at ${newest.kept_at}`,
    newest,
  )
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
