import { appendFile, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseCheckpoint, parseNote, verifyNoteSync } from '../../../../provenance/index.ts'
import { logCrypto } from '../log-crypto.ts'
import { checkpointNewestIn, fileNameOf } from './checkpoint-tail.ts'

/** A statement that a log has ended, as a line of the list. */
export interface Retirement {
  log_name: string
  retired_at: string
  /** Signed by the log's key; see docs/adr/0058-lost-logs.md. */
  statement: string
  /** Of the key that signed, in base64. */
  public_key: string
}

type Line = { log_name: string; begun_at: string } | { log_name: string; put_aside_at: string } | Retirement

/**
 * The logs that a folder keeps checkpoints of. Their list stands beside the files, so that a file that is gone is missed; and
 * outside of the database, so that a tenant that is gone is missed, too.
 */
export interface KnownLogs {
  /** Whether checkpoints of the log were kept, and it neither ended nor began anew since. */
  isKnown(logName: string): Promise<boolean>
  note(line: Line): Promise<void>
  /** Returns the logs that should exist: those that were neither put aside nor ended. */
  expected(): Promise<ExpectedLog[]>
}

interface ExpectedLog {
  log_name: string
  hasFile: boolean
}

const listName = 'known-logs.txt'

export function openKnownLogs(directory: string): KnownLogs {
  const list = join(directory, listName)

  /** The last line about each log. Files from before there was a list are taken into it. */
  async function lastLines(): Promise<Map<string, Line>> {
    const text = await textOf(list)
    if (text === undefined)
      return new Map((await namesOfFiles(directory)).map((name) => [name, { log_name: name, begun_at: '' }]))
    return new Map(
      text
        .split('\n')
        .flatMap((line) => readLine(line) ?? [])
        .map((line) => [line.log_name, line]),
    )
  }

  return {
    async isKnown(logName) {
      const line = (await lastLines()).get(logName)
      return line !== undefined && 'begun_at' in line
    },
    async note(line) {
      const isFirst = (await textOf(list)) === undefined
      const before = isFirst ? [...(await lastLines()).values()] : []
      const lines = [...before.filter(({ log_name }) => log_name !== line.log_name), line]
      await appendFile(list, lines.map((each) => `${JSON.stringify(each)}\n`).join(''), { mode: 0o600 })
    },
    async expected() {
      const lines = await lastLines()
      const files = new Set(await namesIn(directory))
      const expected: ExpectedLog[] = []
      for (const [logName, line] of lines) {
        if ('put_aside_at' in line) continue
        if ('retired_at' in line && (await hasEnded(directory, line))) continue
        expected.push({ log_name: logName, hasFile: files.has(fileNameOf(logName)) })
      }
      return expected
    },
  }
}

/** The text that the key of a log signs when it ends: a name of its own, so that it is no checkpoint. */
export function retirementText(checkpoint: string, retiredAt: string, reason: string): string {
  const { logName, treeSize, root } = parseCheckpoint(checkpoint)
  const said = [`log ${logName}`, `size ${treeSize}`, `root ${Buffer.from(root).toString('base64')}`]
  return `${['orghub/log-retirement/v1', ...said, `time ${retiredAt}`, `reason ${JSON.stringify(reason)}`].join('\n')}\n`
}

/** Whether the key that signed the newest checkpoint that was kept says that the log ended there. */
async function hasEnded(directory: string, { log_name, statement, public_key }: Retirement): Promise<boolean> {
  try {
    const newest = await checkpointNewestIn(join(directory, fileNameOf(log_name)))
    if (newest === undefined) return false
    const key = { name: log_name, publicKey: Buffer.from(public_key, 'base64') }
    const note = parseNote(statement)
    const [kind, log, size, root] = note.text.split('\n')
    const said = retirementText(newest.checkpoint, '', '').split('\n')
    const isSame = [kind, log, size, root].every((line, at) => line === said[at])
    const notes = [note, parseNote(newest.checkpoint)]
    return isSame && notes.every((each) => verifyNoteSync(each, [key], logCrypto))
  } catch {
    return false
  }
}

function readLine(text: string): Line | undefined {
  try {
    const line = JSON.parse(text)
    return typeof line?.log_name === 'string' ? line : undefined
  } catch {
    // A crash cut it off.
    return undefined
  }
}

/** Of the logs whose files are there; one that was put aside has another name. */
async function namesOfFiles(directory: string): Promise<string[]> {
  const names: string[] = []
  for (const file of await namesIn(directory)) {
    const newest = file.endsWith('.jsonl') ? await checkpointNewestIn(join(directory, file)) : undefined
    if (newest && fileNameOf(newest.log_name) === file) names.push(newest.log_name)
  }
  return names
}

function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(orNothing([]))
}

function textOf(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(orNothing(undefined))
}

function orNothing<Nothing>(nothing: Nothing) {
  return (error: NodeJS.ErrnoException): Nothing => {
    if (error.code === 'ENOENT') return nothing
    throw error
  }
}
