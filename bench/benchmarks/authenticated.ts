// Measures the cost of authentication: token, revocation, tenant, scopes, limits and their headers, against the same
// handlers without any of it, in one process. See ../README.md.
import { startReference } from '../baselines/start-reference.ts'
import { accessToken, type BenchTenant, durability, scopes, startBenchHub } from '../support/bench-hub.ts'
import { sendSingles } from '../support/closed-loop.ts'
import { loadColumns, type MeasuredLoad, measureLoad } from '../support/cpu-times.ts'
import { outcomeOf, type Run, runFigure } from '../support/figure.ts'
import { startProfile } from '../support/profile.ts'
import { logProgress } from '../support/progress.ts'
import { sampleBatches } from '../support/sample-events.ts'

const target = 10
const pageSize = 50

interface Handler {
  name: string
  path: string
  connections: number
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
  const send = async ({ path, connections }: Handler, way: Way, seconds: number) => {
    const options = { url: server.url, connections, seconds, expectedStatus: 200 }
    // Without authentication, the headers are ignored, but still sent and parsed.
    const request = { path: way === 'open' ? `/open${path}` : path, headers }
    return measureLoad(processes, () => sendSingles([], { ...options, ...request }))
  }

  logProgress(`warming up each for ${run.warmUpSeconds / 4} s`)
  for (const handler of handlers) for (const way of ways) await send(handler, way, run.warmUpSeconds / 4)
  const phases = new Map(
    handlers.map(({ name }) => [name, { open: [] as MeasuredLoad[], authenticated: [] as MeasuredLoad[] }]),
  )
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

  const outcomes = handlers.map(({ name }) => {
    const { open, authenticated } = phases.get(name)!
    const percents = authenticated.map(({ load }, at) => 100 * (open[at]!.load.perSecond / load.perSecond - 1))
    return outcomeOf(percents, {
      figure: `time for each authenticated request: ${name}`,
      reference: 'the same handler without authentication',
      unit: '% more',
      bound: 'max',
      target,
    })
  })
  const rows = handlers.flatMap(({ name }) =>
    ways.map((way) => ({ handler: name, way, ...loadColumns(phases.get(name)![way]) })),
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
