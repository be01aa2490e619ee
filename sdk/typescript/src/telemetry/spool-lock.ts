import { newRequestId } from '../request-id.ts'
import { pause } from '../retry.ts'
import { TelemetryBufferError } from './batch-types.ts'
import type { FileSystem } from './line-file.ts'

/** Node's process, as far as a lock needs it. */
interface Processes {
  process?: { pid?: number; kill?(pid: number, signal: 0): void }
}

/** A process, as a lock names it. */
interface Holder {
  pid: number
  /** The time of its start, because ids of processes are used again: each one of a container may have the same. */
  start: string
}

const attempts = 5
/** Stands for an unknown start of a process, where there is no /proc. Its id alone counts then. */
const unknownStart = '0'

/**
 * Locks a directory for one client, because two would send and delete the same batches. Locks of processes that have
 * ended are removed. Returns a function that unlocks it.
 *
 * Each client creates a file of its own name, and then looks for others. Two that start together see each other, withdraw
 * and try again: a file of a common name would have to be replaced, which two can do at once.
 *
 * @throws TelemetryBufferError if another client has it: of another process, of another thread, or of this one
 */
export async function lockDirectory(fs: FileSystem, directory: string): Promise<() => Promise<void>> {
  const { pid = 0 } = (globalThis as Processes).process ?? {}
  const own = `lock-${pid}-${await startOf(fs, pid)}-${newRequestId()}`
  const remove = (name: string) => fs.rm(`${directory}/${name}`, { force: true })
  for (let attempt = 1; ; attempt += 1) {
    await fs.writeFile(`${directory}/${own}`, '', { flag: 'wx', mode: 0o600 })
    let other: Holder | undefined
    for (const name of await fs.readdir(directory)) {
      const holder = name === own ? undefined : holderOf(name)
      if (holder === undefined) continue
      if (await isAlive(fs, holder)) other = holder
      else await remove(name)
    }
    if (other === undefined) return () => remove(own)
    await remove(own)
    if (attempt === attempts) throw lockedBy(directory, other)
    await pause(10 + Math.random() * 40)
  }
}

function holderOf(name: string): Holder | undefined {
  const [, pid, start = ''] = /^lock-(\d{1,10})-(\d{1,20})-/.exec(name) ?? []
  return pid === undefined ? undefined : { pid: Number(pid), start }
}

async function isAlive(fs: FileSystem, { pid, start }: Holder): Promise<boolean> {
  const { process } = globalThis as Processes
  try {
    if (pid !== process?.pid) process?.kill?.(pid, 0)
  } catch (error) {
    if ((error as { code?: string }).code !== 'EPERM') return false
  }
  const now = start === unknownStart ? start : await startOf(fs, pid)
  return now === start || now === unknownStart
}

/** Returns when a process started, in ticks since the start of the machine: the same for all of its threads. */
async function startOf(fs: FileSystem, pid: number): Promise<string> {
  const text = await fs.readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name of the program may have spaces and brackets.
  const start = text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  return /^\d{1,20}$/.test(start) ? start : unknownStart
}

function lockedBy(directory: string, { pid, start }: Holder): Error {
  return new TelemetryBufferError(
    `The spool ${directory} is used by process ${pid}. Give each process, thread and client a directory of its own. ` +
      `If no client of process ${pid} uses it, delete ${directory}/lock-${pid}-${start}-*.`,
  )
}
