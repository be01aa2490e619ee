import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { createEmptyDatabase } from '../cli/empty-database.ts'
import { childPids, freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { type HubProcess, makeTenant, startHubProcess } from '../support/hub-process.ts'
import { testLength } from '../support/test-length.ts'
import { event } from '../telemetry/events.ts'

const rounds = testLength({ short: 2, long: 10 })
const env = { HUB_WORKERS: '3', HUB_LIMIT_FACTOR: '10000' }
let hub: HubProcess | undefined

afterAll(async () => {
  await hub?.stop()
  await removeDataDirectories()
})

/** Stores events until the Hub is gone. Fills `acknowledged` and `broken` while it runs. */
function ingestUntilGone(client: HubClient) {
  const acknowledged: string[] = []
  const broken: unknown[] = []
  const work = async () => {
    for (;;) {
      try {
        const receipt = await client.post<{ record_id: string }>('/api/v1/telemetry/events', { body: event() })
        acknowledged.push(receipt.record_id)
      } catch (error) {
        // An idle connection may close while a request is on its way to it: nobody took that, and nothing is stored of it.
        const { code } = (error as { cause?: { code?: string } }).cause ?? {}
        if (!['ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET'].includes(code ?? '')) broken.push(code ?? error)
        return
      }
    }
  }
  return { acknowledged, broken, ended: Promise.all(Array.from({ length: 12 }, work)) }
}

async function storedIds(client: HubClient): Promise<Set<string>> {
  const stored = new Set<string>()
  let cursor: string | undefined
  do {
    const page = await client.get<{ records: { record_id: string }[]; next_cursor: string | null }>(
      '/api/v1/hub/records',
      { record_type: 'telemetry_event', limit: 1000, cursor },
    )
    for (const record of page.records) stored.add(record.record_id)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return stored
}

test(`SIGTERM under load drops no request that any worker took, ${rounds} times`, async () => {
  const dataDir = await freshDataDirectory()
  hub = await startHubProcess(dataDir, env)
  const credentials = await makeTenant(dataDir, 'drain')
  const clientOf = async (url: string) => {
    const client = new HubClient({ baseUrl: url, ...credentials })
    await client.get('/api/v1/hub/records')
    return client
  }
  await (await clientOf(hub.url)).post('/api/v1/hub/records', {
    body: { record_type: 'skill_definition', skill_id: 'sum-up', skill_version: '1.0.0', name: 'Sum up' },
  })
  const all: string[] = []
  for (let round = 0; round < rounds; round++) {
    const { acknowledged, broken, ended } = ingestUntilGone(await clientOf(hub.url))
    await expect.poll(() => acknowledged.length, { interval: 5 }).toBeGreaterThan(20)
    await delay(Math.random() * 400)
    await hub.stop()
    await ended
    expect(broken).toEqual([])
    all.push(...acknowledged)
    hub = await startHubProcess(dataDir, env)
  }
  const stored = await storedIds(await clientOf(hub.url))
  // An event that is stored without an answer would be of a request that was taken and dropped.
  expect([...stored].sort()).toEqual(all.sort())
  await hub.stop()
})

test('workers that keep dying are started again, more slowly, and that is said loudly', async () => {
  const dataDir = await freshDataDirectory()
  const dying = await startHubProcess(dataDir, { HUB_WORKERS: '2' })
  hub = dying
  const killed = new Set<number>()
  const deadline = performance.now() + 60_000
  while (!dying.output().includes('workers keep stopping') && performance.now() < deadline) {
    const [victim] = await childPids(dying.pid, 'cluster/worker.ts')
    if (victim !== undefined && !killed.has(victim)) {
      killed.add(victim)
      process.kill(victim, 'SIGKILL')
    }
    await delay(20)
  }
  expect(dying.output()).toContain('workers keep stopping')
  expect(dying.output()).toMatch(/"restart_in_ms":[1-9]/)
  // It serves again as soon as they live.
  const twoAgain = async () => (await childPids(dying.pid, 'cluster/worker.ts')).length
  await expect.poll(twoAgain).toBe(2)
  expect((await fetch(`${dying.url}/v1/health`)).status).toBe(200)
  await dying.stop()
})

test('an address has its connections over all workers, and a worker that dies gives back those that it had', async () => {
  const max = 4
  const capped = await startHubProcess(await freshDataDirectory(), {
    ...env,
    HUB_CONNECTIONS_PER_ADDRESS: String(max),
  })
  hub = capped
  const { port } = new URL(capped.url)
  const sockets: Socket[] = []
  /** Status of the answer on a connection that stays open; none where it breaks. */
  const open = () =>
    new Promise<string | undefined>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1')
      sockets.push(socket)
      socket.on('data', (answer) => resolve(String(answer).split(' ')[1]))
      socket.on('error', () => {}).on('close', () => resolve(undefined))
      socket.write('GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    })
  const closeAll = () => {
    for (const socket of sockets.splice(0)) socket.destroy()
  }
  // Closing takes a moment to be heard of.
  const openOneMore = async () => {
    closeAll()
    const statuses = []
    for (let at = 0; at <= max; at += 1) statuses.push(await open())
    return statuses
  }
  const expected = [...Array<string>(max).fill('200'), '429']
  await expect.poll(openOneMore).toEqual(expected)
  for (const pid of await childPids(capped.pid, 'cluster/worker.ts')) process.kill(pid, 'SIGKILL')
  await expect.poll(openOneMore).toEqual(expected)
  closeAll()
  await capped.stop()
})

test('a full disk that one worker meets is in the health of every worker', async () => {
  const database = await createEmptyDatabase()
  const operatorToken = 'operator+token/of=these:tests'
  const workers = await startHubProcess(await freshDataDirectory(), {
    HUB_WORKERS: '2',
    HUB_DATABASE_URL: database.url,
    HUB_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    HUB_OPERATOR_TOKEN: operatorToken,
  })
  try {
    const health = () =>
      Promise.all(
        Array.from({ length: 8 }, async () => {
          const answer = await fetch(`${workers.url}/v1/health`, { headers: { connection: 'close' } })
          const { checks } = (await answer.json()) as { checks: { database: { reason?: string } } }
          return [answer.status, checks.database.reason]
        }),
      )
    expect(await health()).toEqual(Array(8).fill([200, undefined]))
    await (await database.superuser()).query(`
      create function public.disk_is_full() returns trigger language plpgsql as $$
        begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
      create trigger full_disk before insert on hub.tenant_settings
        for each row execute function public.disk_is_full()`)
    const answer = await fetch(`${workers.url}/api/v1/operator/tenants`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ slug: 'acme', mode: 'A', admin_email: 'a@acme.example' }),
    })
    expect(answer.status).toBe(503)
    await expect.poll(health).toEqual(Array(8).fill([503, 'storage is full']))
  } finally {
    await workers.stop()
    await database.drop()
  }
})
