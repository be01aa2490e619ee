import type { FileSystem } from './line-file.ts'

/** Directories that this process has locked. */
const own = new Set<string>()

/** Node's process, as far as a lock needs it. */
interface Processes {
  process?: { pid?: number; kill?(pid: number, signal: 0): void }
}

/**
 * Locks a directory for this process, because two would send the same batches. A lock of a process that has ended is
 * replaced. Returns a function that unlocks it.
 *
 * @throws Error if another process has it
 */
export async function lockDirectory(fs: FileSystem, directory: string): Promise<() => Promise<void>> {
  const path = `${directory}/lock`
  const { pid = 0 } = (globalThis as Processes).process ?? {}
  for (let isSecond = false; ; isSecond = true) {
    try {
      if (own.has(directory)) throw lockedBy(directory, pid)
      await fs.writeFile(path, `${pid}\n`, { flag: 'wx', mode: 0o600 })
      own.add(directory)
      return async () => {
        own.delete(directory)
        await fs.rm(path, { force: true })
      }
    } catch (error) {
      if ((error as { code?: string }).code !== 'EEXIST') throw error
      const holder = Number(await fs.readFile(path, 'utf8').catch(() => ''))
      // In a container every process may have the same id: an earlier one of this id is gone.
      if (isSecond || (holder !== pid && isAlive(holder))) throw lockedBy(directory, holder)
      await fs.rm(path, { force: true })
    }
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  try {
    ;(globalThis as Processes).process?.kill?.(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM'
  }
}

function lockedBy(directory: string, pid: number): Error {
  return new Error(
    `The spool ${directory} is used by process ${pid}. Give each process a directory of its own. ` +
      `If no process ${pid} uses it, delete ${directory}/lock.`,
  )
}
