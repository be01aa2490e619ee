import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import type { Run } from './figure.ts'

/** `--profile DIR` runs the service with `--cpu-prof` and prints its most expensive functions. */
export interface Profile {
  nodeOptions: string[]
  /** Begins the measured phase; the profile excludes everything outside. */
  begin(): void
  end(): void
  /** Prints the profile. Call it after the service has ended. */
  show(pid: number): Promise<void>
}

export async function startProfile(run: Run): Promise<Profile> {
  const directory = run.flag('profile')
  const window = { from: 0, to: 0 }
  return {
    nodeOptions: directory === undefined ? [] : await profilingOptions(directory),
    begin: () => {
      window.from = monotonicMicros()
    },
    end: () => {
      window.to = monotonicMicros()
    },
    show: async (pid) => {
      if (directory === undefined) return
      const rows = await topSelfTimes(directory, pid, window)
      if (rows === undefined) throw new Error(`there is no profile of process ${pid} in ${directory}`)
      console.table(rows)
    },
  }
}

interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number }; children?: number[] }[]
  /** Microseconds of the monotonic clock of process.hrtime. */
  startTime: number
  samples: number[]
  timeDeltas: number[]
}

interface SelfTime {
  function: string
  at: string
  'self ms': number
  'self %': number
}

const checkout = resolve(import.meta.dirname, '../..')
const rowsShown = 45

async function profilingOptions(directory: string): Promise<string[]> {
  await mkdir(directory, { recursive: true })
  return ['--cpu-prof', `--cpu-prof-dir=${resolve(directory)}`]
}

function monotonicMicros(): number {
  return Number(process.hrtime.bigint() / 1000n)
}

/**
 * Returns functions of a process's main thread by their own time between two points of {@link monotonicMicros}.
 *
 * @param pid the process, after its end
 * @returns undefined if it wrote no profile
 */
async function topSelfTimes(
  directory: string,
  pid: number,
  window: { from: number; to: number },
): Promise<SelfTime[] | undefined> {
  // Files are named CPU.<date>.<time>.<pid>.<thread>.<sequence>.cpuprofile.
  const name = (await readdir(directory)).find((file) => file.includes(`.${pid}.0.`))
  if (name === undefined) return undefined
  const profile = JSON.parse(await readFile(join(directory, name), 'utf8')) as CpuProfile
  const selfMicros = new Map<number, number>()
  let time = profile.startTime
  let total = 0
  for (const [at, node] of profile.samples.entries()) {
    // A sample lasts until the next one.
    time += profile.timeDeltas[at]!
    const lasts = profile.timeDeltas[at + 1] ?? 0
    if (time < window.from || time >= window.to) continue
    selfMicros.set(node, (selfMicros.get(node) ?? 0) + lasts)
    total += lasts
  }
  const byFunction = new Map<string, { name: string; at: string; micros: number }>()
  for (const { id, callFrame } of profile.nodes) {
    const place = placeOf(callFrame.url, callFrame.lineNumber)
    const key = `${callFrame.functionName} ${place}`
    const entry = byFunction.get(key) ?? { name: callFrame.functionName || '(anonymous)', at: place, micros: 0 }
    entry.micros += selfMicros.get(id) ?? 0
    byFunction.set(key, entry)
  }
  return [...byFunction.values()]
    .sort((a, b) => b.micros - a.micros)
    .slice(0, rowsShown)
    .map(({ name: functionName, at, micros }) => ({
      function: functionName,
      at,
      'self ms': Math.round(micros / 1000),
      'self %': Number(((100 * micros) / total).toFixed(1)),
    }))
}

function placeOf(url: string, line: number): string {
  if (url === '') return ''
  const path = url.startsWith('file://') ? relative(checkout, new URL(url).pathname) : url
  return `${path.replace(/^node_modules\//, '~')}:${line + 1}`
}
