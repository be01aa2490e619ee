// Runs `hub serve` for long at 70 % of its highest rate, and fails if memory or the p99 grows. See README.md.
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Pool } from 'undici'
import { type BenchHub, startBenchHub } from './support/bench-hub.ts'
import { cleanUp } from './support/cleanup.ts'
import { freshKey, sendInTurn } from './support/closed-loop.ts'
import { logProgress } from './support/progress.ts'
import { sampleBatches } from './support/sample-events.ts'
import { median, quantile } from './support/statistics.ts'

const eventsPerBatch = 100
const connections = 4
const share = 0.7
/** The factors by which the last third may exceed the one before, or the first. */
const growthMax = { memory: 1.1, p99: 1.2 }
const path = '/api/v1/telemetry/events:batch'

interface Sample {
  seconds: number
  memoryMb: number
  handles: number
  connections: number
  walMb: number
  latenciesMs: number[]
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    'sample-seconds': { type: 'string', default: '10' },
  },
})
const seconds = Number(values.minutes) * 60
const everyMs = Number(values['sample-seconds']) * 1000
if (!(everyMs > 0 && seconds * 1000 >= 3 * everyMs)) throw new Error('--minutes must be at least three samples long')

try {
  process.exitCode = await soak()
} finally {
  await cleanUp()
}

async function soak(): Promise<number> {
  const hub = await startBenchHub()
  const tenant = await hub.tenant('soak')
  const bodies = sampleBatches(64, eventsPerBatch)
  const measureSeconds = Math.min(30, seconds / 6)
  logProgress(`measuring the highest rate for ${measureSeconds} s`)
  const highest = await sendInTurn(bodies, {
    ...{ url: hub.url, path, headers: await tenant.headers(), connections, keys: true },
    ...{ seconds: measureSeconds, expectedStatus: 201 },
  })
  const perSecond = share * highest.perSecond
  logProgress(`sending ${Math.round(perSecond * eventsPerBatch)} events/s for ${seconds} s`)

  const pool = new Pool(hub.url, { connections: 64, pipelining: 1 })
  const samples: Sample[] = []
  let latenciesMs: number[] = []
  let acknowledged = highest.answered
  let isOver = false
  let failure: unknown
  const open = new Set<Promise<void>>()
  /** Sends a batch. Its latency counts from the moment at which it was due, so a server that stalls shows. */
  async function send(at: number, dueMs: number): Promise<void> {
    const headers = { ...(await tenant.headers()), 'idempotency-key': freshKey() }
    const response = await pool.request({ method: 'POST', path, headers, body: bodies[at % bodies.length]! })
    const answer = await response.body.text()
    if (response.statusCode !== 201) throw new Error(`${response.statusCode} ${answer}`)
    latenciesMs.push(performance.now() - dueMs)
    acknowledged += 1
  }
  const beganMs = performance.now()
  async function watch(): Promise<void> {
    console.log('seconds  memory MB  handles  connections  WAL MB  batches  p99 ms')
    for (let next = beganMs + everyMs; !isOver; next += everyMs) {
      await delay(Math.max(0, next - performance.now()))
      const sample = { ...(await measure(hub, (performance.now() - beganMs) / 1000)), latenciesMs }
      latenciesMs = []
      samples.push(sample)
      console.log(lineOf(sample))
    }
  }
  const watching = watch()
  for (let at = 0; performance.now() - beganMs < seconds * 1000 && failure === undefined; at++) {
    const dueMs = beganMs + (at * 1000) / perSecond
    await delay(Math.max(0, dueMs - performance.now()))
    const sending: Promise<void> = send(at, dueMs)
      .catch((error: unknown) => {
        failure ??= error
      })
      .finally(() => open.delete(sending))
    open.add(sending)
  }
  await Promise.all(open)
  isOver = true
  await watching
  await pool.close()
  if (failure !== undefined) {
    console.log(`A request failed: ${failure instanceof Error ? failure.message : failure}`)
    return 2
  }
  return (await nothingLost(hub, acknowledged * eventsPerBatch)) ? verdict(samples) : 2
}

async function measure(hub: BenchHub, at: number): Promise<Omit<Sample, 'latenciesMs'>> {
  const [status, handles, { rows }] = await Promise.all([
    readFile(`/proc/${hub.pid}/status`, 'utf8'),
    readdir(`/proc/${hub.pid}/fd`),
    hub.database.withRegistry((tx) =>
      tx.client.query<{ connections: number; wal: number }>(
        `select (select count(*)::int from pg_stat_activity where datname = current_database()) as connections,
           pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 / 1048576 as wal`,
      ),
    ),
  ])
  const memoryMb = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1024
  return { seconds: at, memoryMb, handles: handles.length, connections: rows[0]!.connections, walMb: rows[0]!.wal }
}

function lineOf(sample: Sample): string {
  const p99 = sample.latenciesMs.length === 0 ? 0 : quantile(sample.latenciesMs, 0.99)
  const columns: [number, number][] = [
    [sample.seconds, 7],
    [sample.memoryMb, 9],
    [sample.handles, 7],
    [sample.connections, 11],
    [sample.walMb, 6],
    [sample.latenciesMs.length, 7],
    [p99, 6],
  ]
  return columns.map(([value, width]) => String(Math.round(value)).padStart(width)).join('  ')
}

/** Compares the events that were acknowledged with those in the database. */
async function nothingLost(hub: BenchHub, acknowledged: number): Promise<boolean> {
  const { rows } = await hub.database.withTenant('soak', (tx) =>
    tx.client.query<{ stored: number }>(
      `select count(*)::int as stored from hub.records where tenant_id = 'soak' and record_type = 'telemetry_event'`,
    ),
  )
  const { stored } = rows[0]!
  console.log(`Acknowledged ${acknowledged} events, stored ${stored}.`)
  return stored === acknowledged
}

/** Prints both comparisons. Returns the exit code: 1 if memory grew after the first third, or the p99 rose. */
function verdict(samples: readonly Sample[]): number {
  const third = Math.floor(samples.length / 3)
  const thirds = [samples.slice(0, third), samples.slice(third, 2 * third), samples.slice(2 * third)] as const
  const memory = thirds.map((part) => median(part.map(({ memoryMb }) => memoryMb)))
  const p99 = thirds.map((part) =>
    quantile(
      part.flatMap(({ latenciesMs }) => latenciesMs),
      0.99,
    ),
  )
  const grew = { memory: memory[2]! / memory[1]!, p99: p99[2]! / p99[0]! }
  console.log(`Memory of the last third: ${grew.memory.toFixed(2)} x that of the second (at most ${growthMax.memory}).`)
  console.log(`p99 of the last third: ${grew.p99.toFixed(2)} x that of the first (at most ${growthMax.p99}).`)
  return grew.memory <= growthMax.memory && grew.p99 <= growthMax.p99 ? 0 : 1
}
