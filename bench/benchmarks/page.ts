// Measures pages of 50 records by each filter and order, against the same SQL in a bare handler. See ../README.md.
import { join } from 'node:path'
import { freshDataDirectory } from '../../tests/support/data-directory.ts'
import { startReference } from '../baselines/start-reference.ts'
import { recordsTransaction, type Sequence, type Statement } from '../baselines/statements.ts'
import { type BenchHub, type BenchTenant, durability, startBenchHub } from '../support/bench-hub.ts'
import { sendInTurn } from '../support/closed-loop.ts'
import { fillDataset, prepareDataset } from '../support/dataset.ts'
import { type Outcome, type Row, type Run, runFigure } from '../support/figure.ts'
import { freePort, inspectProcess } from '../support/inspector.ts'
import { type PageQuery, pageQueries, writeOwnEvents } from '../support/page-queries.ts'
import { logProgress } from '../support/progress.ts'
import { median, rounded, spreadOf } from '../support/statistics.ts'
import { recordsOf, sizeFlags } from '../support/two-sizes.ts'

const connections = 8
const target = 0.6

interface Rates {
  hub: number[]
  reference: number[]
}

async function measure(run: Run) {
  const dataDir = run.flag('small') ?? (await freshDataDirectory())
  const records = recordsOf(run, 'small')
  const { queries, pages } = await captureStatements(dataDir, records)

  const hub = await startBenchHub({ dataDir })
  const settings = await durability(hub.database)
  const tenant = await hub.tenant('bench')
  const reference = await startReference('page-sql', { connection: hub.database.connection.app, pages })
  const measured = new Map<string, Rates>()
  for (const { name, path } of queries) {
    const rates: Rates = { hub: [], reference: [] }
    measured.set(name, rates)
    const subjects = {
      reference: { url: reference.url, path: `/pages/${encodeURIComponent(name)}`, headers: {} },
      hub: { url: hub.url, path, headers: await tenant.headers() },
    }
    for (let round = 0; round <= run.rounds; round++) {
      for (const subject of ['reference', 'hub'] as const) {
        // The first round warms up.
        const seconds = round === 0 ? Math.min(1, run.seconds / 2) : run.seconds
        const load = await sendInTurn([undefined], {
          ...subjects[subject],
          method: 'GET',
          connections,
          seconds,
          expectedStatus: 200,
        })
        if (round > 0) rates[subject].push(load.perSecond)
      }
    }
    logProgress(
      `${name}: ${Math.round(median(rates.hub))} pages/s, bare handler ${Math.round(median(rates.reference))}`,
    )
  }
  await reference.stop()

  const ratios = queries.map(({ name }) => {
    const { hub: own, reference: other } = measured.get(name)!
    return { name, ...spreadOf(own.map((rate, at) => rate / other[at]!)) }
  })
  const worst = ratios.reduce((a, b) => (b.median < a.median ? b : a))
  const outcome: Outcome = {
    figure: `page of 50 records, pages/s, slowest filter (${worst.name})`,
    reference: 'the same SQL in a bare handler, pages/s',
    unit: '×',
    value: worst.median,
    spread: { min: worst.min, max: worst.max },
    bound: 'min',
    target,
  }
  return {
    outcomes: [outcome],
    tables: {
      [`Pages of 50 records, ${connections} connections`]: ratios.map(({ name, median: ratio, min, max }): Row => {
        const rates = measured.get(name)!
        return {
          filter: name,
          'Hub per second': Math.round(median(rates.hub)),
          'bare handler per second': Math.round(median(rates.reference)),
          ratio,
          'ratio from': min,
          'ratio to': max,
        }
      }),
    },
    notes: { ...settings, records, median_of_ratios: rounded(median(ratios.map((one) => one.median))) },
  }
}

/** Requests each page once from another service on the same data, and captures its statements. */
/** Fills the data directory, and captures the statements of each page from a process without background work. */
async function captureStatements(dataDir: string, records: number) {
  const hub = await startBenchHub({ dataDir })
  const dataset = await prepareDataset(hub, { records, tenants: 3 })
  await fillDataset(hub, dataset)
  const [{ tenant }] = dataset.parts
  await writeOwnEvents(hub, tenant)
  const queries = await pageQueries(hub, tenant)
  await hub.stop()

  const inspectPort = await freePort()
  const capture = join(import.meta.dirname, '../baselines/capture-statements.ts')
  const api = await startBenchHub({
    dataDir,
    env: { HUB_ROLE: 'api' },
    nodeOptions: ['--import', capture, `--inspect=127.0.0.1:${inspectPort}`],
  })
  const reader = await api.tenant(tenant.slug)
  const inspector = await inspectProcess(inspectPort)
  const pages: Record<string, Sequence> = {}
  for (const query of queries) {
    await fetchPage(api, reader, query)
    await inspector.evaluate('globalThis.benchStatements.length = 0')
    await fetchPage(api, reader, query)
    pages[query.name] = recordsTransaction(await inspector.evaluate<Statement[]>('globalThis.benchStatements'))
  }
  inspector.close()
  await api.stop()
  return { queries, pages }
}

async function fetchPage(hub: BenchHub, tenant: BenchTenant, { name, path }: PageQuery): Promise<void> {
  const response = await fetch(`${hub.url}${path}`, { headers: await tenant.headers() })
  const { records } = (await response.json()) as { records: unknown[] }
  if (records.length < 49) throw new Error(`the page by ${name} has ${records.length} records, not 50`)
}

await runFigure({
  name: 'page',
  title: 'Pages of records against the same SQL in a bare handler',
  seconds: 3,
  rounds: 3,
  flags: sizeFlags,
  measure,
})
