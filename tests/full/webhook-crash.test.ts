import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { scopeNames } from '../../contract/scopes.ts'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { freshDataDirectory, removeDataDirectories, serverPid } from '../support/data-directory.ts'
import { reportFault } from '../support/guarantees.ts'
import { type HubProcess, makeTenant, startHubProcess } from '../support/hub-process.ts'
import { scaled } from '../support/machine-speed.ts'
import { testLength } from '../support/test-length.ts'
import { event } from '../telemetry/events.ts'
import { type Receiver, startReceiver } from '../webhooks/receiver.ts'
import { take } from '../webhooks/receiver-behaviours.ts'
import { webhooksPath } from '../webhooks/webhook-lab.ts'

/** What happens as a message comes in, in turn. */
const disasters = ['hub killed after the answer', 'everything killed before the answer', 'database killed'] as const
type Disaster = (typeof disasters)[number]
const rounds = testLength({ short: 3, long: 30 })
const eventsPerRound = 40
/** A lease of a process that is dead runs out first. */
const roundMsMax = scaled(90_000)
/** To see a failure again, put here what it printed. */
const seed = Math.trunc(Math.random() * 2 ** 31)
/** Messages of a round before its disaster: it comes in the middle. */
const befores = fc.sample(fc.integer({ min: 0, max: eventsPerRound * 0.8 }), { seed, numRuns: rounds })
const env = { HUB_OUTBOUND_ALLOW: '127.0.0.1', HUB_LIMIT_FACTOR: '1000' }

let receiver: Receiver
let hub: HubProcess | undefined

beforeAll(async () => {
  receiver = await startReceiver()
})
afterEach(async ({ task }) => {
  await hub?.stop()
  if (task.result?.state === 'fail') process.stdout.write(`seed ${seed}\n${hub?.output() ?? ''}`)
})
afterAll(async () => {
  await receiver.stop()
  await removeDataDirectories()
})

interface Receipt {
  records: { record_id: string }[]
}

interface Delivery {
  sequence: number
  message_id: string
  status: string
  attempt_count: number
}

test(`${rounds} disasters between send and mark: nothing that was acknowledged is lost`, async () => {
  const dataDir = await freshDataDirectory()
  hub = await startHubProcess(dataDir, env)
  const credentials = await makeTenant(dataDir, 'acme', scopeNames.join(' '))
  const connect = ({ url }: HubProcess) => new HubClient({ baseUrl: url, ...credentials })
  let client = connect(hub)
  await client.post('/api/v1/hub/records', {
    body: { record_type: 'skill_definition', skill_id: 'sum-up', skill_version: '1.0.0', name: 'Sum up' },
  })
  const endpoint = receiver.at('/crash')
  const body = { url: endpoint.url, events: ['skill.invocation_failed'] }
  const { webhook_id, secret } = await client.post<{ webhook_id: string; secret: string }>(webhooksPath, { body })
  endpoint.secrets = [secret]

  const acknowledged = new Set<string>()
  for (let round = 0; round < rounds; round++) {
    const disaster = disasters[round % disasters.length]!
    const running: HubProcess = hub
    const struck = Promise.withResolvers<void>()
    const at = endpoint.received.length + 1 + befores[round]!
    struck.promise.catch(() => {})
    const inTime = <Value>(what: string, work: Promise<Value>) =>
      endedInTime(work, () => `round ${round} (${disaster}), ${what}: message ${at} of ${endpoint.received.length}`)
    endpoint.behaviour = (response, request) => {
      if (endpoint.received.length < at) return take(response, request)
      endpoint.behaviour = take
      strike(disaster, running, dataDir, () => take(response, request)).then(struck.resolve, struck.reject)
    }
    const events = Array.from({ length: eventsPerRound }, () => event({ success: false, error_code: 'timeout' }))
    // It may die before it has answered: then it is asked again, under the same key.
    const idempotencyKey = `round-${round}`
    const send = () => client.post<Receipt>('/api/v1/telemetry/events:batch', { body: { events }, idempotencyKey })
    const answered = await inTime(
      'ingest',
      send().catch(() => undefined),
    )
    await inTime('disaster', struck.promise)
    if (disaster !== 'database killed') {
      hub = await startHubProcess(dataDir, env)
      client = connect(hub)
    }
    const { records } = answered ?? (await inTime('ingest again', send()))
    for (const { record_id } of records) acknowledged.add(record_id)
  }
  const delivered = () =>
    new Set(endpoint.received.filter(({ answered }) => answered === 200).map(({ body }) => body.data.record_id))
  await endpoint.until(() => delivered().size >= acknowledged.size, roundMsMax)
  expect(delivered()).toEqual(acknowledged)
  await reportFault({
    fault: 'Hub or database killed while webhooks are sent',
    acknowledged,
    found: delivered(),
  })
  expect(acknowledged.size).toBe(rounds * eventsPerRound)
  expect(endpoint.faults).toEqual([])
  expect(endpoint.duplicates(), 'some were sent again').toBeGreaterThan(0)

  let deliveries: Delivery[] = []
  const allDelivered = async () => {
    deliveries = await allDeliveries(client, webhook_id)
    return deliveries.filter(({ status }) => status !== 'delivered')
  }
  await expect.poll(allDelivered, { timeout: scaled(roundMsMax), interval: 250 }).toEqual([])
  expect(deliveries.map(({ sequence }) => sequence).sort((a, b) => a - b)).toEqual(
    Array.from({ length: acknowledged.size }, (_, before) => before + 1),
  )
  const sequences = new Map(deliveries.map(({ message_id, sequence }) => [message_id, sequence]))
  for (const { id, sequence } of endpoint.received) expect(sequence).toBe(sequences.get(id))
})

/** Rejects, saying what was going on, where it takes longer than a round may. */
async function endedInTime<Value>(work: Promise<Value>, goingOn: () => string): Promise<Value> {
  const ended = new AbortController()
  const late = delay(roundMsMax, undefined, { signal: ended.signal }).then(() => {
    throw new Error(`not within ${roundMsMax / 1000} s: ${goingOn()}`)
  })
  // Where the work ends first, nobody waits for it any more.
  late.catch(() => {})
  return Promise.race([work, late]).finally(() => ended.abort())
}

/** @param answer lets the receiver answer the message that came in */
async function strike(disaster: Disaster, hub: HubProcess, dataDir: string, answer: () => void): Promise<void> {
  if (disaster === 'everything killed before the answer') {
    await hub.killEverything()
    answer()
  } else if (disaster === 'database killed') {
    const server = await serverPid(dataDir)
    process.kill(server, 'SIGKILL')
    answer()
    // The service starts it again.
    await expect.poll(() => serverPid(dataDir).catch(() => server)).not.toBe(server)
    await expect.poll(() => isHealthy(hub)).toBe(true)
  } else {
    answer()
    process.kill(hub.pid, 'SIGKILL')
    await hub.stop()
  }
}

async function isHealthy({ url }: HubProcess): Promise<boolean> {
  return (await fetch(`${url}/v1/health`)).ok
}

async function allDeliveries(client: HubClient, webhookId: string): Promise<Delivery[]> {
  const all: Delivery[] = []
  let cursor: string | undefined
  do {
    const page = await client.get<{ items: Delivery[]; next_cursor: string | null }>(
      `${webhooksPath}/${webhookId}/deliveries`,
      { limit: 1000, cursor },
    )
    all.push(...page.items)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return all
}
