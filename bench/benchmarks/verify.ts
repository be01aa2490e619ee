// Measures verification of a page of 1,000 records against the same page without. See ../README.md.
import { type BenchHub, type BenchTenant, durability, startBenchHub } from '../support/bench-hub.ts'
import { sendInTurn } from '../support/closed-loop.ts'
import { type Row, type Run, runFigure } from '../support/figure.ts'
import { freePort, inspectProcess } from '../support/inspector.ts'
import { logProgress } from '../support/progress.ts'
import { sampleBatches, sampleSingles } from '../support/sample-events.ts'
import { median, quantile, rounded, spreadOf } from '../support/statistics.ts'

const pageSize = 1000
const inTurn = { connections: 1, expectedStatus: 201 }

interface Delay {
  p99: number
  max: number
}

/** Measures the event loop's delay in the service: the time that any other request may wait. */
interface DelayWatch {
  begin(): Promise<void>
  end(): Promise<Delay>
  close(): void
}

interface Subject {
  name: string
  /** The path of the page, without `verify`. */
  path: string
  tenant: BenchTenant
  seals: number
}

interface Pages {
  plainMs: number[]
  verifiedMs: number[]
  plainDelay: Delay[]
  verifiedDelay: Delay[]
}

async function measure(run: Run) {
  const inspectPort = await freePort()
  const hub = await startBenchHub({ nodeOptions: [`--inspect=127.0.0.1:${inspectPort}`] })
  const settings = await durability(hub.database)
  const watch = await watchDelay(inspectPort)
  const subjects = await prepare(hub, run)
  const measured = new Map<string, Pages>()
  for (const subject of subjects) {
    const pages: Pages = { plainMs: [], verifiedMs: [], plainDelay: [], verifiedDelay: [] }
    measured.set(subject.name, pages)
    await readPages(hub, subject, true, run.warmUpSeconds)
    for (let round = 1; round <= run.rounds; round++) {
      for (const verify of [false, true]) {
        await watch.begin()
        const timesMs = await readPages(hub, subject, verify, run.seconds)
        pages[verify ? 'verifiedDelay' : 'plainDelay'].push(await watch.end())
        pages[verify ? 'verifiedMs' : 'plainMs'].push(...timesMs)
      }
    }
    const [plain, verified] = [median(pages.plainMs), median(pages.verifiedMs)]
    logProgress(`${subject.name}, ${subject.seals} seals: ${rounded(plain)} ms, verified ${rounded(verified)} ms`)
  }
  watch.close()

  const [batched, singly] = subjects.map(({ name }) => measured.get(name)!)
  const { median: singlyMs, ...singlySpread } = spreadOf([
    ...[0.5, 0.01, 0.99].map((q) => quantile(singly!.verifiedMs, q)),
  ])
  const delayMax = Math.max(...singly!.verifiedDelay.map(({ max }) => max))
  return {
    outcomes: [
      {
        figure: 'page of 1,000 records written in batches, verify=true',
        reference: 'the same page without',
        unit: '×' as const,
        value: rounded(median(batched!.verifiedMs) / median(batched!.plainMs)),
        bound: 'max' as const,
        target: 2,
      },
      {
        figure: 'page of 1,000 records of 1,000 seals, verify=true',
        reference: 'none',
        unit: 'ms' as const,
        value: singlyMs,
        spread: { min: singlySpread.min, max: singlySpread.max },
        bound: 'max' as const,
        target: 200,
      },
    ],
    tables: {
      [`Pages of ${pageSize} records, one request at a time; delay of the event loop meanwhile`]: subjects.map(
        ({ name, seals }): Row => {
          const pages = measured.get(name)!
          return {
            what: name,
            seals,
            'plain p50 ms': rounded(quantile(pages.plainMs, 0.5)),
            'verified p50 ms': rounded(quantile(pages.verifiedMs, 0.5)),
            'verified p99 ms': rounded(quantile(pages.verifiedMs, 0.99)),
            ratio: rounded(median(pages.verifiedMs) / median(pages.plainMs)),
            'delay p99 ms': rounded(median(pages.plainDelay.map(({ p99 }) => p99))),
            'delay p99 ms, verifying': rounded(median(pages.verifiedDelay.map(({ p99 }) => p99))),
            'delay max ms': rounded(Math.max(...pages.plainDelay.map(({ max }) => max))),
            'delay max ms, verifying': rounded(Math.max(...pages.verifiedDelay.map(({ max }) => max))),
          }
        },
      ),
    },
    notes: { ...settings, delay_ms_max_while_verifying_1000_seals: rounded(delayMax) },
  }
}

/**
 * Prepares three subjects: records written in batches, the same number written one by one, and batches read by cost.
 */
async function prepare(hub: BenchHub, run: Run): Promise<Subject[]> {
  const batched = await hub.tenant('batched')
  const singly = await hub.tenant('singly')
  const batches = sampleBatches(run.quick ? 4 : 64, pageSize)
  logProgress(`writing ${batches.length} batches, and ${pageSize} events one after another`)
  for (const [tenant, path, bodies] of [
    [batched, '/api/v1/telemetry/events:batch', batches],
    [singly, '/api/v1/telemetry/events', sampleSingles(pageSize).map((body) => Buffer.from(body))],
  ] as const) {
    const headers = await tenant.headers()
    await sendInTurn(bodies, { ...inTurn, url: hub.url, path, headers, seconds: 600, requestsMax: bodies.length })
  }
  const page = `/api/v1/hub/records?record_type=telemetry_event&limit=${pageSize}`
  return Promise.all(
    [
      { name: 'written in batches', path: page, tenant: batched },
      { name: 'written one after another', path: page, tenant: singly },
      { name: 'in batches, by cost', path: `${page}&sort=-cost_usd_estimate`, tenant: batched },
    ].map(async (subject) => ({ ...subject, seals: await sealsOf(hub, subject) })),
  )
}

interface Page {
  records: { record_id: string }[]
  verification_summary?: { checked: number; verified: number }
}

async function sealsOf(hub: BenchHub, { path, tenant }: { path: string; tenant: BenchTenant }): Promise<number> {
  const response = await fetch(`${hub.url}${path}`, { headers: await tenant.headers() })
  const { records } = (await response.json()) as Page
  return hub.database.withTenant(tenant.slug, async (tx) => {
    const { rows } = await tx.client.query<{ seals: number }>(
      `select count(distinct seal_id)::int as seals from hub.records where tenant_id = $1 and record_id = any($2::uuid[])`,
      [tenant.slug, records.map((record) => record.record_id)],
    )
    return rows[0]!.seals
  })
}

/** Returns the milliseconds of each request. */
async function readPages(hub: BenchHub, subject: Subject, verify: boolean, seconds: number): Promise<number[]> {
  let last: Buffer | undefined
  const { latenciesMs } = await sendInTurn([undefined], {
    url: hub.url,
    method: 'GET',
    path: `${subject.path}${verify ? '&verify=true' : ''}`,
    headers: await subject.tenant.headers(),
    connections: 1,
    seconds,
    expectedStatus: 200,
    onAnswer: (answer) => {
      last = answer
    },
  })
  const page = JSON.parse(String(last)) as Page
  const good = verify ? page.verification_summary?.verified : page.records.length
  if (good !== pageSize) throw new Error(`a page of ${subject.name} has ${good} good records of ${pageSize}`)
  return latenciesMs
}

async function watchDelay(inspectPort: number): Promise<DelayWatch> {
  const inspector = await inspectProcess(inspectPort)
  return {
    begin: () =>
      inspector.evaluate(`globalThis.benchDelay ??=
        process.getBuiltinModule('node:perf_hooks').monitorEventLoopDelay({ resolution: 1 });
        globalThis.benchDelay.reset(); globalThis.benchDelay.enable()`),
    end: () =>
      inspector.evaluate(`globalThis.benchDelay.disable();
        ({ p99: globalThis.benchDelay.percentile(99) / 1e6, max: globalThis.benchDelay.max / 1e6 })`),
    close: () => inspector.close(),
  }
}

await runFigure({
  name: 'verify',
  title: 'Verification of a page of 1,000 records',
  seconds: 5,
  rounds: 3,
  measure,
})
