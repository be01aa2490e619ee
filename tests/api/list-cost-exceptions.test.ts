import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonValue } from '../../provenance/index.ts'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { expectGuarded, expectProblem, pathOf } from './record-cases.ts'
import { send } from './summary-cases.ts'
import { prepareTelemetry, registerSkill } from './telemetry-tenants.ts'

const path = '/api/v1/telemetry/reconciliation/exceptions'
let hub: TestHub

/** What `event()` is computed to cost: 1,000 tokens in and 200 out of claude-3-haiku. */
const computed = 0.0005
/** The events of acme, by what they are there for. */
const sent: Record<string, Record<string, JsonValue | undefined>> = {
  fine: {},
  atTheEdge: { cost_usd_estimate: 0.00051 },
  over: { cost_usd_estimate: 0.000511, skill_id: 'reply' },
  under: { cost_usd_estimate: 0.000489, user_id: 'user:ada@example.com', llm_platform: 'slack' },
  noModel: { llm_model: undefined, cost_usd_estimate: 0 },
  unknownModel: { llm_model: 'in-house', user_id: 'user:ada@example.com' },
  fineToo: { ts: '2026-01-06T09:30:00Z' },
  free: { tokens_in: 0, tokens_out: 0, cost_usd_estimate: 0.000001 },
}

beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme', 'globex', 'cmode')
  await registerSkill(hub, 'acme', 'reply')
  await send(hub, 'acme', Object.values(sent))
  await send(hub, 'globex', [{ llm_model: 'in-house', tokens_in: 7 }])
})
afterAll(() => hub.stop())

const get = (parameters = '', tenant: TestTenant = 'acme') => hub.call(tenant, 'GET', `${path}?${parameters}`)

async function list(parameters = '', tenant: TestTenant = 'acme') {
  const answer = await get(parameters, tenant)
  expect(answer.status, answer.text).toBe(200)
  return answer.body as { items: Record<string, unknown>[]; next_cursor: string | null }
}

const reasons = async (parameters: string, tenant: TestTenant = 'acme') =>
  (await list(parameters, tenant)).items.map(({ kind, reason }) => `${kind} ${reason}`)

const facts = (changes: Record<string, JsonValue | undefined>) => {
  const { skill_version: _v, success: _s, latency_ms: _l, error_code: _e, ...rest } = event(changes)
  return { record_id: expect.any(String), created_at: expect.any(String), ...rest }
}
const source = expect.stringMatching(/^genai-prices\/.+:anthropic\/claude-3-haiku/)

const divergent = 'differs_by_more_than_2_percent'
const all = [
  {
    ...{ ...facts(sent.over!), kind: 'divergent', reason: divergent },
    ...{ cost_usd_computed: computed, price_source: source, variance_usd: 0.000011, variance_ratio: 0.022 },
  },
  {
    ...{ ...facts(sent.under!), kind: 'divergent', reason: divergent },
    ...{ cost_usd_computed: computed, price_source: source, variance_usd: -0.000011, variance_ratio: -0.022 },
  },
  { ...facts(sent.noModel!), kind: 'unpriced', reason: 'no_model' },
  { ...facts(sent.unknownModel!), kind: 'unpriced', reason: 'unknown_model' },
  {
    ...{ ...facts(sent.free!), kind: 'divergent', reason: divergent },
    ...{ cost_usd_computed: 0, price_source: source, variance_usd: 0.000001 },
  },
]

test('events without a price and with costs that differ, in the order of storing, each with its reason', async () => {
  expect(await list()).toEqual({ items: all, next_cursor: null })
  const stored = await hub.call('acme', 'GET', pathOf(String((await list()).items[0]!.record_id)))
  expect(stored.body).toMatchObject({ skill_id: 'reply', cost_usd_estimate: 0.000511, cost_usd_computed: computed })
  expect(await list('kind=unpriced')).toEqual({ items: [all[2], all[3]], next_cursor: null })
  expect(await list('kind=divergent')).toEqual({ items: [all[0], all[1], all[4]], next_cursor: null })
})

test('a tolerance of one’s own', async () => {
  const off = (percent: number) => `divergent differs_by_more_than_${percent}_percent`
  expect(await reasons('kind=divergent&tolerance=2.2')).toEqual([off(2.2)])
  expect(await reasons('kind=divergent&tolerance=2.1999')).toEqual([off(2.1999), off(2.1999), off(2.1999)])
  expect(await reasons('kind=divergent&tolerance=1.9')).toHaveLength(4)
  expect(await reasons('kind=divergent&tolerance=0')).toHaveLength(4)
  expect(await reasons('kind=divergent&tolerance=10')).toEqual([off(10)])
})

test.each([
  ['skill_id=reply', [0]],
  ['user_id=user:ada@example.com', [1, 3]],
  ['archetype_id=analyst&kind=unpriced', [2, 3]],
  ['llm_platform=slack', [1]],
  ['llm_model=in-house', [3]],
  ['user_id=user:ada@example.com&llm_platform=claude', [3]],
  ['user_id=user:ada@example.com&skill_id=reply', []],
  ['skill_id=sum-up&archetype_id=analyst&llm_model=claude-3-haiku-20240307', [1, 4]],
  ['archetype_id=nobody', []],
])('only events with %s', async (parameters, places) => {
  expect((await list(parameters)).items).toEqual(places.map((place) => all[place]))
})

test('only those stored in a span of time', async () => {
  const { items } = await list()
  const times = items.map(({ created_at }) => String(created_at))
  expect((await list(`created_at__gte=${times[1]}&created_at__lt=${times[3]}`)).items).toEqual([all[1], all[2]])
  expect((await list(`created_at__gte=${times[3]}&user_id=user:ada@example.com`)).items).toEqual([all[3]])
  expect((await list(`created_at__lt=${times[3]}&user_id=user:ada@example.com`)).items).toEqual([all[1]])
  expect((await list('created_at__lt=2020-01-01T00:00:00Z')).items).toEqual([])
})

test('pages, whose cursors are good for the same tenant and query only', async () => {
  const seen: unknown[] = []
  let next: string | null = null
  let pages = 0
  do {
    const page: Awaited<ReturnType<typeof list>> = await list(`limit=2${next ? `&cursor=${next}` : ''}`)
    seen.push(...page.items)
    next = page.next_cursor
    pages += 1
  } while (next)
  expect([seen, pages]).toEqual([all, 3])
  expect((await list('limit=5')).next_cursor).toBeNull()

  const { next_cursor: cursor } = await list('limit=1')
  expect((await list(`limit=4&cursor=${cursor}&tolerance=2`)).items).toEqual(all.slice(1))
  const foreign = [`kind=unpriced&cursor=${cursor}`, `tolerance=3&cursor=${cursor}`, `cursor=${cursor}A`, 'cursor=x']
  for (const parameters of foreign) expectProblem(await get(parameters), 'invalid-cursor', '/query/cursor')
  expectProblem(await get(`cursor=${cursor}`, 'globex'), 'invalid-cursor', '/query/cursor')
})

test('a purged event is left out, and is back when it is restored', async () => {
  const { items } = await list('kind=unpriced')
  const id = String(items[0]!.record_id)
  expect((await hub.call('acme', 'DELETE', `${pathOf(id)}?reason=test`)).status).toBe(200)
  expect((await list('kind=unpriced')).items).toEqual([all[3]])
  expect((await hub.call('acme', 'POST', pathOf(id, ':restore'))).status).toBe(200)
  expect((await list('kind=unpriced')).items).toEqual([all[2], all[3]])
})

test('each tenant has its own', async () => {
  expect((await list('', 'globex')).items).toEqual([
    { ...facts({ llm_model: 'in-house', tokens_in: 7 }), kind: 'unpriced', reason: 'unknown_model' },
  ])
  expect((await list('', 'cmode')).items).toEqual([])
  expect((await list('skill_id=reply', 'globex')).items).toEqual([])
})

test('prices that are known since, and what a new rating made of them', async () => {
  const tenant = await hub.tenant('globex')
  const price = { llm_model: 'in-house', input_usd_per_mtok: 10, output_usd_per_mtok: 0 }
  const priceFrom = async (effective_from: string) => {
    const body = { prices: [{ ...price, effective_from }] }
    expect((await hub.call('globex', 'PUT', '/api/v1/telemetry/prices', { body })).status).toBe(200)
  }
  const rate = () => {
    const by = { actor: { operator: 'test' }, cause: {} }
    return hub.modules.telemetry.rating.rate(tenant, { from: '2026-01-01T00:00:00Z' }, by)
  }
  await priceFrom('2026-01-06T00:00:00Z')
  expect(await reasons('', 'globex')).toEqual(['unpriced no_price_at_ts'])
  await priceFrom('2026-01-05T00:00:00Z')
  expect(await reasons('', 'globex')).toEqual(['unpriced price_known_since'])
  expect(await rate()).toMatchObject({ changed: 1, cost_usd_computed_after: 0.00007 })
  expect((await list('', 'globex')).items).toMatchObject([
    {
      ...{ cost_usd_computed: 0.00007, price_source: expect.stringMatching(/^override:.*in-house/) },
      ...{ reason: divergent, variance_usd: 0.00043, variance_ratio: 6.142857 },
    },
  ])
  await priceFrom('2027-01-01T00:00:00Z')
  expect(await reasons('', 'globex')).toEqual([`divergent ${divergent}`])
  expect(await rate()).toMatchObject({ changed: 1, cost_usd_computed_before: 0.00007, cost_usd_computed_after: 0 })
  const { items } = await list('', 'globex')
  expect(items).toMatchObject([{ kind: 'unpriced', reason: 'no_price_at_ts' }])
  expect(items[0]).not.toHaveProperty('price_source')
})

test.each([
  ['kind=free', '/query/kind'],
  ['kind=unpriced&kind=divergent', '/query/kind'],
  ['tolerance=-1', '/query/tolerance'],
  ['tolerance=10.5', '/query/tolerance'],
  ['tolerance=two', '/query/tolerance'],
  ['created_at__gte=yesterday', '/query/created_at__gte'],
  ['created_at__gte=x&created_at__lt=2026-02-30T00:00:00Z', '/query/created_at__gte', '/query/created_at__lt'],
  ['skill_id=a%20b', '/query/skill_id'],
  ['archetype_id=', '/query/archetype_id'],
  ['user_id=kim', '/query/user_id'],
  ['llm_platform=mistral', '/query/llm_platform'],
  ['llm_model=a%20b', '/query/llm_model'],
  ['limit=0', '/query/limit'],
  ['limit=1001', '/query/limit'],
  ['cursor=', '/query/cursor'],
  ['tenant_id=globex', '/query/tenant_id'],
  ['from=2026-01-01T00:00:00Z', '/query/from'],
])('%s is refused', async (parameters, ...pointers) => {
  expectProblem(await get(parameters), 'validation-failed', ...pointers)
})

test('with telemetry:read alone', async () => {
  expect((await hub.call('acme', 'GET', path, { scopes: ['telemetry:read'] })).status).toBe(200)
})

test('not without token, tenant or scope', () =>
  expectGuarded(hub, 'GET', path, { lacking: ['hub:read', 'governance:read', 'telemetry:write', 'hub:write'] }))
