import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import type { JsonValue } from '../../provenance/index.ts'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import {
  type ConnectorProcess,
  connectorStatusOf,
  startConnectorProcess,
} from '../connector-forwarder/connector-process.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { freePort } from '../support/free-port.ts'
import { type HubProcess, hubCommand, startHubProcess } from '../support/hub-process.ts'
import { scaled } from '../support/machine-speed.ts'
import { testLength } from '../support/test-length.ts'
import { event } from '../telemetry/events.ts'

/** The Hub is killed in every second round of four, up again in the third, and stopped and started in the fourth. */
const rounds = testLength({ short: 4, long: 40 })
const producers = 4
/** More would keep the Hub busy after the last round while it is down or starts. */
const acceptedMaxPerRound = 3_000

let hub: HubProcess | undefined
let connector: ConnectorProcess | undefined
let spool: string
afterAll(async () => {
  await connector?.kill()
  await hub?.stop()
  await rm(spool, { recursive: true, force: true })
  await removeDataDirectories()
})

/** Sent under a key of its own, so that a producer may repeat what had no answer. */
interface Request {
  key: string
  events: Record<string, JsonValue>[]
}

test(`killed and restarted ${rounds} times with the Hub up and down, every event accepted arrives exactly once`, async () => {
  const dataDir = await freshDataDirectory()
  spool = await mkdtemp(join(tmpdir(), 'connector-spool-'))
  const port = await freePort()
  const startHub = () => startHubProcess(dataDir, { HUB_LIMIT_FACTOR: '1000' }, [], port)
  hub = await startHub()
  const account = await makeModeCTenant(dataDir)
  const client = new HubClient({ baseUrl: hub.url, ...account })
  await client.post('/api/v1/hub/records', {
    body: { record_type: 'skill_definition', skill_id: 'sum-up', skill_version: '1.0.0', name: 'Sum up' },
  })
  const connect = () =>
    startConnectorProcess({
      hubUrl: `http://127.0.0.1:${port}`,
      tenant: account.tenant,
      spool,
      clientId: account.clientId,
      clientSecret: account.clientSecret,
    })

  const accepted = new Set<string>()
  const repeated: Request[] = []
  for (let round = 0; round < rounds; round++) {
    connector = await connect()
    // What the kill left without an answer is asked again under its key.
    for (const request of repeated.splice(0)) await send(connector.url, request, accepted)
    const before = accepted.size
    let killing = false
    const running = connector
    const work = Promise.all(
      Array.from({ length: producers }, async (_, producer) => {
        for (let number = 0; ; number++) {
          while (accepted.size > before + acceptedMaxPerRound && !killing) await delay(5)
          const request = requestOf(`${round}.${producer}.${number}`, producer === 0 ? 200 : 1)
          try {
            await send(running.url, request, accepted)
          } catch (error) {
            if (!killing) throw error
            repeated.push(request)
            return
          }
        }
      }),
    )
    work.catch(() => {})
    // In the middle of a batch, more often than not.
    while (accepted.size < before + 500) await Promise.race([delay(5), work])
    if (round % 4 === 1) await hub!.killEverything()
    if (round % 4 === 2) hub = await startHub()
    if (round % 4 === 3) {
      await hub!.stop()
      hub = await startHub()
    }
    await delay(Math.random() * 300)
    killing = true
    await connector.kill()
    await work
  }
  connector = await connect()
  for (const request of repeated.splice(0)) await send(connector.url, request, accepted)
  await expect.poll(async () => (await connectorStatusOf(connector!.url)).pending, { timeout: scaled(120_000) }).toBe(0)
  const status = await connectorStatusOf(connector.url)
  expect(status).toMatchObject({ refused: 0, uncertain: { batches: 0, events: 0 } })
  expect(status.totals).toEqual({ accepted: accepted.size, forwarded: accepted.size, refused: 0, dropped: 0 })

  const arrived = await allUsers(client)
  expect(new Set(arrived).size, 'no event twice').toBe(arrived.length)
  expect(new Set(arrived)).toEqual(accepted)
  await connector.stop()
})

function requestOf(name: string, size: number): Request {
  return { key: name, events: Array.from({ length: size }, (_, at) => event({ user_id: `user:${name}.${at}` })) }
}

async function send(url: string, { key, events }: Request, accepted: Set<string>): Promise<void> {
  const isBatch = events.length > 1
  const response = await fetch(`${url}/api/v1/telemetry/events${isBatch ? ':batch' : ''}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(isBatch ? { events } : events[0]),
  })
  const answer = (await response.json()) as { accepted: number }
  expect([response.status, answer.accepted]).toEqual([202, events.length])
  for (const { user_id } of events) accepted.add(user_id as string)
}

async function makeModeCTenant(dataDir: string) {
  const tenant = 'remote'
  await hubCommand(dataDir, 'tenant', 'create', tenant, '--mode', 'C', '--admin-email', 'admin@remote.example')
  await hubCommand(dataDir, 'archetypes', 'set', '--tenant', tenant, 'analyst')
  const account = await hubCommand<{ client_id: string; client_secret: string }>(
    dataDir,
    ...['service-account', 'create', '--tenant', tenant, '--name', 'connector'],
    ...['--scope', 'hub:write telemetry:read telemetry:write'],
  )
  return { tenant, clientId: account.client_id, clientSecret: account.client_secret }
}

async function allUsers(client: HubClient): Promise<string[]> {
  const users: string[] = []
  let cursor: string | undefined
  do {
    const page = await client.get<{ records: { user_id: string }[]; next_cursor: string | null }>(
      '/api/v1/hub/records',
      { record_type: 'telemetry_event', limit: 1000, cursor },
    )
    users.push(...page.records.map((record) => record.user_id))
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return users
}
