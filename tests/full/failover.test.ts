import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { examine } from '../../cli/doctor/examine.ts'
import type { Finding } from '../../cli/doctor/finding.ts'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { loadConfig } from '../../server/config.ts'
import { readTenant } from '../../server/db/database.ts'
import { openDatabase } from '../../server/db/open-database.ts'
import { runCli } from '../cli/run-cli.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { freePort } from '../support/free-port.ts'
import { reportFault } from '../support/guarantees.ts'
import { type HubProcess, startHubProcess } from '../support/hub-process.ts'
import { patience } from '../support/machine-speed.ts'
import { type PostgresPair, startPostgresPair } from '../support/postgres-pair.ts'
import { storedTelemetry } from '../support/stored-telemetry.ts'
import { event } from '../telemetry/events.ts'

const producers = 6
const eventsPerBatch = 50

let pair: PostgresPair
let hub: HubProcess | undefined
let client: HubClient
let env: Record<string, string>
const metricsPort = await freePort()
beforeAll(async () => {
  pair = await startPostgresPair()
  env = {
    HUB_DATABASE_URL: pair.url,
    HUB_DATABASE_READ_URL: pair.standbyUrl,
    HUB_MASTER_KEY: randomBytes(32).toString('base64'),
    HUB_LIMIT_FACTOR: '1000',
    HUB_DATA_DIR: await freshDataDirectory(),
  }
  hub = await startHubProcess(env.HUB_DATA_DIR!, { ...env, HUB_METRICS_PORT: String(metricsPort) })
  client = await connect(hub.url, env)
  await client.post('/api/v1/hub/records', {
    body: { record_type: 'skill_definition', skill_id: 'sum-up', skill_version: '1.0.0', name: 'Sum up' },
  })
})
afterAll(async () => {
  await hub?.stop()
  await pair?.stop()
  await removeDataDirectories()
})

describe('reads on the standby', () => {
  /** Reads of the Hub so far, by the server that answered. */
  async function readsAt(server: 'replica' | 'primary'): Promise<number> {
    const page = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    return Number(new RegExp(`^hub_database_replica_reads_total\\{server="${server}"\\} (\\d+)$`, 'm').exec(page)?.[1])
  }

  /** The findings of `hub doctor` about the standby. */
  async function replicaFindings(): Promise<Finding[]> {
    return (await examine({ env })).filter(({ check }) => check === 'replica')
  }

  async function write(title: string): Promise<string> {
    const body = { record_type: 'artifact', title }
    return (await client.post<{ record_id: string }>('/api/v1/hub/records', { body })).record_id
  }

  async function titlesOf(recordId: string): Promise<string[]> {
    const query = { record_id: recordId }
    const page = await client.get<{ records: { title: string }[] }>('/api/v1/hub/records', query)
    return page.records.map(({ title }) => title)
  }

  async function writeAndRead(title: string): Promise<void> {
    expect(await titlesOf(await write(title))).toEqual([title])
  }

  /** Resolves when the Hub reads at the standby again. */
  async function standbyIsUsed(): Promise<void> {
    const before = await readsAt('replica')
    await expect
      .poll(async () => {
        await client.get('/api/v1/hub/records', { limit: 1 })
        return readsAt('replica')
      }, patience)
      .toBeGreaterThan(before)
  }

  test('the standby answers, and its reads see each write before them', async () => {
    await standbyIsUsed()
    expect(await replicaFindings()).toMatchObject([{ status: 'ok' }])
    for (let at = 0; at < 30; at++) await writeAndRead(`written ${at}`)
    await standbyIsUsed()
  })

  test('another process sees the write too, at the standby, and only rows of its tenant', async () => {
    const database = await openDatabase(loadConfig(env), { purpose: 'command' })
    try {
      const recordId = await write('from elsewhere')
      const read = (tenant: string) =>
        readTenant(
          database,
          tenant,
          async ({ client: connection }) => {
            const { rows } = await connection.query(
              `select inet_server_port() as port, (select count(*)::int from hub.records) as records,
                 (select count(*)::int from hub.records where record_id = $1) as found`,
              [recordId],
            )
            return rows[0]
          },
          { onReplica: true },
        )
      await expect.poll(() => read('pair'), patience).toMatchObject({ port: pair.standbyPort, found: 1 })
      const { records } = await read('pair')
      expect(records).toBeGreaterThan(30)
      await expect.poll(() => read('neighbour'), patience).toMatchObject({ port: pair.standbyPort, found: 0 })
      const write2 = readTenant(database, 'pair', ({ client: c }) => c.query('delete from hub.records'), {
        onReplica: true,
      })
      await expect(write2).rejects.toThrow(/read-only transaction/)
    } finally {
      await database.stop()
    }
  })

  test('a standby that stops to replay is left, and used again when it has caught up', async () => {
    await pair.onStandby('select pg_wal_replay_pause()')
    const before = await readsAt('primary')
    for (let at = 0; at < 5; at++) await writeAndRead(`while replay rests ${at}`)
    expect(await readsAt('primary')).toBe(before + 5)
    expect(hub!.output()).toContain('the read replica is not used')
    expect(await replicaFindings()).toMatchObject([
      { status: 'warning', detail: expect.stringMatching(/bytes of WAL behind/) },
    ])
    await pair.onStandby('select pg_wal_replay_resume()')
    await standbyIsUsed()
  })

  test('no read fails when the standby does not answer any more', async () => {
    const before = await readsAt('primary')
    const recordId = await write('before the standby is silent')
    const resume = pair.stallStandby()
    const pages = await Promise.all(Array.from({ length: 20 }, () => titlesOf(recordId)))
    expect(pages).toEqual(Array.from({ length: 20 }, () => ['before the standby is silent']))
    expect(await readsAt('primary')).toBeGreaterThanOrEqual(before + 20)
    resume()
    await standbyIsUsed()
  })

  test('no read fails when the standby is killed under load', async () => {
    let isOver = false
    let count = 0
    const recordId = await write('read under load')
    const reading = Promise.all(
      Array.from({ length: producers }, async () => {
        for (; !isOver; count++) expect(await titlesOf(recordId)).toEqual(['read under load'])
      }),
    )
    await expect.poll(() => count).toBeGreaterThan(20)
    await pair.killStandby()
    const before = count
    await expect.poll(() => count).toBeGreaterThan(before + 50)
    await pair.startStandby()
    await standbyIsUsed()
    isOver = true
    await reading
  })

  test('the address of another database is refused', async () => {
    const otherUrl = new URL(pair.standbyUrl)
    otherUrl.pathname = '/postgres'
    const config = loadConfig({ ...env, HUB_DATABASE_READ_URL: String(otherUrl) })
    await expect(openDatabase(config, { purpose: 'command' })).rejects.toMatchObject({
      name: 'StartupError',
      message: expect.stringContaining('HUB_DATABASE_READ_URL'),
    })
  })
})

test('a commit whose wait for the standby is cancelled is not acknowledged, and its key stores it once', async () => {
  const once = (key: string, path: string, body: object) =>
    client.fetch(`${hub!.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify(body),
    })
  await pair.killStandby()
  const requests = () => [
    once('unconfirmed-record', '/api/v1/hub/records', { record_type: 'artifact', title: 'unconfirmed' }),
    once('unconfirmed-events', '/api/v1/telemetry/events:batch', {
      events: [event({ metadata: { batch: 'unconfirmed', at: 0 } })],
    }),
  ]
  const answered = async (work: Promise<Response>[]) => {
    let isOver = false
    const all = Promise.all(work).finally(() => (isOver = true))
    while (!isOver) {
      await pair.cancelWaits()
      await delay(100)
    }
    return all
  }
  // The second time, the key is found, and its commit still waits for a standby that may never have it.
  for (let attempt = 0; attempt < 2; attempt++) {
    for (const response of await answered(requests())) {
      expect(response.status).toBe(503)
      expect(response.headers.get('retry-after')).toBe('2')
    }
  }
  await pair.startStandby()
  for (const response of await Promise.all(requests())) expect([200, 201]).toContain(response.status)
  const stored = (await storedTelemetry(client)).filter(({ metadata }) => metadata!.batch === 'unconfirmed')
  expect(stored).toHaveLength(1)
})

test('the primary dies in the middle of ingest: nothing acknowledged is lost, nothing is doubled', async () => {
  const acknowledged = new Map<string, string[]>()
  let isOver = false
  /** Sends batches one after the other, each under its key until it is acknowledged. */
  async function produce(producer: number): Promise<void> {
    for (let count = 0; !isOver; count++) {
      const name = `${producer}.${count}`
      for (;;) {
        try {
          acknowledged.set(name, await send(client, name))
          break
        } catch {
          // The client has given up retrying: the failover takes longer than it waits.
          await delay(100)
        }
      }
    }
  }
  const producing = Promise.all(Array.from({ length: producers }, (_, producer) => produce(producer)))
  await expect.poll(() => acknowledged.size).toBeGreaterThan(4 * producers)
  const killedAtMs = performance.now()
  await pair.failOver()
  const before = acknowledged.size
  await expect.poll(() => acknowledged.size).toBeGreaterThan(before)
  const recoveryMs = performance.now() - killedAtMs
  await expect.poll(() => acknowledged.size).toBeGreaterThan(before + 4 * producers)
  isOver = true
  await producing

  const stored = Map.groupBy(await storedTelemetry(client), ({ metadata }) => metadata!.batch)
  // Stored once before the failover, by the test above.
  expect(stored.get('unconfirmed')).toHaveLength(1)
  stored.delete('unconfirmed')
  expect([...stored.keys()].sort()).toEqual([...acknowledged.keys()].sort())
  for (const [name, records] of stored) {
    const inOrder = records.toSorted((a, b) => a.metadata!.at - b.metadata!.at).map(({ record_id }) => record_id)
    expect(inOrder, `batch ${name}`).toEqual(acknowledged.get(name))
  }
  await reportFault({
    fault: 'Primary killed during ingest, synchronous standby promoted',
    acknowledged: [...acknowledged].flatMap(([name, ids]) => ids.map((_, at) => `${name}.${at}`)),
    found: [...stored].flatMap(([name, records]) => records.map(({ metadata }) => `${name}.${metadata!.at}`)),
    recoveryMs,
  })
  const audit = await runCli(['log', 'audit', '--tenant', 'pair', '--json'], env)
  expect(audit).toMatchObject({ code: 0 })
})

async function connect(baseUrl: string, env: Record<string, string>): Promise<HubClient> {
  const run = async (...args: string[]) => JSON.parse((await runCli([...args, '--json'], env)).stdout)
  await run('tenant', 'create', 'pair', '--mode', 'A', '--admin-email', 'admin@pair.example')
  await run('tenant', 'create', 'neighbour', '--mode', 'A', '--admin-email', 'admin@neighbour.example')
  await run('archetypes', 'set', '--tenant', 'pair', 'analyst')
  const scope = 'hub:read hub:write telemetry:read telemetry:write'
  const account = await run('service-account', 'create', '--tenant', 'pair', '--name', 'load', '--scope', scope)
  const { client_id: clientId, client_secret: clientSecret } = account as Record<string, string>
  return new HubClient({ baseUrl, tenant: 'pair', clientId: clientId!, clientSecret: clientSecret! })
}

/** Returns the ids of the stored records, in the order of the events. */
async function send(client: HubClient, name: string): Promise<string[]> {
  const events = Array.from({ length: eventsPerBatch }, (_, at) => event({ metadata: { batch: name, at } }))
  const answer = await client.post<{ accepted: number; records: { record_id: string }[] }>(
    '/api/v1/telemetry/events:batch',
    { body: { events }, idempotencyKey: name },
  )
  expect(answer.accepted).toBe(eventsPerBatch)
  return answer.records.map((record) => record.record_id)
}
