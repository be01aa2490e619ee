import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { scaled } from './machine-speed.ts'

type Said = Record<string, unknown>

export interface DatabaseProcess {
  readonly pid: number
  /** The first thing it said that has this member. */
  said(member: string): Promise<Said>
  /** Sends a line (`ping`, `write T`, `read T`, `stop`) and gives the answer. */
  ask(line: string): Promise<Said>
  /** Resolves with the exit code, or the signal, when it has ended. */
  readonly ended: Promise<number | string | null>
  kill(signal: NodeJS.Signals): void
}

interface ProcessOptions {
  readonly purpose: 'serve' | 'command'
  readonly env: Record<string, string>
  readonly url?: string
  /** The tree to run from; default this one. */
  readonly checkout?: string
  readonly node?: string
  readonly user?: { uid: number; gid: number }
}

const running = new Set<ChildProcess>()

/** Starts `database-holder.ts` in a process group of its own. */
export function openInProcess(options: ProcessOptions): DatabaseProcess {
  const checkout = options.checkout ?? resolve(import.meta.dirname, '../..')
  const holder = join(checkout, 'tests/support/database-holder.ts')
  const child = spawn(
    options.node ?? process.execPath,
    [holder, options.purpose, ...(options.url ? [options.url] : [])],
    {
      detached: true,
      cwd: checkout,
      env: options.env,
      stdio: ['pipe', 'pipe', 'pipe'],
      ...options.user,
    },
  )
  running.add(child)
  const heard: Said[] = []
  const waiting = new Set<() => void>()
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => {
    heard.push(JSON.parse(line) as Said)
    for (const wake of waiting) wake()
  })
  const ended = once(child, 'close').then(([code, signal]: unknown[]) => {
    running.delete(child)
    for (const wake of waiting) wake()
    return (signal ?? code) as number | string | null
  })
  const said = async (member: string): Promise<Said> => {
    for (;;) {
      const found = heard.findIndex((each) => member in each)
      if (found >= 0) return heard.splice(found, 1)[0] as Said
      if (child.exitCode !== null || child.signalCode !== null) {
        await ended
        const late = heard.find((each) => member in each)
        if (late) return late
        throw new Error(`the process ended without "${member}": ${JSON.stringify(heard)} ${errors}`)
      }
      await new Promise<void>((resolve) => {
        const wake = () => {
          waiting.delete(wake)
          resolve()
        }
        waiting.add(wake)
      })
    }
  }
  return {
    pid: child.pid ?? 0,
    said,
    ended,
    ask: (line) => {
      child.stdin.write(`${line}\n`)
      return said(line === 'stop' ? 'stopped' : (line.split(' ')[0] ?? ''))
    },
    kill: (signal) => void process.kill(-(child.pid ?? 0), signal),
  }
}

/** Ends every process still running; for `afterEach`. Their servers end with them. */
export async function endProcesses(): Promise<void> {
  await Promise.all(
    [...running].map(async (child) => {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), scaled(10_000))
      if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
      clearTimeout(timer)
    }),
  )
}
