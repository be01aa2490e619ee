// Measures how far the rollups fall behind under sustained batch ingest, and what folding costs ingest. See ../README.md.
import { AcknowledgedIds } from '../support/acknowledged-ids.ts'
import { type BenchTenant, durability, startBenchHub } from '../support/bench-hub.ts'
import { sendInTurn } from '../support/closed-loop.ts'
import { type CpuShares, cpuShares, cpuTimes } from '../support/cpu-times.ts'
import { type Run, runFigure } from '../support/figure.ts'
import { untilFolded, watchLag, withoutFolding } from '../support/fold-lag.ts'
import { startProfile } from '../support/profile.ts'
import { logProgress } from '../support/progress.ts'
import { sampleBatches } from '../support/sample-events.ts'
import { median, quantile, rounded } from '../support/statistics.ts'
import { checkEvents } from '../support/summary.ts'

const eventsPerBatch = 1000
const connections = 4
/** Each of the two reference phases takes this share of the measured time. */
const referenceShare = 1 / 6
const rowsMax = 15
const catchUpSecondsMax = 600

interface Ingest {
  perSecond: number
  latencyMs: { p50: number; p99: number; max: number }
  cpu: CpuShares
}

async function measure(run: Run) {
  const profile = await startProfile(run)
  const hub = await startBenchHub({ nodeOptions: profile.nodeOptions })
  const settings = await durability(hub.database)
  const folded = await hub.tenant('folded')
  const discarded = await hub.tenant('discarded')
  const acknowledged = new AcknowledgedIds()
  const bodies = sampleBatches(64, eventsPerBatch)

  async function ingest(tenant: BenchTenant, seconds: number, ids?: AcknowledgedIds): Promise<Ingest> {
    const before = cpuTimes(hub)
    const load = await sendInTurn(bodies, {
      url: hub.url,
      path: '/api/v1/telemetry/events:batch',
      headers: await tenant.headers(),
      ...{ connections, seconds },
      expectedStatus: 201,
      ...(ids && { acknowledged: ids }),
    })
    const events = load.answered * eventsPerBatch
    const { perSecond, latencyMs } = load
    return { perSecond: perSecond * eventsPerBatch, latencyMs, cpu: cpuShares(before, cpuTimes(hub), events) }
  }
  const reference = () =>
    withoutFolding(hub, discarded.slug, () => ingest(discarded, Math.max(1, run.seconds * referenceShare)))

  await withoutFolding(hub, discarded.slug, () => ingest(discarded, run.warmUpSeconds))
  const references = [await reference()]
  logProgress(`without folding: ${Math.round(references[0]!.perSecond)} events/s`)
  let ended = false
  const watching = watchLag(hub, folded.slug, () => ended)
  profile.begin()
  const measured = await ingest(folded, run.seconds, acknowledged).finally(() => {
    ended = true
  })
  profile.end()
  const samples = await watching
  const catchUpSeconds = await untilFolded(hub, folded.slug, catchUpSecondsMax)
  logProgress(`with folding: ${Math.round(measured.perSecond)} events/s, ${rounded(catchUpSeconds)} s to catch up`)
  references.push(await reference())
  const check = await checkEvents(hub, folded, acknowledged)
  await hub.stop()
  await profile.show(hub.pid)

  const unfoldedPerSecond = median(references.map(({ perSecond }) => perSecond))
  const lags = samples.map(({ lagSeconds }) => lagSeconds)
  const row = (what: string, all: readonly Ingest[]) => {
    const of = (pick: (one: Ingest) => number) => rounded(median(all.map(pick)))
    return {
      what,
      'per second': Math.round(median(all.map(({ perSecond }) => perSecond))),
      'p50 ms': of(({ latencyMs }) => latencyMs.p50),
      'p99 ms': of(({ latencyMs }) => latencyMs.p99),
      'max ms': of(({ latencyMs }) => latencyMs.max),
      'Node µs': of(({ cpu }) => cpu.node),
      'PostgreSQL µs': of(({ cpu }) => cpu.postgres),
      'load µs': of(({ cpu }) => cpu.load),
    }
  }
  const step = Math.max(1, Math.ceil(samples.length / rowsMax))
  return {
    outcomes: [
      {
        figure: `lag of folding, highest in ${run.seconds} s of batches at full rate`,
        reference: 'none',
        ...{ unit: 's' as const, value: rounded(Math.max(0, ...lags)), bound: 'max' as const, target: 2 },
      },
      {
        figure: 'batch ingest while its deltas are folded, events/s',
        reference: 'the same while its deltas are deleted',
        ...{ unit: '×' as const, value: rounded(measured.perSecond / unfoldedPerSecond) },
        ...{ bound: 'min' as const, target: 0.85 },
      },
    ],
    tables: {
      'Batch ingest, 1,000 events per request, 4 connections (CPU time per event)': [
        row('deltas deleted', references),
        row('deltas folded', [measured]),
      ],
      'Deltas that wait during the load': samples
        .filter((_, at) => at % step === 0)
        .map(({ second, deltas, lagSeconds }) => ({
          second: Math.round(second),
          deltas,
          'lag s': rounded(lagSeconds),
        })),
    },
    checks: [check],
    notes: {
      ...settings,
      lag_s: { p50: rounded(quantile(lags, 0.5)), p99: rounded(quantile(lags, 0.99)) },
      catch_up_s: rounded(catchUpSeconds),
      acknowledged_events: acknowledged.count,
    },
  }
}

await runFigure({
  name: 'fold',
  title: 'The lag of folding under sustained ingest',
  seconds: 300,
  rounds: 1,
  flags: ['profile'],
  measure,
})
