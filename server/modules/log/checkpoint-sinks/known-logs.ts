import { appendFile, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseCheckpoint, parseNote, verifyNoteSync } from '../../../../provenance/index.ts'
import { type Database, readTenant } from '../../../db/database.ts'
import { nodeCrypto } from '../../../records/node-crypto.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import { hasHeadAndKey } from '../log-store.ts'
import { checkpointNewestIn, fileNameOf } from './checkpoint-lines.ts'

/** The statement that a log has ended, as a line of the list. */
export interface Retirement {
  log_name: string
  retired_at: string
  /** The note, signed by the log's key; see docs/adr/0058-lost-logs.md. */
  statement: string
  /** The public key of the signer, in base64. */
  public_key: string
}

type Line = { log_name: string; begun_at: string } | { log_name: string; put_aside_at: string } | Retirement

const listName = 'known-logs.txt'
/** Maximum tenants per look, to bound its cost for the database. Further tenants follow at the next looks. */
const tenantsAtOnce = 50

/**
 * Lists the logs whose checkpoints a folder contains. The list is beside the files, to detect a missing file, and
 * outside of the database, to detect a missing tenant.
 */
export function openKnownLogs(directory: string) {
  const list = join(directory, listName)

  /** Returns the last line about each log. A file without a line, or without a list, stands for one. */
  async function lastLines(): Promise<Map<string, Line>> {
    const lines = ((await textOf(list)) ?? '').split('\n').flatMap((line) => readLine(line) ?? [])
    const last = new Map<string, Line>(lines.map((line) => [line.log_name, line]))
    for (const name of await namesOfFiles(directory, [...last.keys()])) last.set(name, { log_name: name, begun_at: '' })
    return last
  }

  return {
    /** Returns whether checkpoints of the log were stored, and it has neither ended nor started again since. */
    async isKnown(logName: string): Promise<boolean> {
      const line = (await lastLines()).get(logName)
      return line !== undefined && 'begun_at' in line
    },
    async note(line: Line): Promise<void> {
      const isFirst = (await textOf(list)) === undefined
      const before = isFirst ? [...(await lastLines()).values()] : []
      const lines = [...before.filter(({ log_name }) => log_name !== line.log_name), line]
      await appendFile(list, lines.map((each) => `${JSON.stringify(each)}\n`).join(''), { mode: 0o600 })
    },
    /** Returns the logs that should exist: those that were neither put aside nor ended. */
    async expected() {
      const lines = await lastLines()
      const files = new Set(await namesIn(directory))
      const expected: { log_name: string; hasFile: boolean }[] = []
      for (const [logName, line] of lines) {
        if ('put_aside_at' in line) continue
        if ('retired_at' in line && (await hasEnded(directory, line))) continue
        expected.push({ log_name: logName, hasFile: files.has(fileNameOf(logName)) })
      }
      return expected
    },
  }
}

/**
 * Finds tenants without a signed head or without a signing key. Such a tenant cannot write an event about its own loss.
 * A tenant in creation lacks both too, so only a log that was stored before counts as lost.
 *
 * @returns the names of their logs, as far as they were checked
 */
export function createEmptiedLogs(deps: {
  database: Database
  directory: Pick<TenantDirectory, 'find' | 'slugs'>
}): () => Promise<ReadonlySet<string>> {
  const { database, directory } = deps
  const emptied = new Set<string>()
  let last = ''

  return async () => {
    const slugs = [...(await directory.slugs())].sort()
    const next = slugs.filter((slug) => slug > last)
    const due = [...next, ...slugs.slice(0, slugs.length - next.length)].slice(0, tenantsAtOnce)
    last = due.at(-1) ?? ''
    for (const slug of due) {
      const tenant = await directory.find(slug, { evenSuspended: true })
      if (tenant === undefined) continue
      if (await readTenant(database, slug, hasHeadAndKey)) emptied.delete(tenant.logName)
      else emptied.add(tenant.logName)
    }
    return emptied
  }
}

/**
 * Returns the text that a log's key signs at its end. It has a format name of its own, so that it cannot count as a
 * checkpoint.
 */
export function retirementText(checkpoint: string, retiredAt: string, reason: string): string {
  const { logName, treeSize, root } = parseCheckpoint(checkpoint)
  const said = [`log ${logName}`, `size ${treeSize}`, `root ${Buffer.from(root).toString('base64')}`]
  return `${['orghub/log-retirement/v1', ...said, `time ${retiredAt}`, `reason ${JSON.stringify(reason)}`].join('\n')}\n`
}

/** Returns whether the key that signed the newest stored checkpoint states that the log ended there. */
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
    return isSame && notes.every((each) => verifyNoteSync(each, [key], nodeCrypto))
  } catch {
    return false
  }
}

function readLine(text: string): Line | undefined {
  try {
    const line = JSON.parse(text)
    return typeof line?.log_name === 'string' ? line : undefined
  } catch {
    // Cut off by a crash.
    return undefined
  }
}

/** Returns the names of the logs with a file, except those that are known. A renamed file does not count. */
async function namesOfFiles(directory: string, known: readonly string[]): Promise<string[]> {
  const names: string[] = []
  const knownFiles = new Set(known.map(fileNameOf))
  for (const file of await namesIn(directory)) {
    if (knownFiles.has(file)) continue
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
