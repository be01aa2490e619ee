import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { rounded } from './statistics.ts'

/** The speed of the machine during a run, so that results of two machines can be compared. */
interface MachineSpeed {
  /** Writes of 8 KiB that reached the disk, per second. */
  syncs_per_s: number
  /** Copied memory, in GB per second. */
  memory_gb_per_s: number
  /** JSON texts of 100 members that one core parses, per second. */
  json_per_s: number
}

const pageBytes = 8192
const copyBytes = 64 * 1024 * 1024

/** Measures the disk of `directory`, the memory and one core, for about a second. */
export function measureMachine(directory: string): MachineSpeed {
  const from = Buffer.alloc(copyBytes, 1)
  const to = Buffer.alloc(copyBytes)
  const text = JSON.stringify(Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`member_${at}`, at * 1.5])))
  const copies = perSecond(() => void from.copy(to))
  return {
    syncs_per_s: Math.round(withFile(join(directory, `fsync-${process.pid}.tmp`), syncsPerSecond)),
    memory_gb_per_s: rounded((copies * copyBytes) / 1e9),
    json_per_s: Math.round(perSecond(() => void JSON.parse(text))),
  }
}

function syncsPerSecond(file: number): number {
  const page = Buffer.alloc(pageBytes, 1)
  return perSecond(() => {
    writeSync(file, page, 0, pageBytes, 0)
    fsyncSync(file)
  })
}

function withFile<T>(path: string, use: (file: number) => T): T {
  const file = openSync(path, 'w')
  try {
    return use(file)
  } finally {
    closeSync(file)
    rmSync(path)
  }
}

/** Repeats work for a third of a second. */
function perSecond(work: () => void): number {
  const began = performance.now()
  let count = 0
  let tookMs = 0
  while (tookMs < 333) {
    work()
    count += 1
    tookMs = performance.now() - began
  }
  return (count * 1000) / tookMs
}
