import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made: string[] = []

/** A directory of one's own that does not exist yet, in one that does and that anyone may pass through. */
export async function freshDataDirectory(name = 'data'): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'hub-embedded-'))
  made.push(parent)
  // As root the server is another user, for whom mkdtemp's 0700 is a barred parent.
  await chmod(parent, 0o711)
  return join(parent, name)
}

export async function removeDataDirectories(): Promise<void> {
  // A server that is just ending may still write there.
  const options = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }
  await Promise.all(made.splice(0).map((directory) => rm(directory, options)))
}

/** Process id of the server of a data directory, by its own file. */
export async function serverPid(dataDir: string): Promise<number> {
  return Number((await readFile(join(dataDir, 'pg', 'postmaster.pid'), 'utf8')).split('\n')[0])
}

/** Process id of a process's parent (Linux). */
export async function parentPid(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

/** Process ids of a process's children (Linux); only those whose command line has this in it. */
export async function childPids(pid: number, having = ''): Promise<number[]> {
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(
    all.map(async (each) => {
      const isChild = (await parentPid(each).catch(() => 0)) === pid
      return isChild && (await readFile(`/proc/${each}/cmdline`, 'utf8').catch(() => '')).includes(having)
    }),
  )
  return all.filter((_, at) => found[at])
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
