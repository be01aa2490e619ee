// Reads CPU time of a server's processes from /proc. Works on Linux; elsewhere the results omit it.
import { readdirSync, readFileSync } from 'node:fs'
import type { Load } from './closed-loop.ts'
import { median, rounded } from './statistics.ts'

/** Clock ticks are 10 ms on every Linux that Node runs on. */
const microsPerTick = 10_000

interface ProcessTimes {
  parent: number
  micros: number
}

/** CPU time since the start, in microseconds. */
interface CpuTimes {
  node: number
  postgres: number
  load: number
}

/** Microseconds of CPU per unit of work, by process. */
export type CpuShares = CpuTimes

/** @param server processes of the Hub or of a reference, and of its database */
export function cpuTimes(server: { pid: number; postgresPid: number }): CpuTimes {
  const processes = allProcesses()
  const postgres = treeMicros(processes, server.postgresPid)
  const { user, system } = process.cpuUsage()
  return { node: treeMicros(processes, server.pid, server.postgresPid), postgres, load: user + system }
}

/** @param units the number of requests or events served in between */
export function cpuShares(before: CpuTimes, after: CpuTimes, units: number): CpuShares {
  const share = (name: keyof CpuTimes) => Number(((after[name] - before[name]) / units).toFixed(1))
  return { node: share('node'), postgres: share('postgres'), load: share('load') }
}

/** A load and the CPU time for each of its requests. */
export interface MeasuredLoad {
  load: Load
  cpu: CpuShares
}

/** @param server as in {@link cpuTimes} */
export async function measureLoad(
  server: { pid: number; postgresPid: number },
  send: () => Promise<Load>,
): Promise<MeasuredLoad> {
  const before = cpuTimes(server)
  const load = await send()
  return { load, cpu: cpuShares(before, cpuTimes(server), load.answered) }
}

/** Returns the medians of several loads, as columns of a table. */
export function loadColumns(loads: readonly MeasuredLoad[]): Record<string, number> {
  const of = (pick: (one: MeasuredLoad) => number) => rounded(median(loads.map(pick)))
  return {
    'per second': Math.round(median(loads.map(({ load }) => load.perSecond))),
    'p50 ms': of(({ load }) => load.latencyMs.p50),
    'p99 ms': of(({ load }) => load.latencyMs.p99),
    'server µs': of(({ cpu }) => cpu.node),
    'PostgreSQL µs': of(({ cpu }) => cpu.postgres),
    'load µs': of(({ cpu }) => cpu.load),
  }
}

/** Returns the CPU time of one process, in microseconds since its start. */
export function processMicros(pid: number): number {
  return allProcesses().get(pid)?.micros ?? 0
}

function allProcesses(): Map<number, ProcessTimes> {
  const found = new Map<number, ProcessTimes>()
  let names: string[] = []
  try {
    names = readdirSync('/proc')
  } catch {}
  for (const name of names.filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      // After the command's name in brackets: state, parent, …. From place 11 on: user and system ticks of the process,
      // and of its ended children, since database connections come and go.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
      found.set(Number(name), { parent: Number(fields[1]), micros: ticks * microsPerTick })
    } catch {
      // The process has ended meanwhile.
    }
  }
  return found
}

/** Returns the CPU time of a process and its descendants, except for those of `except`. */
function treeMicros(processes: Map<number, ProcessTimes>, root: number, except?: number): number {
  let micros = 0
  for (const [pid, times] of processes) {
    let at: number | undefined = pid
    while (at !== undefined && at !== root) at = at === except ? undefined : processes.get(at)?.parent
    if (at === root) micros += times.micros
  }
  return micros
}
