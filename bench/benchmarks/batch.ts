// Measures batch ingest against two clients' raw COPY of the same rows. See ../README.md.
import { prepareRawCopy } from '../baselines/raw-copy.ts'
import { AcknowledgedIds } from '../support/acknowledged-ids.ts'
import { durability, startBenchHub } from '../support/bench-hub.ts'
import { sendInTurn } from '../support/closed-loop.ts'
import { type CpuShares, cpuShares, cpuTimes } from '../support/cpu-times.ts'
import { outcomeOf, type Run, runFigure } from '../support/figure.ts'
import { keyChoices } from '../support/key-choices.ts'
import { startProfile } from '../support/profile.ts'
import { logProgress } from '../support/progress.ts'
import { sampleBatches } from '../support/sample-events.ts'
import { median, rounded, spreadOf } from '../support/statistics.ts'
import { checkEvents } from '../support/summary.ts'

const eventsPerBatch = 1000
const connections = 4
const copyClients = 2

interface Ingest {
  perSecond: number
  /** The ratio to the raw COPY of the same round. */
  ratio: number
  latencyMs: { p50: number; p99: number }
  cpu: CpuShares
}

async function measure(run: Run) {
  const profile = await startProfile(run)
  const hub = await startBenchHub({ nodeOptions: profile.nodeOptions })
  const settings = await durability(hub.database)
  const tenant = await hub.tenant('bench')
  const acknowledged = new AcknowledgedIds()
  const bodies = sampleBatches(64, eventsPerBatch)

  async function ingest(seconds: number, keys: boolean) {
    const before = cpuTimes(hub)
    const load = await sendInTurn(bodies, {
      url: hub.url,
      path: '/api/v1/telemetry/events:batch',
      headers: await tenant.headers(),
      connections,
      seconds,
      expectedStatus: 201,
      keys,
      acknowledged,
    })
    const events = load.answered * eventsPerBatch
    return {
      perSecond: events / load.seconds,
      latencyMs: load.latencyMs,
      cpu: cpuShares(before, cpuTimes(hub), events),
    }
  }

  let copiedTo = 0
  /** Returns the ids of the batches stored since the last call, in the order of their responses. */
  function newBatches(): string[][] {
    const from = copiedTo
    copiedTo = acknowledged.count
    if ((copiedTo - from) % eventsPerBatch !== 0) throw new Error('a batch was not accepted whole')
    return Array.from({ length: (copiedTo - from) / eventsPerBatch }, (_, at) =>
      acknowledged.slice(from + at * eventsPerBatch, from + (at + 1) * eventsPerBatch),
    )
  }

  const variants = keyChoices(run)
  logProgress(`warming up for ${run.warmUpSeconds} s`)
  await ingest(run.warmUpSeconds, variants[0]!.keys)
  const copy = await prepareRawCopy(hub.database, { tenantId: tenant.slug, clients: copyClients })
  const copies: number[] = []
  const ingests = new Map<string, Ingest[]>(variants.map(({ name }) => [name, []]))
  profile.begin()
  for (let round = 1; round <= run.rounds; round++) {
    const { rows, seconds } = await copy.measure(newBatches(), run.seconds)
    copies.push(rows / seconds)
    logProgress(`round ${round}: raw COPY ${Math.round(rows / seconds)} rows/s (${rows} rows)`)
    for (const { name, keys } of variants) {
      const measured = await ingest(run.seconds, keys)
      ingests.get(name)!.push({ ...measured, ratio: (measured.perSecond * seconds) / rows })
      logProgress(`round ${round}: batch ingest, ${name}: ${Math.round(measured.perSecond)} events/s`)
    }
  }
  profile.end()
  const check = await checkEvents(hub, tenant, acknowledged)
  await hub.stop()
  await profile.show(hub.pid)

  const outcomes = variants.map(({ name, keys }) =>
    outcomeOf(
      ingests.get(name)!.map(({ ratio }) => ratio),
      {
        figure: `batch ingest, events/s, ${name}`,
        reference: 'raw COPY by 2 clients, rows/s',
        ...{ unit: '×', bound: 'min', target: keys ? 0.6 : 0.65 },
      },
    ),
  )
  const rate = (values: number[]) => Math.round(median(values))
  const rows = variants.map(({ name }) => {
    const all = ingests.get(name)!
    const of = (pick: (one: Ingest) => number) => rounded(median(all.map(pick)))
    return {
      what: `batch ingest, ${name}`,
      'per second': rate(all.map(({ perSecond }) => perSecond)),
      ratio: of(({ ratio }) => ratio),
      'p50 ms': of(({ latencyMs }) => latencyMs.p50),
      'p99 ms': of(({ latencyMs }) => latencyMs.p99),
      'Node µs': of(({ cpu }) => cpu.node),
      'PostgreSQL µs': of(({ cpu }) => cpu.postgres),
      'load µs': of(({ cpu }) => cpu.load),
    }
  })
  return {
    outcomes,
    tables: {
      'Batch ingest, 1,000 events per request, 4 connections (CPU time per event)': [
        { what: 'raw COPY, 2 clients', 'per second': rate(copies), ratio: 1 },
        ...rows,
      ],
    },
    checks: [check],
    notes: { ...settings, copies: spreadOf(copies, 5), ingests: Object.fromEntries(ingests) },
  }
}

await runFigure({
  name: 'batch',
  title: 'Batch ingest against raw COPY',
  seconds: 12,
  rounds: 5,
  flags: ['keys', 'profile'],
  measure,
})
