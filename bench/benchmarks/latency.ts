// Measures the latency of a single event at half of the maximum rate. See ../README.md.

import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { AcknowledgedIds } from '../support/acknowledged-ids.ts'
import { durability, startBenchHub } from '../support/bench-hub.ts'
import { freshKey, type LoadOptions, sendSingles } from '../support/closed-loop.ts'
import { outcomeOf, type Row, type Run, runFigure } from '../support/figure.ts'
import { keyChoices } from '../support/key-choices.ts'
import { logProgress } from '../support/progress.ts'
import { sampleSingles } from '../support/sample-events.ts'
import { median, quantile, rounded } from '../support/statistics.ts'
import { checkEvents } from '../support/summary.ts'

interface RateLoad {
  answered: number
  perSecond: number
  /** Latency from the time a request was due, not from a free connection: no coordinated omission. */
  latencyMs: { p50: number; p90: number; p99: number; p999: number; max: number }
  /** Delay of the generator itself, which the latencies include. */
  lateMs: { p99: number; max: number }
}

/** Connections are opened and late code is compiled before the measurement. */
const leadInSeconds = 1

/** Sends requests at even intervals. */
async function sendAtRate(bodies: readonly string[], options: LoadOptions & { perSecond: number }): Promise<RateLoad> {
  const { url, path, connections, acknowledged, perSecond, seconds } = options
  const pool = new Pool(url, { connections, pipelining: 1 })
  const leadIn = Math.floor(perSecond * leadInSeconds)
  const total = leadIn + Math.floor(perSecond * seconds)
  const latenciesMs: number[] = []
  const latesMs: number[] = []
  const running = new Set<Promise<void>>()
  let failure: Error | undefined

  async function send(at: number, dueMs: number): Promise<void> {
    const headers = options.keys ? { ...options.headers, 'idempotency-key': freshKey() } : options.headers
    const response = await pool.request({ method: 'POST', path, headers, body: bodies[at % bodies.length]! })
    const answer = Buffer.from(await response.body.arrayBuffer())
    if (response.statusCode !== options.expectedStatus) throw new Error(`${response.statusCode} ${answer}`)
    if (at >= leadIn) latenciesMs.push(performance.now() - dueMs)
    acknowledged?.addFrom(answer)
  }

  const began = performance.now()
  try {
    for (let at = 0; at < total && failure === undefined; ) {
      const now = performance.now()
      for (let dueMs = dueAt(at); dueMs <= now && at < total; dueMs = dueAt(++at)) {
        if (at >= leadIn) latesMs.push(now - dueMs)
        const sent: Promise<void> = send(at, dueMs)
          .catch((error: Error) => {
            failure = error
          })
          .finally(() => running.delete(sent))
        running.add(sent)
      }
      await sleep(1)
    }
    await Promise.all(running)
  } finally {
    await pool.close()
  }
  if (failure) throw failure
  const at = (q: number) => rounded(quantile(latenciesMs, q))
  return {
    answered: latenciesMs.length,
    perSecond: total / ((performance.now() - began) / 1000),
    latencyMs: { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: at(1) },
    lateMs: { p99: rounded(quantile(latesMs, 0.99)), max: rounded(quantile(latesMs, 1)) },
  }

  function dueAt(index: number): number {
    return began + (index * 1000) / perSecond
  }
}

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

  const outcomes = variants.map(({ name }) =>
    outcomeOf(
      rounds.get(name)!.map(({ load }) => load.latencyMs.p99),
      {
        figure: `single ingest p99 at half of its highest rate, ${name}`,
        reference: 'its own highest rate, 64 connections',
        ...{ unit: 'ms', bound: 'max', target: 20 },
      },
    ),
  )
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
