import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { runCli } from '../cli/run-cli.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { type HubProcess, startHubProcess } from '../support/hub-process.ts'
import { type PostgresPair, startPostgresPair } from '../support/postgres-pair.ts'
import { storedTelemetry } from '../support/stored-telemetry.ts'
import { event } from '../telemetry/events.ts'

const producers = 6
const eventsPerBatch = 50

let pair: PostgresPair | undefined
let hub: HubProcess | undefined
afterAll(async () => {
  await hub?.stop()
  await pair?.stop()
  await removeDataDirectories()
})

test('the primary dies in the middle of ingest: nothing acknowledged is lost, nothing is doubled', async () => {
  pair = await startPostgresPair()
  const env = {
    HUB_DATABASE_URL: pair.url,
    HUB_MASTER_KEY: randomBytes(32).toString('base64'),
    HUB_LIMIT_FACTOR: '1000',
    HUB_DATA_DIR: await freshDataDirectory(),
  }
  hub = await startHubProcess(env.HUB_DATA_DIR, env)
  const client = await connect(hub.url, env)
  await client.post('/api/v1/hub/records', {
    body: { record_type: 'skill_definition', skill_id: 'sum-up', skill_version: '1.0.0', name: 'Sum up' },
  })

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
  console.log(
    `Batches were stored again ${Math.round(performance.now() - killedAtMs)} ms after the death of the primary.`,
  )
  await expect.poll(() => acknowledged.size).toBeGreaterThan(before + 4 * producers)
  isOver = true
  await producing

  const stored = Map.groupBy(await storedTelemetry(client), ({ metadata }) => metadata!.batch)
  expect([...stored.keys()].sort()).toEqual([...acknowledged.keys()].sort())
  for (const [name, records] of stored) {
    const inOrder = records.toSorted((a, b) => a.metadata!.at - b.metadata!.at).map(({ record_id }) => record_id)
    expect(inOrder, `batch ${name}`).toEqual(acknowledged.get(name))
  }
  const audit = await runCli(['log', 'audit', '--tenant', 'pair', '--json'], env)
  expect(audit).toMatchObject({ code: 0 })
})

async function connect(baseUrl: string, env: Record<string, string>): Promise<HubClient> {
  const run = async (...args: string[]) => JSON.parse((await runCli([...args, '--json'], env)).stdout)
  await run('tenant', 'create', 'pair', '--mode', 'A', '--admin-email', 'admin@pair.example')
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
