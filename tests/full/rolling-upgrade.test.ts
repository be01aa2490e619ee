import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { clientConfig } from '../../server/db/connection-settings.ts'
import { createEmptyDatabase } from '../cli/empty-database.ts'
import { runCli } from '../cli/run-cli.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { takeFormerRelease } from '../support/former-release.ts'
import { freePort } from '../support/free-port.ts'
import { reportFault } from '../support/guarantees.ts'
import { type HubProcess, makeTenant, startHubProcess } from '../support/hub-process.ts'
import { startLoadBalancer } from '../support/load-balancer.ts'
import { storedTelemetry } from '../support/stored-telemetry.ts'
import { testLength } from '../support/test-length.ts'
import { event } from '../telemetry/events.ts'

/** Restarts after the upgrade, in turn. */
const restarts = testLength({ short: 1, long: 20 })
/** Milliseconds between two calls of an operation, so that the machine is not the limit. */
const pauseMs = 50
const eventsPerBatch = 20

const cleanups: (() => unknown)[] = []
afterAll(async () => {
  for (const clean of cleanups.reverse()) await clean()
  await removeDataDirectories()
})

test('two processes under load are upgraded one by one from the former schema, then restarted: no request fails', async (context) => {
  const former = await takeFormerRelease()
  if (!former) return context.skip('needs git and the whole history of the checkout, which holds the former release')
  cleanups.push(former.remove)
  const storage = await mkdtemp(join(tmpdir(), 'hub-upgrade-'))
  cleanups.push(() => rm(storage, { recursive: true, force: true }))
  const database = await createEmptyDatabase()
  cleanups.push(database.drop)
  const balancer = await startLoadBalancer()
  cleanups.push(balancer.close)
  const env = {
    HUB_BASE_URL: balancer.url,
    HUB_DATABASE_URL: database.url,
    HUB_MASTER_KEY: randomBytes(32).toString('base64'),
    HUB_STORAGE_URL: `file://${storage}`,
    HUB_LIMIT_FACTOR: '10000',
  }
  const start = async (main?: string) => {
    const port = await freePort()
    const hub = await startHubProcess(await freshDataDirectory(), env, [], port, main)
    cleanups.push(hub.stop)
    balancer.add(port)
    return { hub, port }
  }
  const replace = async (old: { hub: HubProcess; port: number }) => {
    const next = await start()
    await balancer.remove(old.port)
    await old.hub.stop()
    return next
  }
  const count = async (from: string) => {
    const client = new pg.Client(clientConfig(database.target, 'hub-test'))
    await client.connect()
    const { rows } = await client.query<{ count: number }>(`select count(*)::int from ${from}`)
    await client.end()
    return rows[0]!.count
  }
  const schema = () => count('hub.schema_migrations')
  // The tables of records have a policy; those of months have none.
  const month = new Date().toISOString().slice(0, 7).replace('-', 'm')
  const shortTexts = () => count(`hub.records_y${month} where canonical like '~%'`)

  const running = [await start(former.main), await start(former.main)]
  expect(await schema()).toBe(former.migrations)
  const credentials = await makeTenant(storage, 'rolling', undefined, former.main, env)
  // The application sees each failure: nothing is repeated behind its back.
  const client = new HubClient({ baseUrl: balancer.url, ...credentials, retries: 0 })
  await client.post('/api/v1/hub/records', {
    body: { record_type: 'skill_definition', skill_id: 'sum-up', skill_version: '1.0.0', name: 'Sum up' },
  })
  const load = startLoad(client)
  await load.progress()

  for (let at = 0; at < running.length; at++) {
    running[at] = await replace(running[at]!)
    // After the first, the other process of the former release works on the new schema.
    expect(await schema()).toBeGreaterThan(former.migrations)
    await load.progress()
  }
  for (let restart = 0; restart < restarts; restart++) {
    const at = restart % running.length
    running[at] = await replace(running[at]!)
    await load.progress()
  }
  // A process of the former release could not have read them.
  expect(await shortTexts()).toBe(0)
  expect(await runCli(['db', 'shorten-texts', '--json'], env)).toMatchObject({ code: 0 })
  expect(await shortTexts()).toBeGreaterThan(0)
  await load.progress()
  await load.stop()

  expect(load.failures).toEqual([])
  await reportFault({
    fault: 'Two processes upgraded one by one from the former schema, and restarted, under load: no request failed',
    acknowledged: load.acknowledged,
    found: (await storedTelemetry(client)).map(({ metadata }) => `${metadata!.batch}.${metadata!.at}`),
  })
  expect(await runCli(['log', 'audit', '--tenant', 'rolling', '--json'], env)).toMatchObject({ code: 0 })
})

/** Calls operations of every kind until it is stopped, each in a loop of its own. */
function startLoad(client: HubClient) {
  const acknowledged: string[] = []
  const failures: unknown[] = []
  const counts = new Map<string, number>()
  let isOver = false
  const send = async (events: number, idempotencyKey?: string) => {
    const batch = randomUUID()
    const body = { events: Array.from({ length: events }, (_, at) => event({ metadata: { batch, at } })) }
    const options = idempotencyKey === undefined ? {} : { idempotencyKey }
    if (events === 1) await client.post('/api/v1/telemetry/events', { body: body.events[0], ...options })
    else await client.post('/api/v1/telemetry/events:batch', { body, ...options })
    acknowledged.push(...body.events.map((_, at) => `${batch}.${at}`))
  }
  const operations: Record<string, () => Promise<unknown>> = {
    event: () => send(1),
    'keyed event': () => send(1, randomUUID()),
    batch: () => send(eventsPerBatch, randomUUID()),
    record: async () => {
      const body = { record_type: 'artifact', title: 'in the middle of an upgrade' }
      const { record_id: id } = await client.post<{ record_id: string }>('/api/v1/hub/records', { body })
      const read = await client.get<{ title: string }>(`/api/v1/hub/records/${id}`, { verify: true })
      expect(read.title).toBe(body.title)
    },
    page: () => client.get('/api/v1/hub/records', { limit: 20, verify: true }),
    search: () => client.get('/api/v1/hub/search', { q: 'upgrade' }),
    summary: () =>
      client.get('/api/v1/telemetry/summary', { from: '2026-01-05T00:00:00Z', to: '2026-01-06T00:00:00Z' }),
    export: async () => {
      const body = { filter: { record_type: ['artifact'] } }
      const { job_id: id } = await client.post<{ job_id: string }>('/api/v1/hub/records:export', { body })
      let status: string
      do {
        await delay(pauseMs)
        ;({ status } = await client.get<{ status: string }>(`/api/v1/hub/exports/${id}`))
      } while (['queued', 'running'].includes(status))
      expect(status).toBe('completed')
    },
  }
  const working = Promise.all(
    Object.entries(operations).map(async ([name, call]) => {
      while (!isOver) {
        await call().then(
          () => counts.set(name, (counts.get(name) ?? 0) + 1),
          (error: unknown) => failures.push(`${name}: ${error} ${(error as Error).cause ?? ''}`),
        )
        await delay(pauseMs)
      }
    }),
  )
  return {
    acknowledged,
    failures,
    /** Resolves when each operation has succeeded once more. */
    async progress() {
      const before = new Map(counts)
      for (const name of Object.keys(operations)) {
        await expect.poll(() => counts.get(name) ?? 0).toBeGreaterThan(before.get(name) ?? 0)
      }
    },
    async stop() {
      isOver = true
      await working
    },
  }
}
