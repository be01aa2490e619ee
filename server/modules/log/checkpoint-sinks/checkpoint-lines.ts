import { type FileHandle, open } from 'node:fs/promises'
import { ProvenanceError, parseCheckpoint } from '../../../../provenance/index.ts'
import type { StoredCheckpoint } from './checkpoint-types.ts'

/**
 * Bytes of a file's end that are read. A line has less than a kibibyte, and lines of two processes may be out of order
 * by a few.
 */
export const tailBytes = 64 * 1024
/** Bytes that contain a whole line, wherever they begin. */
const lineBytesMax = 4096

/** Returns the checkpoint of the largest tree in a file; undefined if there is none. */
export async function checkpointNewestIn(path: string): Promise<StoredCheckpoint | undefined> {
  return readIfThere(path, async (file, size) => newestOf(await readTail(file, size)))
}

/** Returns the checkpoints of a file that were stored shortly before and after a time. Reads a few parts of the file. */
export async function checkpointsNear(path: string, time: string): Promise<StoredCheckpoint[]> {
  const found = await readIfThere(path, async (file, size) => {
    let [begin, end] = [0, size]
    // Lines are in the order of their times, but for a few.
    while (end - begin > tailBytes) {
      const middle = Math.floor((begin + end) / 2)
      const [line] = readLines(await readPart(file, middle, lineBytesMax))
      if (line !== undefined && line.kept_at <= time) begin = middle
      else end = middle
    }
    const from = Math.max(0, begin - tailBytes)
    return readLines(await readPart(file, from, Math.min(size, end + tailBytes) - from))
  })
  return found ?? []
}

/** Reads a file, given its size in bytes. Returns undefined if it does not exist. */
export async function readIfThere<Result>(path: string, read: (file: FileHandle, size: number) => Promise<Result>) {
  const file = await openIfThere(path)
  if (file === undefined) return undefined
  try {
    return await read(file, (await file.stat()).size)
  } finally {
    await file.close()
  }
}

/** Returns the file name of a log. Escapes characters that file names must not contain. */
export function fileNameOf(logName: string): string {
  return `${logName.replaceAll(/[^A-Za-z0-9_-]/g, (sign) => (sign === '/' ? '.' : `%${sign.codePointAt(0)?.toString(16)}`))}.jsonl`
}

export function readTail(file: FileHandle, size: number): Promise<Buffer> {
  return readPart(file, Math.max(0, size - tailBytes), Math.min(size, tailBytes))
}

export async function readPart(file: FileHandle, begin: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  const { bytesRead } = await file.read(bytes, 0, length, begin)
  return bytes.subarray(0, bytesRead)
}

/** Parses lines. Skips unreadable ones, such as partial lines at both ends; the audit reports others. */
export function readLines(part: Buffer): StoredCheckpoint[] {
  return part
    .toString('utf8')
    .split('\n')
    .flatMap((line) => readCheckpointLine(line) ?? [])
}

export function newestOf(tail: Buffer): StoredCheckpoint | undefined {
  let newest: StoredCheckpoint | undefined
  for (const found of readLines(tail)) {
    if (newest === undefined || found.tree_size >= newest.tree_size) newest = found
  }
  return newest
}

export async function openIfThere(path: string, flags: string | number = 'r'): Promise<FileHandle | undefined> {
  try {
    return await open(path, flags)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Returns one line of a file of checkpoints, including the newline. */
export function checkpointLine({ kept_at, log_name, tree_size, checkpoint }: StoredCheckpoint): string {
  return `${JSON.stringify({ kept_at, log_name, tree_size, checkpoint })}\n`
}

/**
 * Parses a line, and compares its members with its note. Does not verify signatures.
 *
 * @returns undefined for an invalid line, such as one that a crash has cut off
 */
function readCheckpointLine(line: string): StoredCheckpoint | undefined {
  try {
    const found: Partial<StoredCheckpoint> | null = JSON.parse(line)
    if (typeof found?.checkpoint !== 'string' || typeof found.kept_at !== 'string') return undefined
    const { logName, treeSize } = parseCheckpoint(found.checkpoint)
    if (found.log_name !== logName || found.tree_size !== treeSize) return undefined
    return { kept_at: found.kept_at, log_name: logName, tree_size: treeSize, checkpoint: found.checkpoint }
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof ProvenanceError) return undefined
    throw error
  }
}
