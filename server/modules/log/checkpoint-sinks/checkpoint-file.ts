import { constants, type FileHandle, mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import { parseCheckpoint } from '../../../../provenance/index.ts'
import {
  checkpointLine,
  checkpointNewestIn,
  checkpointsNear,
  fileNameOf,
  newestOf,
  openIfThere,
  readIfThere,
  readLines,
  readPart,
  readTail,
  tailBytes,
} from './checkpoint-lines.ts'
import {
  type CheckpointSink,
  type ConsistencyCheck,
  LogRollbackError,
  type StoredCheckpoint,
} from './checkpoint-types.ts'
import { openKnownLogs } from './known-logs.ts'

const newline = 10

/**
 * Opens a folder with one append-only file per log, and the list of these logs. Creates nothing before the first
 * checkpoint is stored.
 */
export function openCheckpointFolder(directory: string) {
  const fileOf = (logName: string) => join(directory, fileNameOf(logName))
  const known = openKnownLogs(directory)
  /** Logs that are known to be in the list, so that it is not read each time. */
  const listed = new Set<string>()

  /**
   * Opens the file of a log to append to it. Creates it only if the list does not contain the log.
   *
   * @throws Error if checkpoints of the log were stored here, and are gone: a new file would hide that
   */
  async function openToAppend(logName: string): Promise<FileHandle> {
    const existing = await openIfThere(fileOf(logName), constants.O_RDWR | constants.O_APPEND)
    if (existing) return existing
    listed.delete(logName)
    if (await known.isKnown(logName)) {
      throw new Error(`the stored checkpoints of ${logName} are missing: restore ${fileOf(logName)}`)
    }
    return open(fileOf(logName), 'a+', 0o600)
  }

  async function list(logName: string): Promise<void> {
    if (listed.has(logName)) return
    if (!(await known.isKnown(logName))) await known.note({ log_name: logName, begun_at: formatTimestamp(Date.now()) })
    listed.add(logName)
  }

  const sink: CheckpointSink = {
    place: directory,
    async keep(checkpoint, continues) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const file = await openToAppend(checkpoint.log_name)
      try {
        const { size } = await file.stat()
        const tail = await readTail(file, size)
        const newest = newestOf(tail)
        if (newest && !(await isLater(checkpoint, newest, continues))) return
        await list(checkpoint.log_name)
        // A line that a crash has cut off stays a line of its own.
        const separator = tail.length > 0 && tail.at(-1) !== newline ? '\n' : ''
        // One write at the end, so that lines of two processes do not mix.
        await file.appendFile(separator + checkpointLine(checkpoint))
        await file.sync()
        if (size === 0) await syncDirectory(directory)
      } finally {
        await file.close()
      }
    },
    newest: (logName) => checkpointNewestIn(fileOf(logName)),
    async some(logName, count) {
      const some = await readIfThere(fileOf(logName), async (file, size) => {
        const begin = Math.floor(Math.random() * Math.max(1, size - tailBytes))
        const found = readLines(await readPart(file, begin, tailBytes))
        // Includes the first checkpoint, on which all later history builds.
        const oldest = readLines(await readPart(file, 0, tailBytes)).slice(0, 1)
        return [...oldest, ...shuffled(found)].slice(0, count)
      })
      return some ?? []
    },
  }

  return {
    ...sink,
    /** Returns the path of a log's file, which may not exist. */
    fileOf,
    known,
    /** Returns some checkpoints that were stored shortly before and after a time. */
    near: (logName: string, time: string) => checkpointsNear(fileOf(logName), time),
    /** Renames a log's file, so that the log starts again. Returns undefined if it does not exist. */
    async putAside(logName: string, mark: string): Promise<string | undefined> {
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
 * Returns whether the checkpoint continues the newest stored one. Returns false if it, or a later one of another
 * process, is already stored. A larger size alone proves nothing: a log that was set back may outgrow its former size.
 *
 * @throws LogRollbackError if they are inconsistent
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
  // Signed again, such as by the next key.
  if (isSame) return checkpoint.checkpoint !== newest.checkpoint
  throw new LogRollbackError(
    `the log has ${checkpoint.tree_size} entries, and disagrees with a state of ${newest.tree_size} that was stored at ${newest.kept_at}`,
    newest,
  )
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  await handle.sync().finally(() => handle.close())
}

/** Returns the items in random order (Fisher and Yates). */
function shuffled<Item>(items: readonly Item[]): Item[] {
  const mixed = [...items]
  for (let last = mixed.length - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * (last + 1))
    ;[mixed[last], mixed[other]] = [mixed[other]!, mixed[last]!]
  }
  return mixed
}
