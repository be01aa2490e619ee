import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { loadConfig } from '../../server/config.ts'
import type { TenantTx } from '../../server/db/database.ts'
import { openDatabase } from '../../server/db/open-database.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { type HubProcess, hubCommand, makeTenant, startHubProcess } from '../support/hub-process.ts'
import { scaled } from '../support/machine-speed.ts'
import { testLength } from '../support/test-length.ts'
import { event } from '../telemetry/events.ts'
import { expectedRows, storedDays, storedEvents, storedQuarters } from '../telemetry/rollup-oracle.ts'

const rounds = testLength({ short: 2, long: 20 })
const tenants = ['crash', 'other'] as const
const batchesAtOnce = 2
const dayMs = 86_400_000
const env = { HUB_LIMIT_FACTOR: '1000' }

let hub: HubProcess | undefined
afterAll(async () => {
  await hub?.stop()
  await removeDataDirectories()
})

test(`kill -9 of everything while telemetry is ingested and folded, ${rounds} times`, async () => {
  const dataDir = await freshDataDirectory()
  hub = await startHubProcess(dataDir, env)
  const credentials = new Map<string, Awaited<ReturnType<typeof makeTenant>>>()
  for (const tenant of tenants) {
    credentials.set(tenant, await makeTenant(dataDir, tenant))
    await connect(hub, tenant).post('/api/v1/hub/records', {
      body: { record_type: 'skill_definition', skill_id: 'sum-up', skill_version: '1.0.0', name: 'Sum up' },
    })
  }
  function connect(running: HubProcess, tenant: string): HubClient {
    return new HubClient({ baseUrl: running.url, ...credentials.get(tenant)! })
  }
  const clients = (running: HubProcess) => tenants.map((tenant) => connect(running, tenant))

  let foldedBeforeKill = 0
  for (let round = 0; round < rounds; round += 1) {
    const killing = new AbortController()
    const load = ingestUntil(killing.signal, clients(hub))
    // Some passes of the folder, and a part of the next.
    await Promise.race([delay(2000 + Math.random() * 2000), load])
    killing.abort()
    await hub.killEverything()
    await load

    hub = await startHubProcess(dataDir, env)
    for (const tenant of tenants) foldedBeforeKill += (await expectExact(dataDir, tenant)).folded
  }
  expect(foldedBeforeKill).toBeGreaterThan(0)

  // What the crashes left is folded, and its days are closed, by the service itself.
  for (const tenant of tenants) {
    // Cheap, so that the sums of all events are added up once or twice only.
    await expect.poll(() => deltasOf(dataDir, tenant), { timeout: scaled(60_000), interval: 500 }).toBe(0)
    await expect
      .poll(() => expectExact(dataDir, tenant), { timeout: scaled(60_000), interval: 1000 })
      .toMatchObject({
        deltas: 0,
        openDays: 0,
      })
  }

  const enough = new AbortController()
  const load = ingestUntil(enough.signal, clients(hub))
  const { tenants: rebuilt } = await hubCommand<{ tenants: { tenant: string; events: number }[] }>(
    dataDir,
    ...['rollups', 'rebuild'],
  )
  for (const tenant of tenants) {
    const { events } = await expectExact(dataDir, tenant)
    const { events: read = 0 } = rebuilt.find((one) => one.tenant === tenant) ?? {}
    expect(read).toBeGreaterThan(0)
    expect(read).toBeLessThanOrEqual(events)
  }
  enough.abort()
  await load
  await hubCommand(dataDir, 'jobs', 'run', 'fold-rollups')
  for (const tenant of tenants) expect(await expectExact(dataDir, tenant)).toMatchObject({ deltas: 0, openDays: 0 })
})

/** Sends batches and single events for every tenant. Only after the signal may a request fail. */
async function ingestUntil(signal: AbortSignal, clients: readonly HubClient[]): Promise<void> {
  async function work(send: (count: number) => Promise<unknown>): Promise<void> {
    for (let count = 0; !signal.aborted; count += 1) {
      try {
        await send(count)
      } catch (error) {
        if (!signal.aborted) throw error
      }
      // Few are enough: the test adds all of them up again and again, as BigInts.
      await delay(25)
    }
  }
  const single = (client: HubClient) => () => client.post('/api/v1/telemetry/events', { body: someEvent() })
  const batch = (client: HubClient) => () =>
    client.post('/api/v1/telemetry/events:batch', { body: { events: Array.from({ length: 5 }, someEvent) } })
  await Promise.all(
    clients.flatMap((client) => [
      work(single(client)),
      ...Array.from({ length: batchesAtOnce }, () => work(batch(client))),
    ]),
  )
}

function someEvent() {
  const any = (count: number) => Math.floor(Math.random() * count)
  const success = any(10) > 0
  return event({
    user_id: `user:person-${any(20)}@example.com`,
    llm_model: ['claude-3-haiku-20240307', 'claude-sonnet-4-5', 'no-such-model', undefined][any(4)],
    // Today, days ago, and the turn of the century.
    ts: new Date(Date.now() - [0, 3, 9_600][any(3)]! * dayMs - any(dayMs)).toISOString(),
    success,
    ...(success ? {} : { error_code: 'timeout' }),
    latency_ms: 1 + any(599_999),
    tokens_in: any(2 ** 31),
    tokens_out: any(1000),
    cost_usd_estimate: any(20) === 0 ? 1_000_000_000 : any(1_000_000) / 1_000_000,
  })
}

/** Quarters, and days as a reader adds them up, against the records, as one moment shows them. */
async function expectExact(dataDir: string, tenant: string) {
  return inSnapshot(dataDir, tenant, async ({ client }) => {
    const events = await storedEvents(client, tenant)
    expect(await storedQuarters(client, tenant)).toEqual(expectedRows(events))
    const { rows, open } = await storedDays(client, tenant)
    expect(rows).toEqual(expectedRows(events, dayMs))
    const counted = await client.query<{ deltas: number; folded: number }>(
      `select (select count(*)::int from hub.telemetry_deltas where tenant_id = $1) as deltas,
         (select count(*)::int from hub.telemetry_rollups where tenant_id = $1) as folded`,
      [tenant],
    )
    return { ...counted.rows[0]!, openDays: open, events: events.length }
  })
}

function deltasOf(dataDir: string, tenant: string): Promise<number> {
  return inSnapshot(dataDir, tenant, async ({ client }) => {
    const sql = 'select count(*)::int as deltas from hub.telemetry_deltas where tenant_id = $1'
    return (await client.query<{ deltas: number }>(sql, [tenant])).rows[0]!.deltas
  })
}

async function inSnapshot<Seen>(dataDir: string, tenant: string, look: (tx: TenantTx) => Promise<Seen>): Promise<Seen> {
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  const database = await openDatabase(loadConfig({ HUB_DATA_DIR: dataDir }), { purpose: 'command', log })
  try {
    return await database.withTenant(tenant, look, { readOnly: true, snapshot: true })
  } finally {
    await database.stop()
  }
}
