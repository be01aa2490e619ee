// Measures the summary of 30 days with 10 million events against 100 thousand, and the delay until it counts an event.
// See ../README.md.
import { AcknowledgedIds } from '../support/acknowledged-ids.ts'
import { durability } from '../support/bench-hub.ts'
import { sendInTurn } from '../support/closed-loop.ts'
import { type Outcome, outcomeOf, type Row, type Run, runFigure } from '../support/figure.ts'
import { logProgress } from '../support/progress.ts'
import { sampleBatches, sampleEvent } from '../support/sample-events.ts'
import { median, quantile, rounded } from '../support/statistics.ts'
import { checkEvents, lastDays, readSummary, summaryPath } from '../support/summary.ts'
import { type FilledHub, openSize, type Size, sizeFlags } from '../support/two-sizes.ts'

/** Questions whose ratio of the two sizes is bounded; `msMax` bounds the median at the larger size, too. */
const bounded: readonly { name: string; msMax?: number }[] = [
  { name: 'by skill' },
  { name: 'by user', msMax: 40 },
  { name: 'by model, of one archetype', msMax: 40 },
]
const ratioMax = 1.5

const questions = {
  'by skill': { group_by: 'skill' },
  'by skill and day': { group_by: 'skill', interval: 'day' },
  'by skill and hour': { group_by: 'skill', interval: 'hour' },
  'by user': { group_by: 'user' },
  'by model, of one archetype': { group_by: 'model', archetype_id: 'archetype-2' },
}
const backgroundConnections = 2

type Latencies = Record<Size, { p50: number[]; p99: number[] }>

async function measure(run: Run) {
  const small = await openSize(run, 'small')
  const large = await openSize(run, 'large')
  const settings = await durability(large.hub.database)
  const checks = [await checkEvents(small.hub, small.tenant), await checkEvents(large.hub, large.tenant)]
  const period = lastDays(30)
  const measured = new Map<string, Latencies>()
  for (const [name, question] of Object.entries(questions)) {
    const latencies: Latencies = { small: { p50: [], p99: [] }, large: { p50: [], p99: [] } }
    measured.set(name, latencies)
    const path = summaryPath({ ...period, ...question })
    for (const filled of [small, large]) await askAll(filled, path, Math.min(1, run.seconds))
    for (let round = 1; round <= run.rounds; round++) {
      for (const [size, filled] of [['small', small] as const, ['large', large] as const]) {
        const { latencyMs } = await askAll(filled, path, run.seconds)
        latencies[size].p50.push(latencyMs.p50)
        latencies[size].p99.push(latencyMs.p99)
      }
    }
    const of = (size: Size) => `${rounded(median(latencies[size].p50))} ms`
    logProgress(`summary ${name}: ${of('small')} with ${small.records} events, ${of('large')} with ${large.records}`)
  }
  const visibility = await measureVisibility(small, run)
  checks.push(visibility.check)

  const outcomes: Outcome[] = [
    ...bounded.flatMap(({ name, msMax }) => {
      const { small: few, large: many } = measured.get(name)!
      const figure = `summary of 30 days ${name}, ${large.records} events`
      const ratios = many.p50.map((ms, at) => ms / few.p50[at]!)
      const reference = `the same of ${small.records} events`
      return [
        outcomeOf(ratios, { figure, reference, unit: '×', bound: 'max', target: ratioMax }),
        ...(msMax === undefined
          ? []
          : [outcomeOf(many.p50, { figure, reference: 'none', unit: 'ms', bound: 'max', target: msMax })]),
      ]
    }),
    {
      figure: 'event visible in the summary after its 201, p99',
      reference: 'none',
      unit: 's',
      value: rounded(quantile(visibility.timesMs, 0.99) / 1000),
      bound: 'max',
      target: 2,
    },
  ]
  return {
    outcomes,
    tables: {
      'Summary of 30 days, one request at a time': [...measured].map(([name, { small: few, large: many }]): Row => {
        const of = (values: number[]) => rounded(median(values))
        return {
          summary: name,
          [`${small.records} events, p50 ms`]: of(few.p50),
          [`${large.records} events, p50 ms`]: of(many.p50),
          ratio: rounded(median(many.p50.map((ms, at) => ms / few.p50[at]!))),
          [`${large.records} events, p99 ms`]: of(many.p99),
        }
      }),
      'From the 201 to the answer of a summary that counts the event, under batch ingest': [
        {
          probes: visibility.timesMs.length,
          'p50 ms': rounded(median(visibility.timesMs)),
          'p99 ms': rounded(quantile(visibility.timesMs, 0.99)),
          'max ms': rounded(quantile(visibility.timesMs, 1)),
          'in the first answer': visibility.atOnce,
        },
      ],
    },
    checks,
    notes: { ...settings },
  }
}

async function askAll({ hub, tenant }: FilledHub, path: string, seconds: number) {
  return sendInTurn([undefined], {
    url: hub.url,
    method: 'GET',
    path,
    headers: await tenant.headers(),
    connections: 1,
    seconds,
    expectedStatus: 200,
  })
}

/** Sends events of unique users, one after another, and polls until each is counted. */
async function measureVisibility({ hub, tenant }: FilledHub, run: Run) {
  const acknowledged = new AcknowledgedIds()
  const seconds = run.quick ? run.seconds : Math.max(run.seconds, 20)
  const headers = await tenant.headers()
  logProgress(`single events under batch ingest, and a summary after each, for ${seconds} s`)
  const background = sendInTurn(sampleBatches(64, 1000), {
    url: hub.url,
    path: '/api/v1/telemetry/events:batch',
    headers,
    connections: backgroundConnections,
    seconds,
    expectedStatus: 201,
    acknowledged,
  })
  const until = performance.now() + seconds * 1000
  const timesMs: number[] = []
  let atOnce = 0
  for (let at = 0; performance.now() < until; at++) {
    const user = `user:probe-${process.pid}-${at}@example.com`
    const body = JSON.stringify({ ...sampleEvent(at, Date.now()), user_id: user })
    const response = await fetch(`${hub.url}/api/v1/telemetry/events`, { method: 'POST', headers, body })
    const answeredAt = performance.now()
    if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`)
    acknowledged.addFrom(Buffer.from(await response.arrayBuffer()))
    for (let tries = 1; ; tries++) {
      const { totals } = await readSummary(hub, tenant, { ...lastDays(1), group_by: 'skill', user_id: user })
      if (totals.invocations > 0) {
        if (tries === 1) atOnce++
        break
      }
    }
    timesMs.push(performance.now() - answeredAt)
  }
  await background
  return { timesMs, atOnce, check: await checkEvents(hub, tenant, acknowledged) }
}

await runFigure({
  name: 'summary',
  title: 'The summary at two sizes, and how soon it counts an event',
  seconds: 5,
  rounds: 5,
  flags: sizeFlags,
  measure,
})
