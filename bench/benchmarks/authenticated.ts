// Measures the cost of authentication: token, revocation, tenant, scopes, limits and their headers, against the same
// handlers without any of it, in one process. See ../README.md.
import { startReference } from '../baselines/start-reference.ts'
import { accessToken, type BenchTenant, durability, scopes, startBenchHub } from '../support/bench-hub.ts'
import { type Load, sendSingles } from '../support/closed-loop.ts'
import { type CpuShares, cpuShares, cpuTimes } from '../support/cpu-times.ts'
import { type Outcome, type Row, type Run, runFigure } from '../support/figure.ts'
import { startProfile } from '../support/profile.ts'
import { logProgress } from '../support/progress.ts'
import { sampleBatches } from '../support/sample-events.ts'
import { median, rounded, spreadOf } from '../support/statistics.ts'

const target = 10
const pageSize = 50

interface Handler {
  name: string
  path: string
  connections: number
}

interface Phase {
  load: Load
  cpu: CpuShares
}

/** The two ways to reach the same handler. */
const ways = ['open', 'authenticated'] as const
type Way = (typeof ways)[number]

async function measure(run: Run) {
  const profile = await startProfile(run)
  const hub = await startBenchHub()
  const settings = await durability(hub.database)
  const tenant = await hub.tenant('bench')
  const recordId = await storeEvents(hub.url, tenant)
  const input = { dataDir: hub.dataDir, tenantSlug: tenant.slug, scope: scopes }
  const server = await startReference('admission', input, profile.nodeOptions)
  const headers = {
    authorization: `Bearer ${await accessToken(server.url, tenant.credentials)}`,
    'x-service-tenant': tenant.slug,
  }
  const handlers: Handler[] = [
    { name: 'one record by its id', path: `/api/v1/hub/records/${recordId}`, connections: 16 },
    { name: `a page of ${pageSize} records`, path: `/api/v1/hub/records?limit=${pageSize}`, connections: 16 },
    { name: 'a handler that does nothing', path: '/api/v1/telemetry/prices', connections: 16 },
  ]
  const processes = { pid: server.pid, postgresPid: hub.postgresPid }
  const send = async ({ path, connections }: Handler, way: Way, seconds: number): Promise<Phase> => {
    const before = cpuTimes(processes)
    const load = await sendSingles([], {
      url: server.url,
      path: way === 'open' ? `/open${path}` : path,
      // Without authentication, the headers are ignored, but still sent and parsed.
      headers,
      connections,
      seconds,
      expectedStatus: 200,
    })
    return { load, cpu: cpuShares(before, cpuTimes(processes), load.answered) }
  }

  logProgress(`warming up each for ${run.warmUpSeconds / 4} s`)
  for (const handler of handlers) for (const way of ways) await send(handler, way, run.warmUpSeconds / 4)
  const phases = new Map(handlers.map(({ name }) => [name, { open: [] as Phase[], authenticated: [] as Phase[] }]))
  profile.begin()
  for (let round = 1; round <= run.rounds; round++) {
    for (const handler of handlers) {
      // The order alternates: the first of a round may find the machine in another state.
      const order = round % 2 === 1 ? ways : ways.toReversed()
      for (const way of order) phases.get(handler.name)![way].push(await send(handler, way, run.seconds))
    }
    logProgress(`round ${round} of ${run.rounds}`)
  }
  profile.end()
  await server.stop()
  await hub.stop()
  await profile.show(server.pid)

  const outcomes = handlers.map(({ name }): Outcome => {
    const { open, authenticated } = phases.get(name)!
    const { median: value, ...spread } = spreadOf(
      authenticated.map(({ load }, at) => 100 * (open[at]!.load.perSecond / load.perSecond - 1)),
    )
    return {
      figure: `time for each authenticated request: ${name}`,
      reference: 'the same handler without authentication',
      unit: '% more',
      value,
      spread,
      bound: 'max',
      target,
    }
  })
  const rows = handlers.flatMap(({ name }) =>
    ways.map((way): Row => {
      const all = phases.get(name)![way]
      const of = (pick: (one: Phase) => number) => rounded(median(all.map(pick)))
      return {
        handler: name,
        way,
        'per second': Math.round(median(all.map(({ load }) => load.perSecond))),
        'p50 ms': of(({ load }) => load.latencyMs.p50),
        'p99 ms': of(({ load }) => load.latencyMs.p99),
        'server µs': of(({ cpu }) => cpu.node),
        'PostgreSQL µs': of(({ cpu }) => cpu.postgres),
        'load µs': of(({ cpu }) => cpu.load),
      }
    }),
  )
  return {
    outcomes,
    tables: { 'Requests with and without admission, 16 connections (CPU time per request)': rows },
    notes: settings,
  }
}

/** Stores two thousand events. Returns the id of one of them. */
async function storeEvents(url: string, tenant: BenchTenant): Promise<string> {
  let recordId = ''
  for (const body of sampleBatches(2, 1000)) {
    const response = await fetch(`${url}/api/v1/telemetry/events:batch`, {
      method: 'POST',
      headers: await tenant.headers(),
      body,
    })
    if (!response.ok) throw new Error(`no events: ${response.status} ${await response.text()}`)
    recordId = ((await response.json()) as { records: { record_id: string }[] }).records[500]!.record_id
  }
  return recordId
}

await runFigure({
  name: 'authenticated',
  title: 'Authenticated requests against the same handlers without authentication',
  seconds: 1,
  rounds: 7,
  flags: ['profile'],
  measure,
})
