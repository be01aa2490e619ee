import { fromBase64, toBase64 } from './bytes.ts'
import { ProvenanceError } from './errors.ts'
import { parseNote } from './note.ts'

/** A signed state of a log (https://c2sp.org/tlog-checkpoint): the text of a signed note. */
export type Checkpoint = {
  /** The name of the log (its origin). The service uses the name of the log's keys; other logs may use any line. */
  readonly logName: string
  readonly treeSize: number
  /** 32 bytes. */
  readonly root: Uint8Array
  /** Microseconds since 1970-01-01T00:00:00Z; undefined if the checkpoint does not state when it was signed. */
  readonly timeMicros: number | undefined
}

/** Returns the text to sign. The time is an extension line, which other readers ignore. */
export function checkpointText({ logName, treeSize, root, timeMicros }: Checkpoint): string {
  const time = timeMicros === undefined ? '' : `time ${timeMicros}\n`
  return `${logName}\n${treeSize}\n${toBase64(root)}\n${time}`
}

/**
 * Reads a signed checkpoint without verifying its signatures (`verifyNote` does). Throws `note-malformed` for anything
 * else, such as the note of a seal, whose second line is not a number.
 */
export function parseCheckpoint(note: string): Checkpoint {
  const [logName = '', size = '', root = '', ...rest] = parseNote(note).text.split('\n')
  // The text ends in a newline, so the last line is empty. No other line may be empty.
  const extensions = rest.slice(0, -1)
  if (rest.at(-1) !== '' || extensions.includes('')) throw malformed('three lines or more, none of them empty')
  if (logName === '') throw malformed('the name of a log in its first line')
  const treeSize = Number(size)
  if (!/^(?:0|[1-9][0-9]*)$/.test(size) || !Number.isSafeInteger(treeSize)) {
    throw malformed('a number up to 2^53-1, without leading zeros, in its second line')
  }
  return { logName, treeSize, root: rootIn(root), timeMicros: timeIn(extensions) }
}

function rootIn(line: string): Uint8Array {
  try {
    const root = fromBase64(line)
    if (root.length === 32) return root
  } catch (error) {
    if (!(error instanceof ProvenanceError)) throw error
  }
  throw malformed('a hash of 32 bytes in base64 in its third line')
}

function timeIn(extensions: readonly string[]): number | undefined {
  const time = extensions
    .map((line) => /^time (0|[1-9][0-9]{0,15})$/.exec(line)?.[1])
    .find((found) => found !== undefined)
  return time === undefined || !Number.isSafeInteger(Number(time)) ? undefined : Number(time)
}

function malformed(what: string): ProvenanceError {
  return new ProvenanceError('note-malformed', `a checkpoint has ${what}`)
}
