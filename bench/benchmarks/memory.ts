// Measures memory of the service's process under batch and single ingest together, at the maximum rate. See
// ../README.md.
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { AcknowledgedIds } from '../support/acknowledged-ids.ts'
import { type BenchHub, type BenchTenant, durability, startBenchHub } from '../support/bench-hub.ts'
import { sendInTurn, sendSingles } from '../support/closed-loop.ts'
import { type Run, runFigure } from '../support/figure.ts'
import { freePort, inspectProcess } from '../support/inspector.ts'
import { logProgress } from '../support/progress.ts'
import { sampleBatches, sampleSingles } from '../support/sample-events.ts'
import { median, rounded } from '../support/statistics.ts'
import { checkEvents } from '../support/summary.ts'

const eventsPerBatch = 1000
const batchConnections = 4
const singleConnections = 16
const mib = 2 ** 20

interface Sample {
  second: number
  heapMib: number
  /** Memory outside the heap, such as buffers. */
  externalMib: number
  rssMib: number
}

async function measure(run: Run) {
  const inspectPort = await freePort()
  const hub = await startBenchHub({ nodeOptions: [`--inspect=127.0.0.1:${inspectPort}`] })
  const settings = await durability(hub.database)
  const tenant = await hub.tenant('bench')
  const acknowledged = new AcknowledgedIds()
  const inspector = await inspectProcess(inspectPort)
  const sampleSeconds = run.quick ? 1 : 15
  const warmUpSeconds = run.quick ? 1 : 60

  const load = ingestBoth(hub, tenant, acknowledged, warmUpSeconds + run.seconds)
  let ended = false
  const finished = load.finally(() => {
    ended = true
  })
  const samples: Sample[] = []
  let rssMibMax = 0
  const watching = (async () => {
    while (!ended) {
      rssMibMax = Math.max(rssMibMax, await rssMib(hub.pid))
      await sleep(500)
    }
  })()
  const began = performance.now()
  await sleep(warmUpSeconds * 1000)
  while (!ended) {
    await inspector.collectGarbage()
    const { heapUsed, external } = await inspector.evaluate<NodeJS.MemoryUsage>('process.memoryUsage()')
    const sample = {
      second: Math.round((performance.now() - began) / 1000),
      heapMib: rounded(heapUsed / mib, 4),
      externalMib: rounded(external / mib, 4),
      rssMib: Math.round(await rssMib(hub.pid)),
    }
    samples.push(sample)
    logProgress(`${sample.second} s: heap ${sample.heapMib} MiB after collection, RSS ${sample.rssMib} MiB`)
    await Promise.race([sleep(sampleSeconds * 1000), finished])
  }
  await Promise.all([finished, watching])
  inspector.close()
  const { batches, singles } = await load
  const check = await checkEvents(hub, tenant, acknowledged)

  // Single samples include requests in flight; the median of a third of the time does not.
  const third = Math.max(1, Math.floor(samples.length / 3))
  const early = median(samples.slice(0, third).map(({ heapMib }) => heapMib))
  const late = median(samples.slice(-third).map(({ heapMib }) => heapMib))
  return {
    outcomes: [
      {
        figure: `growth of the heap over ${Math.round(run.seconds / 6) / 10} minutes at full rate, after collection`,
        reference: `the first third after a warm-up of ${warmUpSeconds} s`,
        unit: '%' as const,
        value: rounded(100 * (late / early - 1)),
        bound: 'max' as const,
        target: 5,
      },
      {
        figure: 'resident memory of the process, highest',
        reference: 'none',
        unit: 'MB' as const,
        value: Math.round((rssMibMax * mib) / 1e6),
        bound: 'max' as const,
        target: 400,
      },
    ],
    tables: {
      'Memory after collection, MiB': samples
        .filter((_, at) => at % Math.ceil(samples.length / 12) === 0)
        .map(({ second, heapMib, externalMib, rssMib: rss }) => ({
          second,
          heap: heapMib,
          'outside the heap': externalMib,
          RSS: rss,
        })),
    },
    checks: [check],
    notes: {
      ...settings,
      batch_events_per_s: Math.round(batches.perSecond * eventsPerBatch),
      single_events_per_s: Math.round(singles.perSecond),
      samples,
    },
  }
}

/** Runs both loads. Every request has an idempotency key. */
async function ingestBoth(hub: BenchHub, tenant: BenchTenant, acknowledged: AcknowledgedIds, seconds: number) {
  const common = {
    url: hub.url,
    headers: await tenant.headers(),
    seconds,
    expectedStatus: 201,
    keys: true,
    acknowledged,
  }
  const [batches, singles] = await Promise.all([
    sendInTurn(sampleBatches(64, eventsPerBatch), {
      ...common,
      path: '/api/v1/telemetry/events:batch',
      connections: batchConnections,
    }),
    sendSingles(sampleSingles(singleConnections * 64), {
      ...common,
      path: '/api/v1/telemetry/events',
      connections: singleConnections,
    }),
  ])
  return { batches, singles }
}

async function rssMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024
}

await runFigure({
  name: 'memory',
  title: 'Memory of the service at full rate',
  seconds: 600,
  rounds: 1,
  measure,
})
