// Measures a tenant's reads while another tenant requests as many summaries as it can. See ../README.md.
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { type BenchTenant, durability } from '../support/bench-hub.ts'
import { type Load, sendInTurn } from '../support/closed-loop.ts'
import { outcomeOf, type Row, type Run, runFigure } from '../support/figure.ts'
import { logProgress } from '../support/progress.ts'
import { median, quantile, rounded } from '../support/statistics.ts'
import { lastDays, summaryPath } from '../support/summary.ts'
import { openFilled } from '../support/two-sizes.ts'

const target = 3
const parallelSummaries = 40
const neighbourSlug = 'bench-2'
const pagePath = '/api/v1/hub/records?limit=50'

type Phase = Load & { latenciesMs: number[] }

interface Crowd {
  /** Times of answered summaries, in milliseconds. */
  answeredMs: number[]
  /** Number of summaries that were rejected with 503 because they waited too long. */
  refused: number
}

async function measure(run: Run) {
  const records = Number(run.flag('records') ?? (run.quick ? 20_000 : 300_000))
  const { hub, tenant } = await openFilled(records, run.flag('data-dir'))
  const settings = await durability(hub.database)
  const neighbour = await hub.tenant(neighbourSlug)
  const headers = await neighbour.headers()
  const read = (seconds: number): Promise<Phase> =>
    sendInTurn([undefined], {
      ...{ url: hub.url, method: 'GET', path: pagePath, headers, connections: 1, seconds, expectedStatus: 200 },
    })
  const path = summaryPath({ ...lastDays(30), group_by: 'user', interval: 'hour' })

  await read(run.warmUpSeconds)
  const alone: Phase[] = []
  const beside: Phase[] = []
  const crowds: Crowd[] = []
  for (let round = 1; round <= run.rounds; round++) {
    alone.push(await read(run.seconds))
    const crowd = await startCrowd(hub.url, path, tenant)
    // Wait until every connection has a request in flight.
    await sleep(500)
    beside.push(await read(run.seconds))
    crowds.push(await crowd.stop())
    logProgress(`round ${round} of ${run.rounds}: p95 ${p95(alone.at(-1)!)} ms alone, ${p95(beside.at(-1)!)} ms beside`)
  }
  const oneMs = await timeOf(hub.url, path, tenant)
  await hub.stop()

  const ratios = beside.map((phase, at) => p95(phase) / p95(alone[at]!))
  const outcome = outcomeOf(ratios, {
    figure: `p95 of a neighbour's page of 50 records beside ${parallelSummaries} parallel summaries by user and hour`,
    reference: 'the same alone',
    ...{ unit: '×', bound: 'max', target },
  })
  const answeredMs = crowds.flatMap((crowd) => crowd.answeredMs)
  return {
    outcomes: [outcome],
    tables: {
      "The neighbour's pages, one request at a time": [
        rowOf('alone', alone),
        rowOf(`beside ${parallelSummaries} summaries`, beside),
      ],
      [`Summaries of ${records} events, ${parallelSummaries} at a time`]: [
        {
          'one alone, ms': rounded(oneMs),
          answered: answeredMs.length,
          'refused with 503': crowds.reduce((sum, { refused }) => sum + refused, 0),
          'p50 ms': rounded(quantile(answeredMs, 0.5)),
          'max ms': rounded(quantile(answeredMs, 1)),
        },
      ],
    },
    notes: settings,
  }
}

/** Requests summaries as one member of a tenant on many connections, each again after its response. */
async function startCrowd(url: string, path: string, tenant: BenchTenant) {
  const headers = await tenant.headers()
  const pool = new Pool(url, { connections: parallelSummaries, pipelining: 1 })
  const crowd: Crowd = { answeredMs: [], refused: 0 }
  let stopped = false
  async function ask(): Promise<void> {
    while (!stopped) {
      const sent = performance.now()
      const { statusCode, body } = await pool.request({ method: 'GET', path, headers })
      const text = await body.text()
      if (statusCode === 200) crowd.answeredMs.push(performance.now() - sent)
      else if (statusCode === 503) crowd.refused += 1
      else throw new Error(`${statusCode} ${text}`)
    }
  }
  const asking = Promise.all(Array.from({ length: parallelSummaries }, ask))
  return {
    async stop(): Promise<Crowd> {
      stopped = true
      await asking
      await pool.close()
      return crowd
    },
  }
}

async function timeOf(url: string, path: string, tenant: BenchTenant): Promise<number> {
  const options = { url, method: 'GET' as const, path, headers: await tenant.headers() }
  const { latencyMs } = await sendInTurn([undefined], { ...options, connections: 1, seconds: 1, expectedStatus: 200 })
  return latencyMs.p50
}

const p95 = ({ latenciesMs }: Phase) => rounded(quantile(latenciesMs, 0.95))

function rowOf(what: string, phases: readonly Phase[]): Row {
  const of = (pick: (phase: Phase) => number) => rounded(median(phases.map(pick)))
  return {
    'the tenant': what,
    pages: phases.reduce((sum, { answered }) => sum + answered, 0),
    'p50 ms': of(({ latencyMs }) => latencyMs.p50),
    'p95 ms': of(p95),
    'p99 ms': of(({ latencyMs }) => latencyMs.p99),
    'max ms': of(({ latencyMs }) => latencyMs.max),
  }
}

await runFigure({
  name: 'fairness',
  title: "A neighbour's reads beside forty parallel summaries",
  seconds: 8,
  rounds: 5,
  flags: ['records', 'data-dir'],
  measure,
})
