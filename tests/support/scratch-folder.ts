import { statfsSync } from 'node:fs'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRunning, serverPid } from './data-directory.ts'

const inMemory = '/dev/shm'
/** More than the databases of `npm run test:full` take, the service and browsers beside them. */
const freeBytesMin = 8 * 2 ** 30
const prefix = 'hub-test-'
const startMsMax = 30 * 60_000

/**
 * Makes a data directory for a cluster that no one will miss: in memory where there is plenty, else in the temporary
 * folder. A database has some 800 files, and file systems on disk take longer to create and delete them than PostgreSQL
 * takes to fill them.
 */
export async function scratchDataDirectory(): Promise<string> {
  await removeAbandoned().catch(() => {})
  return mkdtemp(join(isRoomy() ? inMemory : tmpdir(), prefix))
}

function isRoomy(): boolean {
  try {
    const { bavail, bsize } = statfsSync(inMemory)
    return bavail * bsize >= freeBytesMin && process.availableMemory() >= freeBytesMin
  } catch {
    // Only Linux has this folder.
    return false
  }
}

/** Frees the memory of runs that were killed. Their servers have ended by themselves. */
async function removeAbandoned(): Promise<void> {
  const names = (await readdir(inMemory)).filter((name) => name.startsWith(prefix))
  for (const dataDir of names.map((name) => join(inMemory, name))) {
    const pid = await serverPid(dataDir).catch(() => undefined)
    const isStarting = Date.now() - (await stat(dataDir)).mtimeMs < startMsMax
    if (isStarting || (pid !== undefined && isRunning(pid))) continue
    await rm(dataDir, { recursive: true, force: true })
  }
}
