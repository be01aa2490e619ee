import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { expectGuarded, expectProblem } from './record-cases.ts'
import { january, refusedQueries, sendJanuary } from './summary-cases.ts'

const path = '/api/v1/telemetry/reconciliation'
let hub: TestHub

beforeAll(async () => {
  hub = await startHub()
  await sendJanuary(hub)
})
afterAll(() => hub.stop())

const get = (parameters: string, tenant: TestTenant = 'acme') => hub.call(tenant, 'GET', `${path}?${parameters}`)

async function reconciliation(parameters: string, tenant: TestTenant = 'acme') {
  const answer = await get(parameters, tenant)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

const totals = {
  invocations: 5,
  unpriced: 2,
  cost_usd_estimate: 3.6,
  cost_usd_computed: 0.0015,
  variance_usd: 3.5985,
  variance_ratio: 2399,
}

test('both costs side by side, and how far they are apart', async () => {
  expect(await reconciliation(january)).toEqual({ rows: [totals], totals, next_cursor: null })
})

test('unpriced events are in the estimate only, and nothing computed has no ratio', async () => {
  expect(await reconciliation(`${january}&group_by=skill`)).toEqual({
    rows: [
      {
        key: 'reply',
        ...{ invocations: 2, unpriced: 2, cost_usd_estimate: 3, cost_usd_computed: 0, variance_usd: 3 },
      },
      {
        key: 'sum-up',
        ...{ invocations: 3, unpriced: 0, cost_usd_estimate: 0.6, cost_usd_computed: 0.0015 },
        ...{ variance_usd: 0.5985, variance_ratio: 399 },
      },
    ],
    totals,
    next_cursor: null,
  })
})

test('an estimate below what was computed is negative', async () => {
  expect((await reconciliation(january, 'globex')).totals).toEqual({
    ...{ invocations: 1, unpriced: 0, cost_usd_estimate: 0.0001, cost_usd_computed: 0.000252 },
    ...{ variance_usd: -0.000152, variance_ratio: -0.603175 },
  })
})

test('rows have the start and the key of the summary', async () => {
  for (const parameters of ['interval=day&time_zone=Europe/Berlin', 'interval=hour&group_by=model', 'group_by=user']) {
    const { body } = await hub.call('acme', 'GET', `/api/v1/telemetry/summary?${january}&${parameters}`)
    const { rows } = await reconciliation(`${january}&${parameters}`)
    expect(rows.length).toBeGreaterThan(1)
    const shared = ({ start, key, invocations, unpriced, cost_usd_computed }: Record<string, unknown>) => ({
      ...{ start, key, invocations, unpriced, cost_usd_computed },
    })
    expect(rows.map(shared)).toEqual(body.rows.map(shared))
    const keys = rows.map((row: { key?: string | null }) => row.key)
    expect(keys.includes(null)).toBe(parameters.endsWith('group_by=model'))
    expect(keys.includes(undefined)).toBe(!parameters.includes('group_by'))
  }
})

test('nothing is zeros', async () => {
  const zeros = { invocations: 0, unpriced: 0, cost_usd_estimate: 0, cost_usd_computed: 0, variance_usd: 0 }
  expect(await reconciliation(`${january}&skill_id=nobody&group_by=user`)).toEqual({
    ...{ rows: [], totals: zeros, next_cursor: null },
  })
})

test('pages, with the totals of everything', async () => {
  const question = `${january}&interval=day&group_by=skill`
  const whole = await reconciliation(question)
  const first = await reconciliation(`${question}&limit=1`)
  const rest = await reconciliation(`${question}&cursor=${first.next_cursor}`)
  expect([...first.rows, ...rest.rows]).toEqual(whole.rows)
  expect([first.totals, rest.totals]).toEqual([totals, totals])
  for (const parameters of [
    `${january}&interval=day&cursor=${first.next_cursor}`,
    `${question}&cursor=${first.next_cursor}A`,
  ]) {
    expectProblem(await get(parameters), 'invalid-cursor', '/query/cursor')
  }
  expectProblem(await get(`${question}&cursor=${first.next_cursor}`, 'globex'), 'invalid-cursor', '/query/cursor')
  const elsewhere = await hub.call('acme', 'GET', `/api/v1/telemetry/summary?${question}&cursor=${first.next_cursor}`)
  expectProblem(elsewhere, 'invalid-cursor', '/query/cursor')
})

test('each tenant has its own numbers, in Mode C too', async () => {
  for (const tenant of ['globex', 'cmode'] as const) {
    expect((await reconciliation(january, tenant)).totals.invocations).toBe(1)
  }
  expect((await get(`${january}&group_by=skill`, 'globex')).text).not.toContain('reply')
})

test.each(refusedQueries)('%s is refused', async (parameters, ...pointers) => {
  expectProblem(await get(parameters), 'validation-failed', ...pointers)
})

test('with telemetry:read alone', async () => {
  const answer = await hub.call('acme', 'GET', `${path}?${january}`, { scopes: ['telemetry:read'] })
  expect(answer.status).toBe(200)
})

test('not without token, tenant or scope', () =>
  expectGuarded(hub, 'GET', path, { lacking: ['hub:read', 'governance:read', 'telemetry:write', 'hub:write'] }))
