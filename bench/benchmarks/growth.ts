// Measures pages and ingest with 10 million stored records, against 100 thousand. See ../README.md.
import { AcknowledgedIds } from '../support/acknowledged-ids.ts'
import { durability } from '../support/bench-hub.ts'
import { sendInTurn } from '../support/closed-loop.ts'
import { outcomeOf, type Row, type Run, runFigure, type StoreCheck } from '../support/figure.ts'
import { type PageQuery, pageQueries, writeOwnEvents } from '../support/page-queries.ts'
import { logProgress } from '../support/progress.ts'
import { sampleBatches } from '../support/sample-events.ts'
import { median, quantile, rounded } from '../support/statistics.ts'
import { checkEvents } from '../support/summary.ts'
import { type FilledHub, openFilled, openSize, recordsOf, type Size, sizeFlags } from '../support/two-sizes.ts'

const eventsPerBatch = 1000
const connections = 4

interface Pages {
  all: number[]
  byFilter: Map<string, number[]>
}

async function measure(run: Run) {
  const small = await openSize(run, 'small')
  const large = await openSize(run, 'large')
  const settings = await durability(large.hub.database)
  const pages = await measurePages(run, { small, large })
  await small.hub.stop()
  const ingest = await measureIngest(run, large)

  const p99 = (values: readonly number[]) => quantile(values, 0.99)
  const pageRatios = pages.large.map(({ all }, round) => p99(all) / p99(pages.small[round]!.all))
  const ingestRatios = ingest.large.map((rate, round) => rate / ingest.small[round]!)
  const outcomes = [
    outcomeOf(pageRatios, {
      figure: `p99 of a page of 50 records, ${large.records} stored`,
      reference: `the same with ${small.records}`,
      ...{ unit: '×', bound: 'max', target: 1.3 },
    }),
    outcomeOf(ingestRatios, {
      figure: `batch ingest, events/s, ${large.records} stored`,
      reference: `the same with ${small.records}`,
      ...{ unit: '×', bound: 'min', target: 0.85 },
    }),
  ]
  const names = [...pages.small[0]!.byFilter.keys()]
  const of = (size: Size, name: string) => pages[size].flatMap(({ byFilter }) => byFilter.get(name)!)
  return {
    outcomes,
    tables: {
      'Pages of 50 records, one request at a time, ms': names.map(
        (name): Row => ({
          filter: name,
          [`${small.records} stored, p50`]: rounded(median(of('small', name))),
          [`${large.records} stored, p50`]: rounded(median(of('large', name))),
          [`${small.records} stored, p99`]: rounded(p99(of('small', name))),
          [`${large.records} stored, p99`]: rounded(p99(of('large', name))),
        }),
      ),
      'Batch ingest, events/s': ingest.small.map((rate, round) => ({
        round: round + 1,
        [`${small.records} stored`]: Math.round(rate),
        [`${large.records} stored`]: Math.round(ingest.large[round]!),
      })),
    },
    checks: ingest.checks,
    notes: { ...settings },
  }
}

/** Measures every filter in each round, alternating between the sizes. */
async function measurePages(run: Run, hubs: Record<Size, FilledHub>): Promise<Record<Size, Pages[]>> {
  const queries = {} as Record<Size, PageQuery[]>
  for (const size of ['small', 'large'] as const) {
    await writeOwnEvents(hubs[size].hub, hubs[size].tenant)
    queries[size] = await pageQueries(hubs[size].hub, hubs[size].tenant)
  }
  const measured: Record<Size, Pages[]> = { small: [], large: [] }
  for (let round = 0; round <= run.rounds; round++) {
    for (const size of ['small', 'large'] as const) {
      const { hub, tenant } = hubs[size]
      const pages: Pages = { all: [], byFilter: new Map() }
      for (const { name, path } of queries[size]) {
        const { latenciesMs } = await sendInTurn([undefined], {
          url: hub.url,
          method: 'GET',
          path,
          headers: await tenant.headers(),
          connections: 1,
          // The first round warms up.
          seconds: (round === 0 ? Math.min(2, run.seconds) : run.seconds) / queries[size].length,
          expectedStatus: 200,
        })
        pages.all.push(...latenciesMs)
        pages.byFilter.set(name, latenciesMs)
      }
      if (round === 0) continue
      measured[size].push(pages)
      logProgress(
        `round ${round}: pages with ${hubs[size].records} stored: p99 ${rounded(quantile(pages.all, 0.99))} ms`,
      )
    }
  }
  return measured
}

/** Measures ingest. Ingested events stay, which soon makes a small store large, so each round has its own small one. */
async function measureIngest(run: Run, large: FilledHub) {
  const rates: Record<Size, number[]> = { small: [], large: [] }
  const checks: StoreCheck[] = []
  const acknowledgedByLarge = new AcknowledgedIds()
  await ingestRate(large, run.warmUpSeconds, acknowledgedByLarge)
  for (let round = 1; round <= run.rounds; round++) {
    const small = await openFilled(recordsOf(run, 'small'))
    const acknowledged = new AcknowledgedIds()
    await ingestRate(small, Math.min(2, run.warmUpSeconds), acknowledged)
    rates.small.push(await ingestRate(small, run.seconds, acknowledged))
    checks.push(await checkEvents(small.hub, small.tenant, acknowledged))
    await small.hub.stop()
    rates.large.push(await ingestRate(large, run.seconds, acknowledgedByLarge))
    const of = (size: Size) => `${Math.round(rates[size].at(-1)!)} events/s`
    logProgress(
      `round ${round}: ingest with ${small.records} stored ${of('small')}, with ${large.records} ${of('large')}`,
    )
  }
  checks.push(await checkEvents(large.hub, large.tenant, acknowledgedByLarge))
  return { ...rates, checks }
}

async function ingestRate(filled: FilledHub, seconds: number, acknowledged: AcknowledgedIds): Promise<number> {
  const load = await sendInTurn(sampleBatches(64, eventsPerBatch), {
    url: filled.hub.url,
    path: '/api/v1/telemetry/events:batch',
    headers: await filled.tenant.headers(),
    connections,
    seconds,
    expectedStatus: 201,
    keys: true,
    acknowledged,
  })
  return load.perSecond * eventsPerBatch
}

await runFigure({
  name: 'growth',
  title: 'Pages and ingest as the store grows',
  seconds: 10,
  rounds: 5,
  flags: sizeFlags,
  measure,
})
