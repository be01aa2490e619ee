import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { runCli } from '../cli/run-cli.ts'
import { freePort } from '../support/free-port.ts'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { type HubProcess, startHubProcess } from '../support/hub-process.ts'
import { ValkeyServer } from './valkey-server.ts'

/**
 * Two Hubs as processes of their own, on one database and one Valkey, the second with two workers and with a clock that
 * is wrong. What they let through together is counted from outside.
 */

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const perToken = 1000
const perTenant = 1500
const connections = 25
/** Both processes share a limit equally while Valkey is unavailable. */
const share = perToken / 2

let valkey: ValkeyServer
let made: TestHub
let folder: string
let hubs: HubProcess[] = []
let metricsPorts: number[]
let urls: string[]

beforeAll(async () => {
  valkey = await ValkeyServer.start()
  made = await startHub()
  folder = await mkdtemp(join(tmpdir(), 'hub-two-'))
  metricsPorts = [await freePort(), await freePort()]
  const ports = [await freePort(), await freePort()] as const
  urls = ports.map((port) => `http://127.0.0.1:${port}`)
  const env = {
    HUB_DATABASE_URL: made.test.url,
    HUB_MASTER_KEY: made.test.masterKey.toString('base64'),
    HUB_BASE_URL: 'http://127.0.0.1:8080',
    HUB_VALKEY_URL: valkey.url,
    HUB_ROLE: 'api',
  }
  for (const tenant of ['acme', 'globex']) {
    const limited = await runCli(['tenant', 'limits', tenant, 'hub-read', String(perToken), String(perTenant)], env)
    expect(limited).toMatchObject({ code: 0 })
  }
  const wrongClock = 'data:text/javascript,const now = Date.now; Date.now = () => now() + 180_000'
  hubs = await Promise.all([
    startHubProcess(join(folder, 'one'), { ...env, HUB_METRICS_PORT: String(metricsPorts[0]) }, [], ports[0]),
    startHubProcess(
      join(folder, 'two'),
      { ...env, HUB_METRICS_PORT: String(metricsPorts[1]), HUB_WORKERS: '2' },
      ['--import', wrongClock],
      ports[1],
    ),
  ])
})
afterAll(async () => {
  await Promise.all(hubs.map((hub) => hub.stop()))
  await made?.stop()
  await valkey?.remove()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  await expect.poll(() => fallbacks()).toEqual([0, 0])
  await administrate((client) => client.flushall())
})

async function administrate(work: (client: ReturnType<ValkeyServer['client']>) => Promise<unknown>): Promise<void> {
  const client = valkey.client()
  await work(client)
  client.disconnect()
}

/** A token of an account made for it, from the Hub whose clock is right. */
async function newToken(tenant: TestTenant): Promise<string> {
  const account = await made.modules.auth.serviceAccounts.create(
    await made.tenant(tenant),
    { name: 'burst', scopes: ['hub:read'] },
    { operator: 'test' },
  )
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: account.client_id,
    client_secret: account.client_secret,
  })
  const answer = await fetch(`${urls[0]}/api/v1/oauth/token`, { method: 'POST', body })
  expect(answer.status).toBe(200)
  return ((await answer.json()) as { access_token: string }).access_token
}

interface Load {
  /** How often each status came, for each Hub. */
  statuses: Record<string, number>[]
}

const total = ({ statuses }: Load, status: number) => statuses.reduce((sum, each) => sum + (each[status] ?? 0), 0)

/** So many requests to each Hub, over some connections at once. */
async function load(tenant: TestTenant, token: string, times: number, seen: Load = newLoad()): Promise<Load> {
  const headers = { authorization: `Bearer ${token}`, 'x-service-tenant': tenant }
  await Promise.all(
    urls.map(async (url, index) => {
      const statuses = seen.statuses[index] as Record<string, number>
      let left = times
      const work = async () => {
        while (left-- > 0) {
          const answer = await fetch(`${url}/api/v1/hub/records?limit=1`, { headers })
          await answer.arrayBuffer()
          statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
        }
      }
      await Promise.all(Array.from({ length: connections }, work))
    }),
  )
  return seen
}

const newLoad = (): Load => ({ statuses: [{}, {}] })

/** `hub_rate_limiter_fallback` of each Hub's process that counts. */
function fallbacks(): Promise<number[]> {
  return Promise.all(
    metricsPorts.map(async (port) => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      return Number(/^hub_rate_limiter_fallback(?:\{worker="primary"\})? (\d)$/m.exec(text)?.[1])
    }),
  )
}

const timesSaid = (text: string) => hubs.map((hub) => hub.output().split(text).length - 1)

test('one limit holds exactly under a burst in a fresh window, and the refused are charged to nobody', async () => {
  const first = await load('acme', await newToken('acme'), 3000)
  expect([total(first, 200), total(first, 429)]).toEqual([perToken, 6000 - perToken])
  // Had one of the 5,000 refused requests been charged to the tenant, it would have less than this left.
  const second = await load('acme', await newToken('acme'), 1000)
  expect([total(second, 200), total(second, 429)]).toEqual([perTenant - perToken, 2000 - (perTenant - perToken)])
  for (const { statuses } of [first, second]) for (const each of statuses) expect(each[200]).toBeGreaterThan(0)
  expect(timesSaid('Valkey is unavailable')).toEqual([0, 0])
})

test('the metrics of a Hub with workers are those of all its processes', async () => {
  await load('acme', await newToken('acme'), 100)
  const text = await (await fetch(`http://127.0.0.1:${metricsPorts[1]}/metrics`)).text()
  const counts = [...text.matchAll(/^hub_http_requests_total\{.*operation="queryRecords".*worker="(\d)".*\} (\d+)$/gm)]
  expect(new Set(counts.map((each) => each[1]))).toEqual(new Set(['1', '2']))
  expect(text).toMatch(/^process_resident_memory_bytes\{worker="primary"\} \d+$/m)
  // Nothing is delivered here.
  expect(text).not.toContain('hub_webhook_longest_wait_seconds{')
  expect(text).not.toContain('acme')
})

test('scripts forgotten in the middle of a burst change nothing', async () => {
  const token = await newToken('acme')
  const seen = newLoad()
  const loading = load('acme', token, 1500, seen)
  await expect.poll(() => total(seen, 200), { interval: 5 }).toBeGreaterThan(300)
  await administrate((client) => client.script('FLUSH'))
  await loading
  expect([total(seen, 200), total(seen, 429)]).toEqual([perToken, 3000 - perToken])
  expect(timesSaid('Valkey is unavailable')).toEqual([0, 0])
})

test('Valkey killed in the middle of load: no 5xx, each process allows its share; back, limits are exact again', async () => {
  const token = await newToken('globex')
  const seen = newLoad()
  const loading = load('globex', token, 2000, seen)
  await expect.poll(() => total(seen, 200), { interval: 5 }).toBeGreaterThan(300)
  await valkey.kill()
  const before = structuredClone(seen)
  await loading
  expect(total(seen, 200) + total(seen, 429)).toBe(4000)
  hubs.forEach((_, index) => {
    const allowed = (of: Load) => of.statuses[index]?.[200] ?? 0
    // Answers that were on their way when it was killed were counted before.
    expect(allowed(seen) - allowed(before)).toBeLessThanOrEqual(share + connections)
    expect(allowed(seen)).toBeGreaterThanOrEqual(share)
  })
  expect(await fallbacks()).toEqual([1, 1])
  expect(timesSaid('Valkey is unavailable')).toEqual([1, 1])

  await valkey.start()
  await expect.poll(() => fallbacks()).toEqual([0, 0])
  const after = await load('acme', await newToken('acme'), 1500)
  expect([total(after, 200), total(after, 429)]).toEqual([perToken, 3000 - perToken])
})

test('Valkey that hangs in the middle of load holds nobody up', async () => {
  const before = timesSaid('Valkey is unavailable')
  const token = await newToken('acme')
  const seen = newLoad()
  const loading = load('acme', token, 1500, seen)
  await expect.poll(() => total(seen, 200), { interval: 5 }).toBeGreaterThan(100)
  valkey.signal('SIGSTOP')
  // All of them are answered while it hangs.
  await loading
  valkey.signal('SIGCONT')
  expect(total(seen, 200) + total(seen, 429)).toBe(3000)
  expect(timesSaid('Valkey is unavailable')).toEqual(before.map((times) => times + 1))
})
