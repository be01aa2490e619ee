// Measures the latency of a single event at half of the maximum rate. See ../README.md.
import { AcknowledgedIds } from '../support/acknowledged-ids.ts'
import { durability, startBenchHub } from '../support/bench-hub.ts'
import { sendSingles } from '../support/closed-loop.ts'
import { type Outcome, type Row, type Run, runFigure } from '../support/figure.ts'
import { keyChoices } from '../support/key-choices.ts'
import { type RateLoad, sendAtRate } from '../support/open-loop.ts'
import { logProgress } from '../support/progress.ts'
import { sampleSingles } from '../support/sample-events.ts'
import { median, rounded, spreadOf } from '../support/statistics.ts'
import { checkEvents } from '../support/summary.ts'

const closedConnections = 64
/** More than are ever busy, so that no request waits in the generator for another's response. */
const openConnections = 256

interface Round {
  highest: number
  load: RateLoad
}

async function measure(run: Run) {
  const hub = await startBenchHub()
  const settings = await durability(hub.database)
  const tenant = await hub.tenant('bench')
  const acknowledged = new AcknowledgedIds()
  const bodies = sampleSingles(closedConnections * 16)
  const variants = keyChoices(run)
  const options = async (keys: boolean, connections: number, seconds: number) => ({
    url: hub.url,
    path: '/api/v1/telemetry/events',
    headers: await tenant.headers(),
    connections,
    seconds,
    expectedStatus: 201,
    keys,
    acknowledged,
  })

  logProgress(`warming up for ${run.warmUpSeconds} s`)
  await sendSingles(bodies, await options(true, closedConnections, run.warmUpSeconds))
  const rounds = new Map<string, Round[]>(variants.map(({ name }) => [name, []]))
  for (let round = 1; round <= run.rounds; round++) {
    for (const { name, keys } of variants) {
      const { perSecond: highest } = await sendSingles(bodies, await options(keys, closedConnections, run.seconds / 2))
      const load = await sendAtRate(bodies, {
        ...(await options(keys, openConnections, run.seconds)),
        perSecond: highest / 2,
      })
      rounds.get(name)!.push({ highest, load })
      logProgress(
        `round ${round}, ${name}: highest ${Math.round(highest)}/s; at half of it p99 ${load.latencyMs.p99} ms`,
      )
    }
  }
  const check = await checkEvents(hub, tenant, acknowledged)

  const outcomes = variants.map(({ name }): Outcome => {
    const { median: value, ...spread } = spreadOf(rounds.get(name)!.map(({ load }) => load.latencyMs.p99))
    return {
      figure: `single ingest p99 at half of its highest rate, ${name}`,
      reference: 'its own highest rate, 64 connections',
      unit: 'ms',
      value,
      spread,
      bound: 'max',
      target: 20,
    }
  })
  const rows = variants.map(({ name }): Row => {
    const of = (pick: (one: Round) => number) => rounded(median(rounds.get(name)!.map(pick)))
    return {
      what: name,
      'highest per second': of(({ highest }) => highest),
      'sent per second': of(({ load }) => load.perSecond),
      'p50 ms': of(({ load }) => load.latencyMs.p50),
      'p90 ms': of(({ load }) => load.latencyMs.p90),
      'p99 ms': of(({ load }) => load.latencyMs.p99),
      'p99.9 ms': of(({ load }) => load.latencyMs.p999),
      'max ms': of(({ load }) => load.latencyMs.max),
      'sent late p99 ms': of(({ load }) => load.lateMs.p99),
    }
  })
  return {
    outcomes,
    tables: { 'Single ingest at half of its highest rate, from when each request was due': rows },
    checks: [check],
    notes: { ...settings, rounds: Object.fromEntries(rounds) },
  }
}

await runFigure({
  name: 'latency',
  title: 'Latency of single ingest at half load',
  seconds: 20,
  rounds: 3,
  flags: ['keys'],
  measure,
})
