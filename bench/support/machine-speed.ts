import { open, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startReference } from '../baselines/start-reference.ts'
import { sendSingles } from './closed-loop.ts'
import { logProgress } from './progress.ts'
import { sampleSingles } from './sample-events.ts'
import { median, rounded } from './statistics.ts'

/** The speed of the machine at the start of a run, so that results of different days can be compared. */
export interface MachineSpeed {
  /** Requests per second of a bare Fastify echo with 64 connections. */
  echo_per_second: number
  /** Median time to write 8 KiB and wait for the disk, in milliseconds. */
  fsync_ms: number
  /** Rate at which one thread copies memory, in GB/s. */
  memory_gb_per_second: number
  /** Processes that ran or waited for a core, averaged over the minute before the run. */
  load_average: number
}

const connections = 64
const syncs = 100
const copies = 20
const copiedBytes = 64 * 2 ** 20

/** @param seconds duration of the echo */
export async function measureMachine(seconds: number): Promise<MachineSpeed> {
  const loadAverage = rounded(loadavg()[0]!)
  const speed = {
    echo_per_second: Math.round(await echoRate(seconds)),
    fsync_ms: rounded(await syncMs()),
    memory_gb_per_second: rounded(memoryRate()),
    load_average: loadAverage,
  }
  logProgress(`this machine: ${JSON.stringify(speed)}`)
  return speed
}

async function echoRate(seconds: number): Promise<number> {
  const echo = await startReference('echo')
  const headers = { 'content-type': 'application/json' }
  const load = { url: echo.url, path: '/events', headers, connections, seconds, expectedStatus: 200 }
  const { perSecond } = await sendSingles(sampleSingles(connections), load)
  await echo.stop()
  return perSecond
}

/** Writes to the directory that holds the data directories of the benchmarks. */
async function syncMs(): Promise<number> {
  const path = join(tmpdir(), `hub-bench-sync-${process.pid}`)
  const file = await open(path, 'w')
  try {
    const block = Buffer.alloc(8192, 1)
    const times: number[] = []
    for (let at = 0; at < syncs; at++) {
      const began = performance.now()
      await file.write(block, 0, block.length, at * block.length)
      await file.datasync()
      times.push(performance.now() - began)
    }
    return median(times)
  } finally {
    await file.close()
    await rm(path, { force: true })
  }
}

function memoryRate(): number {
  const [from, to] = [Buffer.alloc(copiedBytes, 1), Buffer.alloc(copiedBytes, 2)]
  const rates = Array.from({ length: copies }, () => {
    const began = performance.now()
    from.copy(to)
    return copiedBytes / 1e6 / (performance.now() - began)
  })
  return median(rates)
}
