import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DemoHub } from '../../cli/demo/demo-hub.ts'
import { scopeNames } from '../../contract/scopes.ts'
import type { DemoApi, DemoProgress } from '../../demo/demo-api.ts'
import { loadDemo } from '../../demo/load-demo.ts'
import { matchEndpoints } from '../../server/modules/webhooks/outbox/endpoint-matching.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'
import { outboxRows } from '../webhooks/queued-messages.ts'

const traceLength = 19_366
const traceCsv = readFileSync('demo/data/azure-llm-inference-conv-2023.csv', 'utf8')

let hub: TestHub
let client: DemoHub

beforeAll(async () => {
  hub = await startHub()
  client = await clientNamed('first loader')
})
afterAll(() => hub.stop())

async function clientNamed(name: string): Promise<DemoHub> {
  const { serviceAccounts } = hub.modules.auth
  const account = { name, scopes: scopeNames }
  const made = await serviceAccounts.create(await hub.tenant('acme'), account, { operator: 'test' })
  const { client_id: clientId, client_secret: clientSecret } = made
  return new DemoHub({ baseUrl: hub.baseUrl, tenant: 'acme', clientId, clientSecret })
}

/** Passes calls on, until so many writes to paths with this part were made: throws from then on. */
function cutShort(part: string, writes: number): DemoApi {
  let left = writes
  let isCut = false
  const passOn = <T>(path: string, isWrite: boolean, call: () => Promise<T>): Promise<T> => {
    if (isWrite && path.includes(part)) {
      isCut ||= left === 0
      left -= 1
    }
    return isCut ? Promise.reject(new Error('The connection was cut')) : call()
  }
  return {
    get: (path, query) => passOn(path, false, () => client.get(path, query)),
    post: (path, options) => passOn(path, true, () => client.post(path, options)),
    put: (path, body) => passOn(path, true, () => client.put(path, body)),
    delete: (path) => passOn(path, true, () => client.delete(path)),
    scim: (method, path, token, body) => passOn(path, method !== 'GET', () => client.scim(method, path, token, body)),
  }
}

/** Numbers of everything that the demo writes. */
async function contentOfTenant() {
  const read = async (path: string) => (await hub.call('acme', 'GET', path)).body
  const superuser = await hub.superuserClient()
  const { rows } = await superuser.query<{ record_type: string; count: string }>(
    "select record_type, count(*) from hub.records where tenant_id = 'acme' and record_type <> 'governance_event' group by 1",
  )
  const items = async (path: string) => (await read(path)).items.length
  return {
    ...Object.fromEntries(rows.map(({ record_type, count }) => [record_type, Number(count)])),
    users: await items('/api/v1/roster/users?limit=1000&active=true'),
    groups: await items('/api/v1/roster/groups'),
    holds: await items('/api/v1/hub/legal-holds'),
    webhooks: await items('/api/v1/webhooks'),
    views: await items('/api/v1/views'),
    budgets: await items('/api/v1/budgets'),
    packs: await items('/api/v1/skill-entitlement/coworks'),
    prices: (await read('/api/v1/telemetry/prices')).prices.length,
  }
}

test('a load that is cut short at any step is completed, and a further one doubles nothing', {
  timeout: scaled(240_000),
}, async () => {
  const cuts = [
    ...[cutShort('/apply', 3), cutShort('/telemetry/prices', 0), cutShort('/Users', 50), cutShort('/Groups', 2)],
    ...[
      cutShort('/events:batch', 7),
      cutShort('/hub/records', 20),
      cutShort('/legal-holds', 0),
      cutShort('/budgets', 0),
    ],
    cutShort('/views', 1),
  ]
  for (const cut of cuts) {
    await expect(loadDemo(cut, { traceCsv, timeZone: 'Europe/Berlin' })).rejects.toThrow('was cut')
  }
  const progress: DemoProgress[] = []
  const completed = await loadDemo(client, { traceCsv, onProgress: (each) => void progress.push(each) })
  expect(completed.time_zone).toBe('Europe/Berlin')
  expect(completed.events.written + completed.events.found).toBe(traceLength)
  const content = await contentOfTenant()
  expect(content).toMatchObject({ telemetry_event: traceLength, skill_definition: 16, groups: 6, holds: 1 })
  expect(content).toMatchObject({ webhooks: 1, views: 3, budgets: 1, packs: 7, prices: 1 })

  const again = await loadDemo(await clientNamed('second loader'), { traceCsv })
  expect(await contentOfTenant()).toEqual(content)
  for (const counts of [again.events, again.records, again.people, again.views]) expect(counts.written).toBe(0)
  expect(again).toMatchObject({ starts_at: completed.starts_at, ends_at: completed.ends_at })

  const done = progress.map((each) => each.done)
  expect(done).toEqual(done.toSorted((one, other) => one - other))
  expect(progress.at(-1)).toMatchObject({ done: progress[0]!.total })
})

test('the tenant is set up as its checks ask, and the story is stored', async () => {
  const { body: health } = await hub.call('acme', 'GET', '/api/v1/observability/tenant-health')
  const { hub: provisioned, roster, skills, telemetry } = health.checks
  expect([provisioned.ok, roster.ok, skills.ok, telemetry.ok]).toEqual([true, true, true, true])
  expect(roster).toMatchObject({ users: 120, unmatched: 0, groups: 6 })
  expect(skills).toMatchObject({ published: 15, granted: 15 })

  const { body: purged } = await hub.call('acme', 'GET', '/api/v1/hub/records?record_type=artifact&include_purged=true')
  expect(purged.records.filter(({ is_purged }: { is_purged: boolean }) => is_purged)).toHaveLength(1)
  const { body: holds } = await hub.call('acme', 'GET', '/api/v1/hub/legal-holds')
  expect(holds.items[0].record_count).toBe(9)
  const { body: tenant } = await hub.call('acme', 'GET', '/api/v1/tenant')
  expect(tenant).toMatchObject({ display_name: 'Fernhill Outdoor', confirmed_at: expect.any(String) })
})

test('86 % of the budget is spent', async () => {
  const { body } = await hub.call('acme', 'GET', '/api/v1/budgets')
  const [budget] = body.items
  expect(budget).toMatchObject({ name: 'Support', period: 'month', time_zone: 'Europe/Berlin', reached: [50, 80] })
  expect(budget.spent_usd / budget.amount_usd).toBeCloseTo(0.86, 2)
})

test('the webhook endpoint gets up to 150 messages, of the failures of one skill and of governance', async () => {
  // No worker runs here, so what becomes deliveries waits in the outbox.
  const messages = (await outboxRows(hub, 'acme')).flat()
  const endpoints = await hub.test.database.withTenant('acme', (tx) => hub.modules.webhooks.endpoints.all(tx))
  const audience = matchEndpoints(endpoints)
  const counts = new Map<string, number>()
  for (const message of messages) {
    for (const _ of audience(message)) counts.set(message.kind, (counts.get(message.kind) ?? 0) + 1)
  }
  const { 'skill.invocation_failed': failures, ...governance } = Object.fromEntries(counts)
  expect(governance).toEqual({ 'governance.hub.legal_hold_applied': 1, 'governance.hub.record_purged': 1 })
  expect(failures).toBeGreaterThanOrEqual(10)
  // The most at the end of a working day.
  expect(failures).toBeLessThan(150)
})

test('a price of the tenant and the events at list price part from the day of the discount on', async () => {
  const { body: prices } = await hub.call('acme', 'GET', '/api/v1/telemetry/prices')
  const { effective_from } = prices.prices[0]
  const costs = async (query: string) => {
    const path = `/api/v1/telemetry/reconciliation?llm_model=claude-sonnet-4-5&${query}`
    return (await hub.call('acme', 'GET', path)).body.totals.variance_ratio as number
  }
  const dayMs = 86_400_000
  const before = new Date(Date.parse(effective_from) - 15 * dayMs).toISOString()
  const today = new Date(Math.ceil(Date.now() / dayMs) * dayMs + dayMs).toISOString()
  expect(Math.abs(await costs(`from=${before}&to=${effective_from}`))).toBeLessThan(0.01)
  // 35 % below list: senders are above by 1 / 0.65 − 1.
  expect(await costs(`from=${effective_from}&to=${today}`)).toBeCloseTo(1 / 0.65 - 1, 1)
})
