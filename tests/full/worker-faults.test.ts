import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { runCli } from '../cli/run-cli.ts'
import {
  childPids,
  freshDataDirectory,
  isRunning,
  removeDataDirectories,
  serverPid,
} from '../support/data-directory.ts'
import { reportFault } from '../support/guarantees.ts'
import { type HubProcess, hubCommand, makeTenant, startHubProcess } from '../support/hub-process.ts'
import { event } from '../telemetry/events.ts'

/** Two workers, in the order of one story: they serve, one dies, the primary dies, all of it starts again and stops. */

const env = { HUB_WORKERS: '2', HUB_LOG_LEVEL: 'info' }
let dataDir: string
let hub: HubProcess
let client: HubClient
let credentials: Awaited<ReturnType<typeof makeTenant>>
const acknowledged: string[] = []

beforeAll(async () => {
  dataDir = await freshDataDirectory()
  hub = await startHubProcess(dataDir, env)
  credentials = await makeTenant(dataDir, 'cluster')
  for (const rateClass of ['telemetry-ingest', 'hub-write']) {
    await hubCommand(dataDir, 'tenant', 'limits', 'cluster', rateClass, '1000000', '1000000')
  }
  await connect()
  await client.post('/api/v1/hub/records', {
    body: { record_type: 'skill_definition', skill_id: 'sum-up', skill_version: '1.0.0', name: 'Sum up' },
  })
})
afterAll(async () => {
  await hub.stop()
  await removeDataDirectories()
})

/** With a token at once: requests that run together would each get one. */
async function connect(): Promise<void> {
  client = new HubClient({ baseUrl: hub.url, ...credentials })
  await client.get('/api/v1/hub/records')
}

const workerPids = () => childPids(hub.pid, 'cluster/worker.ts')

/** Resolves when it is so; unlike `expect.poll`, it looks from now on and not from when it is awaited. */
async function come(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 15_000
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('it has not come to this in time')
    await delay(50)
  }
}

/** Stores events from several connections until `until` resolves; what breaks is not acknowledged. */
async function ingest(until: Promise<unknown>): Promise<{ broken: number }> {
  let going = true
  let broken = 0
  const stop = () => {
    going = false
  }
  until.then(stop, stop)
  const work = async () => {
    while (going) {
      await client.post<{ record_id: string }>('/api/v1/telemetry/events', { body: event() }).then(
        (receipt) => acknowledged.push(receipt.record_id),
        () => broken++,
      )
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
  return { broken }
}

/** Returns the ids of the stored events. */
async function expectAllStored(): Promise<string[]> {
  const stored: string[] = []
  let cursor: string | undefined
  do {
    const page = await client.get<{ records: { record_id: string }[]; next_cursor: string | null }>(
      '/api/v1/hub/records',
      { record_type: 'telemetry_event', limit: 1000, cursor },
    )
    for (const record of page.records) stored.push(record.record_id)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  expect(acknowledged.length).toBeGreaterThan(0)
  const ids = new Set(stored)
  expect(acknowledged.filter((id) => !ids.has(id))).toEqual([])
  return stored
}

test('a number of workers that cannot be is reported with everything else that is wrong', async () => {
  const { code, stderr } = await runCli(['serve', '--workers', 'many', '--port', '70000'])
  expect([code, /--workers[\s\S]*--port|--port[\s\S]*--workers/.test(stderr)]).toEqual([1, true])
})

test('both workers serve at one address, which is said once', async () => {
  await ingest(delay(300))
  await expectAllStored()
  expect(await workerPids()).toHaveLength(2)
  expect(hub.output().match(/^Hub: /gm)).toHaveLength(1)
  expect(hub.output().match(/^Welcome /gm)).toHaveLength(1)
  for (const worker of [1, 2]) expect(hub.output()).toContain(`"worker":${worker},"request_id"`)
})

test('a limit is exact, whichever workers its requests come to', async () => {
  const { clientId, clientSecret } = await makeTenant(dataDir, 'limited')
  await hubCommand(dataDir, 'tenant', 'limits', 'limited', 'hub-read', '60', '100')
  const tokens = await Promise.all(
    [1, 2].map(async () => {
      const body = new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: clientSecret,
      })
      const answer = await fetch(`${hub.url}/api/v1/oauth/token`, { method: 'POST', body })
      return ((await answer.json()) as { access_token: string }).access_token
    }),
  )
  const read = async (token: string | undefined) => {
    const headers = { authorization: `Bearer ${token}`, 'x-service-tenant': 'limited' }
    const answer = await fetch(`${hub.url}/api/v1/hub/records?limit=1`, { headers })
    await answer.arrayBuffer()
    if (answer.status === 429) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    return answer.status
  }
  const statuses = async (token: string | undefined) =>
    Object.entries(Object.groupBy(await Promise.all(Array.from({ length: 90 }, () => read(token))), String)).map(
      ([status, all]) => [status, all?.length],
    )
  expect(await statuses(tokens[0])).toEqual([
    ['200', 60],
    ['429', 30],
  ])
  // The tenant has 40 left, and of them the refused ones took none.
  expect(await statuses(tokens[1])).toEqual([
    ['200', 40],
    ['429', 50],
  ])
})

test('kill -9 of a worker loses nothing that was acknowledged, and another takes its place', async () => {
  const before = await workerPids()
  const [victim] = before
  const replaced = come(async () => {
    const now = await workerPids()
    return now.length === 2 && !now.includes(victim!) && hub.output().includes('a worker ended; starting another')
  })
  setTimeout(() => process.kill(victim!, 'SIGKILL'), 200)
  const { broken } = await ingest(replaced.then(() => delay(300)))
  await replaced
  // A request that the worker was at when it died, on each connection it had; no more.
  expect(broken).toBeLessThanOrEqual(8)
  await reportFault({ fault: 'One of two workers killed', acknowledged, found: await expectAllStored() })
})

test('kill -9 of the primary takes workers and database along, and loses nothing', async () => {
  const doomed = [...(await workerPids()), await serverPid(dataDir)]
  expect(doomed).toHaveLength(3)
  const ended = come(async () => !doomed.some(isRunning))
  setTimeout(() => process.kill(hub.pid, 'SIGKILL'), 200)
  await ingest(ended)
  await ended
  const endedAtMs = performance.now()
  hub = await startHubProcess(dataDir, env)
  const recoveryMs = performance.now() - endedAtMs
  await connect()
  const fault = 'First process killed, which takes workers and database along'
  await reportFault({ fault, acknowledged, found: await expectAllStored(), recoveryMs })
})

test('Ctrl-C of a terminal, which every process gets and the primary twice, stops all in order', async () => {
  const doomed = [...(await workerPids()), await serverPid(dataDir)]
  process.kill(-hub.pid, 'SIGINT')
  process.kill(hub.pid, 'SIGINT')
  await hub.stop()
  expect(doomed.filter(isRunning)).toEqual([])
  expect(hub.output()).not.toContain('a worker ended')
})
