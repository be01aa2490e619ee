import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { loadConfig } from '../../server/config.ts'
import { connectionUrl } from '../../server/db/connection-settings.ts'
import { openDatabase } from '../../server/db/open-database.ts'
import { createEmptyDatabase } from '../cli/empty-database.ts'
import { FakeValkey } from '../limits/fake-valkey.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { reportFault } from '../support/guarantees.ts'
import { type HubProcess, makeTenant, startHubProcess } from '../support/hub-process.ts'
import { startProducers } from '../support/producers.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { testLength } from '../support/test-length.ts'

/** The network between Hub and PostgreSQL, which is slow, stalls, and forgets connections. */

const rounds = testLength({ short: 1, long: 10 })
let hub: HubProcess | undefined
let proxy: TcpProxy
let valkey: FakeValkey
let database: Awaited<ReturnType<typeof createEmptyDatabase>>
let client: HubClient
let env: Record<string, string>

beforeAll(async () => {
  database = await createEmptyDatabase()
  const { host = '127.0.0.1', port = 5432 } = database.target
  proxy = await startTcpProxy(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port })
  valkey = await FakeValkey.start()
  const dataDir = await freshDataDirectory()
  env = {
    HUB_DATA_DIR: dataDir,
    HUB_VALKEY_URL: `redis://127.0.0.1:${valkey.port}/0`,
    HUB_DATABASE_URL: connectionUrl({ ...database.target, host: '127.0.0.1', port: proxy.port }),
    HUB_MASTER_KEY: randomBytes(32).toString('base64'),
    HUB_LIMIT_FACTOR: '1000',
  }
  hub = await startHubProcess(dataDir, env)
  const credentials = await makeTenant(dataDir, 'network', undefined, undefined, env)
  client = new HubClient({ baseUrl: hub.url, ...credentials })
  await client.post('/api/v1/hub/records', {
    body: { record_type: 'skill_definition', skill_id: 'sum-up', skill_version: '1.0.0', name: 'Sum up' },
  })
})
afterAll(async () => {
  // A connection that is still forgotten would not let the Hub say farewell.
  proxy.destroyForgotten()
  await hub?.stop()
  await proxy.close()
  await valkey.close()
  await database.drop()
  await removeDataDirectories()
})

async function isHealthy(): Promise<boolean> {
  return (await fetch(`${hub!.url}/v1/health`)).ok
}

/** Waits for longer than the Hub lets a statement be silent. */
const longSilenceMs = 20_000

test.each<[string, () => Promise<unknown>]>([
  [
    'takes 50 ms for each packet',
    async () => {
      const speedUp = proxy.delay(50)
      await delay(2_000)
      speedUp()
    },
  ],
  [
    'stalls for two seconds',
    async () => {
      const resume = proxy.stall()
      await delay(2_000)
      resume()
    },
  ],
  [
    'is cut for 20 seconds',
    async () => {
      const resume = proxy.stall()
      await delay(longSilenceMs)
      expect(await isHealthy()).toBe(false)
      resume()
    },
  ],
  ['forgets all connections, and tells neither end', async () => proxy.forget()],
])('a network that %s loses nothing', async (what, strike) => {
  const producers = startProducers(client, what.replaceAll(' ', '-'))
  let recoveryMs = 0
  for (let round = 0; round < rounds; round++) {
    await producers.progress()
    await strike()
    const struckAtMs = performance.now()
    await producers.progress()
    recoveryMs = Math.max(recoveryMs, performance.now() - struckAtMs)
    await expect.poll(isHealthy).toBe(true)
  }
  const fault = `Network to PostgreSQL ${what}`
  await reportFault({ fault, ...(await producers.stop()), recoveryMs })
})

test('a Valkey that is silent, goes away and comes back does not disturb ingest', async () => {
  const producers = startProducers(client, 'valkey')
  const { port } = valkey
  for (let round = 0; round < rounds; round++) {
    await producers.progress()
    valkey.mood = 'silent'
    await producers.progress()
    await valkey.close()
    await producers.progress()
    valkey.mood = 'well'
    await valkey.listen(port)
    await producers.progress()
  }
  await reportFault({ fault: 'Valkey silent, closed and back during ingest', ...(await producers.stop()) })
})

test('a statement that the server still runs is waited for, however silent it is', async () => {
  const opened = await openDatabase(loadConfig(env), { purpose: 'command' })
  try {
    const slept = await opened.withTenant('network', (tx) => tx.client.query('select pg_sleep(16)'))
    expect(slept.rowCount).toBe(1)
  } finally {
    await opened.stop()
  }
})
