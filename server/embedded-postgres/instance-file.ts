import { existsSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Who serves with a data directory: for commands beside the service, and the message that a second start gives. */
export interface InstanceFile {
  readonly pid: number
  readonly url: string
  readonly startedAt: string
}

const fileIn = (dataDir: string) => join(dataDir, 'serve.json')

/** Does nothing where there is no data directory: with a database and a key from elsewhere none is needed. */
export async function writeInstanceFile(dataDir: string, url: string): Promise<void> {
  const notice: InstanceFile = { pid: process.pid, url, startedAt: new Date().toISOString() }
  if (existsSync(dataDir)) await writeFile(fileIn(dataDir), `${JSON.stringify(notice)}\n`, { mode: 0o600 })
}

export async function removeInstanceFile(dataDir: string): Promise<void> {
  if (readInstanceFile(dataDir)?.pid === process.pid) await rm(fileIn(dataDir), { force: true })
}

/** Undefined where there is none, or none that can be read. It may be left over from a process that was killed. */
export function readInstanceFile(dataDir: string): InstanceFile | undefined {
  try {
    return JSON.parse(readFileSync(fileIn(dataDir), 'utf8')) as InstanceFile
  } catch {
    return undefined
  }
}
