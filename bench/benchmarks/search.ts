// Measures searches over content records beside telemetry, against the same SQL in a bare handler. See ../README.md.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { corpus } from '../../tests/search/corpus.ts'
import { freshDataDirectory } from '../../tests/support/data-directory.ts'
import { startReference } from '../baselines/start-reference.ts'
import { recordsTransaction, type Sequence, type Statement } from '../baselines/statements.ts'
import { type BenchHub, type BenchTenant, durability, startBenchHub } from '../support/bench-hub.ts'
import { sendInTurn } from '../support/closed-loop.ts'
import { fillDataset, prepareDataset } from '../support/dataset.ts'
import { outcomeOf, type Row, type Run, runFigure } from '../support/figure.ts'
import { freePort, inspectProcess } from '../support/inspector.ts'
import { logProgress } from '../support/progress.ts'
import { median, quantile, spreadOf } from '../support/statistics.ts'

const connections = 4
const writers = 8
const indexPollMs = 500
const indexPollsMax = 7200
const minimum = 2000

/** Queries by what is hard about them. */
const queries: Readonly<Record<string, string>> = {
  'two words': 'forklifts Lisbon',
  'a phrase': '"electric forklifts"',
  'a word of many records': 'the',
  'a word that is excluded': 'ransomware -Nantes',
  'a word or another': 'payroll or canteen',
  'an id': 'D-00017',
}

interface Rates {
  hub: number[]
  reference: number[]
  latenciesMs: number[]
}

async function measure(run: Run) {
  const dataDir = run.flag('data') ?? (await freshDataDirectory())
  const records = numberFlag(run, 'records', run.quick ? minimum : 1_000_000)
  const events = numberFlag(run, 'events', run.quick ? 10_000 : 10_000_000)
  const pages = await captureStatements(dataDir, { records, events })

  const hub = await startBenchHub({ dataDir })
  const settings = await durability(hub.database)
  const tenant = await hub.tenant('bench')
  const reference = await startReference('page-sql', { connection: hub.database.connection.app, pages })
  const measured = new Map<string, Rates>()
  for (const [name, q] of Object.entries(queries)) {
    const rates: Rates = { hub: [], reference: [], latenciesMs: [] }
    measured.set(name, rates)
    const subjects = {
      reference: { url: reference.url, path: `/pages/${encodeURIComponent(name)}`, headers: {} },
      hub: { url: hub.url, path: pathOf(q), headers: await tenant.headers() },
    }
    for (let round = 0; round <= run.rounds; round++) {
      for (const subject of ['reference', 'hub'] as const) {
        // The first round warms up.
        const seconds = round === 0 ? Math.min(1, run.seconds / 2) : run.seconds
        const sent = { ...subjects[subject], method: 'GET' as const, seconds, expectedStatus: 200 }
        const load = await sendInTurn([undefined], { ...sent, connections })
        if (round === 0) continue
        rates[subject].push(load.perSecond)
        // One at a time: latency under full load measures the queue.
        if (subject === 'hub')
          rates.latenciesMs.push(...(await sendInTurn([undefined], { ...sent, connections: 1 })).latenciesMs)
      }
    }
    logProgress(`${name}: ${Math.round(median(rates.hub))} searches/s, bare ${Math.round(median(rates.reference))}`)
  }
  await reference.stop()
  await hub.stop()

  const rows = [...measured].map(([name, rates]) => {
    const ratios = rates.hub.map((rate, at) => rate / rates.reference[at]!)
    return { name, rates, ratios, ...spreadOf(ratios) }
  })
  const worst = rows.reduce((a, b) => (b.median < a.median ? b : a))
  const latencies = rows.flatMap(({ rates }) => rates.latenciesMs)
  const counts = `${records} content records beside ${events} events`
  return {
    outcomes: [
      outcomeOf(worst.ratios, {
        figure: `search, pages/s, slowest query (${worst.name}), ${counts}`,
        reference: 'the same SQL in a bare handler, pages/s',
        ...{ unit: '×', bound: 'min', target: 0.6 },
      }),
      ...[
        { share: 0.5, target: 30 },
        { share: 0.99, target: 150 },
      ].map(({ share, target }) =>
        outcomeOf([quantile(latencies, share)], {
          figure: `p${share * 100} of a search, one at a time, ${counts}`,
          reference: 'none',
          ...{ unit: 'ms', bound: 'max', target },
        }),
      ),
    ],
    tables: {
      [`Searches, ${connections} connections`]: rows.map(
        ({ name, rates, median: ratio, min, max }): Row => ({
          query: name,
          'Hub per second': Math.round(median(rates.hub)),
          'bare handler per second': Math.round(median(rates.reference)),
          ...{ ratio, 'ratio from': min, 'ratio to': max },
          'p50 ms': quantile(rates.latenciesMs, 0.5),
          'p99 ms': quantile(rates.latenciesMs, 0.99),
        }),
      ),
    },
    notes: { ...settings, records, events },
  }
}

/** Fills the data directory, and captures the statements of each search from a process without background work. */
async function captureStatements(dataDir: string, size: { records: number; events: number }) {
  const hub = await startBenchHub({ dataDir })
  const dataset = await prepareDataset(hub, { records: size.events, tenants: 1 })
  await fillDataset(hub, dataset)
  const [{ tenant }] = dataset.parts
  await writeDecisions(hub, tenant, size.records)
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
  for (const [name, q] of Object.entries(queries)) {
    if ((await search(api, reader, q)).length === 0) throw new Error(`the search for ${q} finds nothing`)
    await inspector.evaluate('globalThis.benchStatements.length = 0')
    await search(api, reader, q)
    pages[name] = recordsTransaction(await inspector.evaluate<Statement[]>('globalThis.benchStatements'))
  }
  inspector.close()
  await api.stop()
  return pages
}

/** Writes the decisions that are missing, the corpus again and again, and waits until the last is found. */
async function writeDecisions(hub: BenchHub, tenant: BenchTenant, count: number): Promise<void> {
  const decisions = corpus()
  const bodies = Array.from({ length: count }, (_, at) => {
    const decision = decisions[at % decisions.length]!
    const turn = Math.floor(at / decisions.length)
    return Buffer.from(JSON.stringify({ ...decision, decision_subject: `${decision.decision_subject} (turn ${turn})` }))
  })
  const marker = `marker${count}`
  const isWritten = async () => (await search(hub, tenant, marker)).length > 0
  if (await isWritten()) return
  const headers = await tenant.headers()
  const sent = { url: hub.url, path: '/api/v1/hub/records', headers, connections: writers, expectedStatus: 201 }
  await sendInTurn(bodies, { ...sent, seconds: 86_400, requestsMax: count })
  const last = { ...decisions[0]!, decision_subject: marker }
  await sendInTurn([Buffer.from(JSON.stringify(last))], { ...sent, seconds: 60, requestsMax: 1 })
  for (let poll = 0; poll < indexPollsMax; poll++) {
    if (await isWritten()) return
    await sleep(indexPollMs)
  }
  throw new Error('the last decision is not found: the search index is not up to date')
}

async function search(hub: BenchHub, tenant: BenchTenant, q: string): Promise<unknown[]> {
  const response = await fetch(`${hub.url}${pathOf(q)}`, { headers: await tenant.headers() })
  if (!response.ok) throw new Error(`${q}: ${response.status} ${await response.text()}`)
  return ((await response.json()) as { results: unknown[] }).results
}

const pathOf = (q: string) => `/api/v1/hub/search?q=${encodeURIComponent(q)}`

function numberFlag(run: Run, name: string, otherwise: number): number {
  const value = Number(run.flag(name) ?? otherwise)
  if (Number.isSafeInteger(value) && value >= minimum) return value
  throw new Error(`--${name} must be a whole number from ${minimum} up`)
}

await runFigure({
  name: 'search',
  title: 'Searches against the same SQL in a bare handler',
  seconds: 3,
  rounds: 3,
  flags: ['data', 'records', 'events'],
  measure,
})
