import { existsSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Identifies the process that serves a data directory, for commands beside the service and the error of a second start.
 */
export interface InstanceFile {
  readonly pid: number
  readonly url: string
  readonly startedAt: string
}

const fileIn = (dataDir: string) => join(dataDir, 'serve.json')

/** Writes the file, unless there is no data directory: with an external database and key none is needed. */
export async function writeInstanceFile(dataDir: string, url: string): Promise<void> {
  const notice: InstanceFile = { pid: process.pid, url, startedAt: new Date().toISOString() }
  if (existsSync(dataDir)) await writeFile(fileIn(dataDir), `${JSON.stringify(notice)}\n`, { mode: 0o600 })
}

export async function removeInstanceFile(dataDir: string): Promise<void> {
  if (readInstanceFile(dataDir)?.pid === process.pid) await rm(fileIn(dataDir), { force: true })
}

/**
 * Reads the file; returns undefined if it is missing or unreadable. It may be left over from a process that was killed.
 */
export function readInstanceFile(dataDir: string): InstanceFile | undefined {
  try {
    return JSON.parse(readFileSync(fileIn(dataDir), 'utf8')) as InstanceFile
  } catch {
    return undefined
  }
}
