import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scopeNames } from '../../contract/scopes.ts'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { expectGuarded, expectProblem, query } from './record-cases.ts'

const path = '/api/v1/telemetry/prices'
let hub: TestHub

beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const put = (prices: unknown, tenant: TestTenant = 'acme') => hub.call(tenant, 'PUT', path, { body: { prices } })
const changesOf = async (tenant: TestTenant) => {
  const { records } = await query(hub, tenant, '?event_kind=tenant.config_changed')
  return records.filter((record: { details: { change: string } }) => record.details.change === 'prices')
}
async function stored(tenant: TestTenant) {
  return (await hub.call(tenant, 'GET', path)).body.prices
}

const from = '2026-01-01T00:00:00.000000Z'
const price = (changes: object = {}) => ({
  llm_model: 'home-grown-7b',
  input_usd_per_mtok: 1,
  output_usd_per_mtok: 2,
  effective_from: from,
  ...changes,
})

test('the list is replaced whole, put in order, its times in UTC', async () => {
  const answer = await put([
    price({ llm_platform: 'claude', effective_from: '2026-03-01T01:00:00+01:00' }),
    price({ effective_from: '2026-02-01T00:00:00.1234567Z', effective_until: '2026-02-28t00:00:00z' }),
    price({ llm_platform: 'claude' }),
    price({ llm_model: 'Z-model' }),
    price(),
    price({ llm_platform: 'custom:acme' }),
  ])
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body).toEqual({
    prices: [
      price({ llm_model: 'Z-model' }),
      price(),
      price({ effective_from: '2026-02-01T00:00:00.123456Z', effective_until: '2026-02-28T00:00:00.000000Z' }),
      price({ llm_platform: 'claude' }),
      price({ llm_platform: 'claude', effective_from: '2026-03-01T00:00:00.000000Z' }),
      price({ llm_platform: 'custom:acme' }),
    ],
    catalogue: { source: '@pydantic/genai-prices', version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
  })
  expect((await hub.call('acme', 'GET', path)).body).toEqual(answer.body)

  const next = [price({ llm_model: 'other' })]
  expect((await put(next)).body.prices).toEqual(next)
  expect(await stored('acme')).toEqual(next)
  expect((await put([])).body.prices).toEqual([])
  expect(await stored('acme')).toEqual([])
})

test('prices come back as they were written', async () => {
  const written = [0, 1e-12, 0.1, 1 / 8, 0.3, 123456.789012, 999999.999999, 1_000_000]
  const prices = written.map((usd, at) =>
    price({ llm_model: `m${at}`, input_usd_per_mtok: usd, output_usd_per_mtok: 0 }),
  )
  expect((await put(prices)).body.prices).toEqual(prices)
  expect(await stored('acme')).toEqual(prices)
})

test('each change is recorded with what was and what is, and nothing when nothing changes', async () => {
  const first = [price({ effective_from: '2026-01-01T01:00:00+01:00' })]
  await put(first, 'globex')
  await put([price()], 'globex')
  const second = [price({ effective_until: '2027-01-01T00:00:00.000000Z' }), price({ llm_platform: 'slack' })]
  await put(second, 'globex')
  const answer = await hub.call('globex', 'PUT', path, { body: { prices: [price({ output_usd_per_mtok: -1 })] } })
  expect(answer.status).toBe(400)
  const changes = await changesOf('globex')
  const common = {
    change: 'prices',
    actor: await hub.clientId('globex'),
    address: '127.0.0.1',
    request_id: expect.any(String),
  }
  expect(changes.map((change: { details: object }) => change.details)).toEqual([
    { ...common, before: { prices: [] }, after: { prices: [price()] } },
    { ...common, before: { prices: [price()] }, after: { prices: second } },
  ])
  for (const change of changes) expect(change).toMatchObject({ subject: 'tenant:globex', created_by: 'service:hub' })
})

test('a thousand prices are a list', async () => {
  const long = 'x'.repeat(120)
  const prices = Array.from({ length: 1000 }, (_, at) =>
    price({ llm_platform: `custom:${'y'.repeat(60)}`, llm_model: `${long}${1000 + at}` }),
  )
  for (const usd of [1, 2]) {
    const list = prices.map((one) => ({ ...one, input_usd_per_mtok: usd }))
    expect((await put(list, 'cmode')).body.prices).toEqual(list)
  }
  const changes = await changesOf('cmode')
  expect(changes.at(-1).details.before.prices).toHaveLength(1000)
  expectProblem(await put([...prices, price()], 'cmode'), 'validation-failed', '/prices')
  expect(await stored('cmode')).toHaveLength(1000)
  await put([], 'cmode')
})

test('replacements at once leave one of the lists, each recorded after the one before', async () => {
  const lists = [1, 2, 3, 4].map((usd) =>
    ['a', 'b', 'c'].map((model) => price({ llm_model: model, input_usd_per_mtok: usd })),
  )
  const before = (await changesOf('cmode')).length
  const answers = await Promise.all(lists.map((list) => put(list, 'cmode')))
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200])
  expect(lists).toContainEqual(await stored('cmode'))
  const changes = (await changesOf('cmode')).slice(before)
  expect(changes).toHaveLength(4)
  const chain = new Map(
    changes.map(({ details }: { details: { before: object; after: object } }) => [
      JSON.stringify(details.before),
      JSON.stringify(details.after),
    ]),
  )
  let state = JSON.stringify({ prices: [] })
  for (let step = 0; step < 4; step += 1) state = String(chain.get(state))
  expect(JSON.parse(state).prices).toEqual(await stored('cmode'))
})

describe('refused, all of it together', () => {
  test.each<[string, unknown, ...string[]]>([
    ['no body', undefined, ''],
    ['null', null, ''],
    ['a list', [], ''],
    ['no list', {}, '/prices'],
    ['a list that is none', { prices: { a: 1 } }, '/prices'],
    ['an unknown member', { prices: [], currency: 'EUR' }, '/currency'],
    ['entries that are none', { prices: [1, null, []] }, '/prices/0', '/prices/1', '/prices/2'],
    [
      'an empty entry',
      { prices: [{}] },
      ...['llm_model', 'input_usd_per_mtok', 'output_usd_per_mtok', 'effective_from'].map((n) => `/prices/0/${n}`),
    ],
    ['an unknown member of an entry', { prices: [price({ cached_usd_per_mtok: 1 })] }, '/prices/0/cached_usd_per_mtok'],
    ['a bad model', { prices: [price({ llm_model: 'a b' })] }, '/prices/0/llm_model'],
    ['an unknown platform', { prices: [price({ llm_platform: 'bard' })] }, '/prices/0/llm_platform'],
    ['a null platform', { prices: [price({ llm_platform: null })] }, '/prices/0/llm_platform'],
    ['a price below 0', { prices: [price({ input_usd_per_mtok: -0.01 })] }, '/prices/0/input_usd_per_mtok'],
    ['a price too high', { prices: [price({ output_usd_per_mtok: 1_000_000.01 })] }, '/prices/0/output_usd_per_mtok'],
    ['a price as text', { prices: [price({ output_usd_per_mtok: '1' })] }, '/prices/0/output_usd_per_mtok'],
    ['13 decimals', { prices: [price({ input_usd_per_mtok: 0.1234567890123 })] }, '/prices/0/input_usd_per_mtok'],
    ['13 decimals by exponent', { prices: [price({ input_usd_per_mtok: 1e-13 })] }, '/prices/0/input_usd_per_mtok'],
    ['a date', { prices: [price({ effective_from: '2026-01-01' })] }, '/prices/0/effective_from'],
    [
      'second 60 within a day',
      { prices: [price({ effective_from: '2016-12-31T12:59:60Z' })] },
      '/prices/0/effective_from',
    ],
    ['a time of no zone', { prices: [price({ effective_until: '2027-01-01T00:00:00' })] }, '/prices/0/effective_until'],
    ['an end at the beginning', { prices: [price({ effective_until: from })] }, '/prices/0/effective_until'],
    [
      'an end before the beginning, in another zone',
      { prices: [price({ effective_until: '2026-01-01T00:30:00+01:00' })] },
      '/prices/0/effective_until',
    ],
    ['two from the same time', { prices: [price(), price({ input_usd_per_mtok: 3 })] }, '/prices/1'],
    [
      'two from the same time for one platform, in another zone',
      {
        prices: [
          price({ llm_platform: 'claude' }),
          price(),
          price({ llm_platform: 'claude', effective_from: '2025-12-31T23:00:00-01:00' }),
        ],
      },
      '/prices/2',
    ],
    [
      'many things',
      {
        prices: [
          price({ llm_model: '' }),
          price({ effective_until: from, input_usd_per_mtok: 0.1234567890123 }),
          price(),
          price({ effective_from: 'yesterday' }),
        ],
        more: 1,
      },
      ...['/more', '/prices/0/llm_model', '/prices/1/effective_until', '/prices/1/input_usd_per_mtok', '/prices/2'],
      '/prices/3/effective_from',
    ],
  ])('%s', async (_name, body, ...pointers) => {
    await put([price({ llm_model: 'kept' })], 'globex')
    const answer = await hub.call('globex', 'PUT', path, body === undefined ? {} : { body })
    expectProblem(answer, 'validation-failed', ...pointers)
    expect(await stored('globex')).toEqual([price({ llm_model: 'kept' })])
  })

  test('a number that no number holds, and half a million entries', async () => {
    const body = JSON.stringify({ prices: [price({ input_usd_per_mtok: 7 })] }).replace(':7', ':1e999')
    expect((await hub.call('globex', 'PUT', path, { body })).status).toBe(400)
    const many = await hub.call('globex', 'PUT', path, { body: { prices: Array(500_000).fill(1) } })
    expectProblem(many, 'payload-too-large', '')
  })
})

test.each(['hub:purge', 'connector:admin', 'telemetry:write', 'roster:write'] as const)(
  'every scope is asked for: not without %s',
  async (lacking) => {
    const scopes = scopeNames.filter((scope) => scope !== lacking)
    expectProblem(await hub.call('acme', 'PUT', path, { body: { prices: [] }, scopes }), 'insufficient-scope')
  },
)

test('not without token, tenant or scope', async () => {
  await put([price()])
  await expectGuarded(hub, 'PUT', path, { body: { prices: [] }, lacking: ['telemetry:read', 'telemetry:write'] })
  expect(await stored('acme')).toEqual([price()])
})
