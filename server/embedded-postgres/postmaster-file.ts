import { readdir, readFile, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'

/** The contents of `postmaster.pid` of a running server. */
export interface Postmaster {
  readonly pid: number
  readonly socketDirectory: string
  readonly port: number
  readonly status: 'starting' | 'ready' | 'stopping'
}

/** Lines of postmaster.pid (PostgreSQL: src/include/utils/pidfile.h). */
const line = { pid: 0, port: 3, socketDirectory: 4, status: 7 }

/** Returns the server that runs on a cluster, or undefined if none does, regardless of a stale file. */
export async function findPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const text = await readPostmasterFile(cluster)
  if (text === undefined) return undefined
  const lines = text.split('\n')
  const pid = Math.abs(Number(lines[line.pid]))
  if (!pid || !(await isServerOf(cluster, pid))) return undefined
  const status = lines[line.status]?.trim()
  return {
    pid,
    socketDirectory: lines[line.socketDirectory]?.trim() ?? '',
    port: Number(lines[line.port]) || 5432,
    status: status === 'ready' || status === 'stopping' ? status : 'starting',
  }
}

/**
 * Returns whether `postmaster.pid` names a living process that is no PostgreSQL of this cluster: the system reused the
 * number after a crash. PostgreSQL would then refuse to start, so the file must be deleted.
 */
export async function isPostmasterFileMisleading(cluster: string): Promise<boolean> {
  const text = await readPostmasterFile(cluster)
  const pid = Math.abs(Number(text?.split('\n')[line.pid]))
  if (!pid || !isAlive(pid) || (await isServerOf(cluster, pid))) return false
  return !(await hasProcessIn(cluster))
}

async function readPostmasterFile(cluster: string): Promise<string | undefined> {
  return readFile(join(cluster, 'postmaster.pid'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Returns whether a process is the server: its working directory is its cluster. Without /proc, every living process
 * counts.
 */
async function isServerOf(cluster: string, pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false
  if (process.platform !== 'linux') return true
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
  if (name.trim() !== 'postgres') return false
  const directory = await readlink(`/proc/${pid}/cwd`).catch(() => undefined)
  return directory === undefined || directory === (await realpath(cluster))
}

/**
 * Returns whether a process still works in the cluster. Backends outlive a killed postmaster briefly; a second server
 * beside them would ruin the data.
 */
async function hasProcessIn(cluster: string): Promise<boolean> {
  const directory = await realpath(cluster)
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const places = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => undefined)))
  return places.includes(directory)
}
