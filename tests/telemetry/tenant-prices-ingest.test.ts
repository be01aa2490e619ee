import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { event } from './events.ts'

const model = 'claude-3-haiku-20240307'
const tokens = { tokens_in: 1_000_003, tokens_out: 0 }
let hub: TestHub
let db: pg.Client

beforeAll(async () => {
  hub = await startHub()
  db = await hub.superuserClient()
  await prepareTelemetry(hub, 'acme', 'globex', 'cmode')
})
afterAll(() => hub.stop())

async function put(tenant: TestTenant, prices: object[]) {
  const answer = await hub.call(tenant, 'PUT', '/api/v1/telemetry/prices', { body: { prices } })
  expect(answer.status, answer.text).toBe(200)
}

/** What the record of an ingested event says about its cost. */
async function rated(tenant: TestTenant, changes: Parameters<typeof event>[0]) {
  const answer = await hub.call(tenant, 'POST', '/api/v1/telemetry/events', { body: event({ ...tokens, ...changes }) })
  expect(answer.status, answer.text).toBe(201)
  const record = await hub.call(tenant, 'GET', `/api/v1/hub/records/${answer.body.record_id}?verify=true`)
  expect(record.body.verification.verified).toBe(true)
  const { cost_usd_computed: usd, price_source: source } = record.body
  return { usd, source }
}

const january = '2026-01-01T00:00:00.000000Z'
const price = (changes: object = {}) => ({
  llm_model: model,
  input_usd_per_mtok: 0.5,
  output_usd_per_mtok: 5,
  effective_from: january,
  ...changes,
})

test.each(['acme', 'cmode'] as const)('events of %s have the price of their time', async (tenant) => {
  await put(tenant, [
    price(),
    price({
      ...{ llm_platform: 'claude', input_usd_per_mtok: 0.2 },
      effective_from: '2026-02-01T00:00:00Z',
      effective_until: '2026-02-02T00:00:00.000001Z',
    }),
  ])
  const any = `override:*/${model}@${january}`
  const named = `override:claude/${model}@2026-02-01T00:00:00.000000Z`
  const listed = expect.stringMatching(/^genai-prices\/.*:anthropic\//)
  expect(await rated(tenant, { ts: '2025-12-31T23:59:59.999999Z' })).toEqual({ usd: 0.250001, source: listed })
  expect(await rated(tenant, { ts: january })).toEqual({ usd: 0.500002, source: any })
  expect(await rated(tenant, { ts: '2026-02-01T01:59:59.999999+02:00' })).toEqual({ usd: 0.500002, source: any })
  expect(await rated(tenant, { ts: '2026-02-01T02:00:00+02:00' })).toEqual({ usd: 0.200001, source: named })
  expect(await rated(tenant, { ts: '2026-02-02T00:00:00.000000Z' })).toEqual({ usd: 0.200001, source: named })
  expect(await rated(tenant, { ts: '2026-02-02T00:00:00.000001Z' })).toEqual({ usd: 0.500002, source: any })
  expect(await rated(tenant, { ts: '2026-02-01T12:00:00Z', llm_platform: 'slack' })).toEqual({
    ...{ usd: 0.500002, source: any },
  })
  expect(await rated('globex', { ts: '2026-02-01T12:00:00Z' })).toEqual({ usd: 0.250001, source: listed })
})

test('the next event after a change has the new price, and the one before keeps its own', async () => {
  const ts = '2026-03-01T00:00:00Z'
  await put('globex', [price({ llm_model: 'home-grown' })])
  const before = await rated('globex', { ts, llm_model: 'home-grown' })
  expect(before.usd).toBe(0.500002)
  await put('globex', [price({ llm_model: 'home-grown', input_usd_per_mtok: 0 })])
  expect((await rated('globex', { ts, llm_model: 'home-grown' })).usd).toBe(0)
  await put('globex', [])
  expect(await rated('globex', { ts, llm_model: 'home-grown' })).toEqual({ usd: undefined, source: undefined })

  const { body } = await hub.call(
    'globex',
    'GET',
    '/api/v1/telemetry/summary?from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z',
  )
  expect(body.totals).toMatchObject({ invocations: 3, unpriced: 1, cost_usd_computed: 0.500002 })
})

test('a batch is rated like its events', async () => {
  await put('acme', [price()])
  const events = ['2025-06-01T00:00:00Z', '2026-06-01T00:00:00Z'].map((ts) =>
    event({ ts, ...tokens, user_id: 'user:b' }),
  )
  const batch = await hub.call('acme', 'POST', '/api/v1/telemetry/events:batch', { body: { events } })
  expect(batch.body.accepted).toBe(2)
  const { body } = await hub.call('acme', 'GET', '/api/v1/hub/records?user_id=user:b')
  expect(body.records.map((record: { cost_usd_computed: number }) => record.cost_usd_computed)).toEqual([
    0.250001, 0.500002,
  ])
})

describe('a price list that somebody edited in the database', () => {
  const ts = '2026-04-01T00:00:00Z'
  const path = '/api/v1/telemetry/prices'
  const read = async () => (await hub.call('globex', 'GET', path)).body
  const tamperEvents = async () => {
    const { body } = await hub.call('globex', 'GET', '/api/v1/hub/records?event_kind=hub.tamper_detected')
    return body.records.filter((record: { subject: string }) => record.subject === 'prices:globex')
  }
  const insertRow = `insert into hub.price_overrides (tenant_id, override_id, llm_model, effective_from, input_usd_per_mtok,
    output_usd_per_mtok) values ('globex', gen_random_uuid(), '${model}', '2026-03-31Z', 1000, 1000)`

  test.each<[name: string, sql: string]>([
    ['a row put in', insertRow],
    ['a price changed', `update hub.price_overrides set input_usd_per_mtok = 7 where tenant_id = 'globex'`],
    ['the list deleted', `delete from hub.price_overrides where tenant_id = 'globex'`],
  ])('prices nothing until it is sent again: %s', async (_name, sql) => {
    await put('globex', [price({ input_usd_per_mtok: 0.2 })])
    expect((await rated('globex', { ts })).usd).toBe(0.200001)
    expect((await db.query(sql)).rowCount).toBe(1)
    // Each process knows a list for a second.
    await expect.poll(() => rated('globex', { ts })).toEqual({ usd: undefined, source: undefined })
    const { prices, verified } = await read()
    expect(verified).toBe(false)
    const by = { actor: { operator: 'test' }, cause: {} }
    const globex = await hub.tenant('globex')
    await expect(hub.modules.telemetry.rating.rate(globex, { from: '2026-03-31T00:00:00Z' }, by)).rejects.toMatchObject(
      {
        slug: 'hub-unavailable',
        message: expect.stringContaining('PUT /api/v1/telemetry/prices'),
      },
    )
    await expect.poll(tamperEvents).toMatchObject([{ details: { failed_checks: ['prices_proven'] } }])

    // Whoever may set prices confirms what is stored, or sends what should be.
    await put('globex', prices)
    expect(await read()).toEqual({ prices, catalogue: expect.anything() })
    expect((await rated('globex', { ts })).usd).toBeGreaterThan(0)
  })

  test('an earlier list put back, which an earlier event has, prices nothing either', async () => {
    await put('globex', [price({ input_usd_per_mtok: 0.1 })])
    await put('globex', [price({ input_usd_per_mtok: 0.2 })])
    expect((await rated('globex', { ts })).usd).toBe(0.200001)
    await db.query(`update hub.price_overrides set input_usd_per_mtok = 0.1 where tenant_id = 'globex'`)
    await expect.poll(async () => (await rated('globex', { ts })).usd).toBeUndefined()
    expect((await read()).verified).toBe(false)
    await put('globex', [])
    expect((await rated('globex', { ts })).usd).toBe(0.250001)
  })

  test('the sweeper finds it in a tenant that sends no events', async () => {
    const acme = await hub.tenant('acme')
    await put('acme', [price()])
    expect((await hub.modules.hub.sweeper.sweep(acme)).inconsistent).toBe(0)
    await db.query(insertRow.replace('globex', 'acme'))
    expect((await hub.modules.hub.sweeper.sweep(acme)).inconsistent).toBe(1)
    await put('acme', [])
    expect((await hub.modules.hub.sweeper.sweep(acme)).inconsistent).toBe(0)
  })

  test('the event that proves the list is kept when somebody purges it', async () => {
    await put('globex', [price({ input_usd_per_mtok: 0.3 })])
    const { rows } = await db.query(
      `select max(record_id::text) as id from hub.records where tenant_id = 'globex' and event_kind = 'tenant.config_changed'`,
    )
    const release = { reason: 'to try' }
    await hub.call('globex', 'POST', `/api/v1/hub/records/${rows[0].id}/legal-hold-releases`, { body: release })
    expect((await hub.call('globex', 'DELETE', `/api/v1/hub/records/${rows[0].id}?reason=x`)).status).toBe(200)
    expect((await read()).verified).toBeUndefined()
    const asOf = new Date(Date.now() + 40 * 86_400_000).toISOString()
    const done = await hub.modules.hub.erasure.run(await hub.tenant('globex'), { asOf })
    expect(done).toEqual({ erased: 0, held: 1 })
    expect((await read()).verified).toBeUndefined()
  })
})
