import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatTimestamp } from '../../contract/timestamp.ts'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { expectGuarded, expectProblem } from './record-cases.ts'
import { january, refusedQueries, send, sendJanuary } from './summary-cases.ts'

const path = '/api/v1/telemetry/summary'
const haiku = 'claude-3-haiku-20240307'
let hub: TestHub

beforeAll(async () => {
  hub = await startHub()
  await sendJanuary(hub)
})
afterAll(() => hub.stop())

const get = (parameters: string, tenant: TestTenant = 'acme') => hub.call(tenant, 'GET', `${path}?${parameters}`)

async function summary(parameters: string, tenant: TestTenant = 'acme') {
  const answer = await get(parameters, tenant)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

const nothing = {
  invocations: 0,
  failures: 0,
  tokens_in: 0,
  tokens_out: 0,
  cost_usd_estimate: 0,
  cost_usd_computed: 0,
  unpriced: 0,
  latency_ms: { p50: 0, p95: 0, p99: 0 },
}
const inJanuary = {
  invocations: 5,
  failures: 1,
  tokens_in: 5000,
  tokens_out: 1000,
  cost_usd_estimate: 3.6,
  cost_usd_computed: 0.0015,
  unpriced: 2,
  latency_ms: { p50: 30, p95: 50, p99: 50 },
}

test('all of a month is one row', async () => {
  expect(await summary(january)).toEqual({ rows: [inJanuary], totals: inJanuary, next_cursor: null })
})

test('a row for each skill', async () => {
  const { rows, totals } = await summary(`${january}&group_by=skill`)
  expect(rows).toEqual([
    {
      key: 'reply',
      ...{ invocations: 2, failures: 0, tokens_in: 2000, tokens_out: 400 },
      ...{ cost_usd_estimate: 3, cost_usd_computed: 0, unpriced: 2, latency_ms: { p50: 40, p95: 50, p99: 50 } },
    },
    {
      key: 'sum-up',
      ...{ invocations: 3, failures: 1, tokens_in: 3000, tokens_out: 600 },
      ...{ cost_usd_estimate: 0.6, cost_usd_computed: 0.0015, unpriced: 0, latency_ms: { p50: 20, p95: 30, p99: 30 } },
    },
  ])
  expect(totals).toEqual(inJanuary)
})

test.each([
  ['archetype', [['analyst', 5]]],
  [
    'user',
    [
      ['user:ada@example.com', 1],
      ['user:kim@example.com', 4],
    ],
  ],
  ['platform', [['claude', 5]]],
  [
    'model',
    [
      [null, 1],
      [haiku, 3],
      ['in-house', 1],
    ],
  ],
])('a row for each %s', async (grouping, expected) => {
  const { rows, totals } = await summary(`${january}&group_by=${grouping}`)
  expect(rows.map((row: { key: string | null; invocations: number }) => [row.key, row.invocations])).toEqual(expected)
  expect(totals).toEqual(inJanuary)
})

test.each([
  [
    'day',
    'UTC',
    [
      ['2026-01-05T00:00:00.000000Z', 3],
      ['2026-01-06T00:00:00.000000Z', 2],
    ],
  ],
  [
    'day',
    'Europe/Berlin',
    [
      ['2026-01-04T23:00:00.000000Z', 2],
      ['2026-01-05T23:00:00.000000Z', 3],
    ],
  ],
  [
    'day',
    'Asia/Kathmandu',
    [
      ['2026-01-05T18:15:00.000000Z', 4],
      ['2026-01-04T18:15:00.000000Z', 1],
    ],
  ],
  [
    'hour',
    'Asia/Kathmandu',
    [
      ['2026-01-05T09:15:00.000000Z', 1],
      ['2026-01-05T22:15:00.000000Z', 2],
      ['2026-01-05T23:15:00.000000Z', 1],
      ['2026-01-06T11:15:00.000000Z', 1],
    ],
  ],
])('a row for each %s in %s', async (interval, zone, expected) => {
  const { rows, totals } = await summary(`${january}&interval=${interval}&time_zone=${zone}`)
  const found = rows.map((row: { start: string; invocations: number }) => [row.start, row.invocations])
  expect(found).toEqual([...expected].sort())
  expect(totals).toEqual(inJanuary)
})

test('the first interval begins with the range', async () => {
  const { rows } = await summary('from=2026-01-05T09:30:00Z&to=2026-01-05T09:45:00Z&interval=day')
  expect(rows.map((row: { start: string }) => row.start)).toEqual(['2026-01-05T09:30:00.000000Z'])
  expect((await summary('from=2026-01-05T09:45:00Z&to=2026-01-05T10:00:00Z')).rows).toEqual([])
})

test.each([
  ['skill_id=reply', 2],
  ['archetype_id=analyst', 5],
  ['user_id=user:ada@example.com', 1],
  ['llm_platform=claude', 5],
  ['llm_platform=custom:x', 0],
  ['llm_model=in-house', 1],
  [`skill_id=sum-up&user_id=user:kim@example.com&llm_model=${haiku}`, 2],
])('only events with %s', async (filter, count) => {
  const { rows, totals } = await summary(`${january}&${filter}`)
  expect([totals.invocations, rows.length]).toEqual([count, count === 0 ? 0 : 1])
  const { rows: byHour } = await summary(`${january}&${filter}&interval=hour&group_by=user`)
  expect(byHour.reduce((sum: number, row: { invocations: number }) => sum + row.invocations, 0)).toBe(count)
})

test('nothing is zeros', async () => {
  const empty = 'from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z'
  for (const parameters of [empty, `${empty}&group_by=user&interval=day`, `${january}&skill_id=nobody`]) {
    expect(await summary(parameters)).toEqual({ rows: [], totals: nothing, next_cursor: null })
  }
})

test('a time zone without an interval, and bounds with an offset, are the same question', async () => {
  expect(await summary(`${january}&time_zone=Asia/Kathmandu`)).toEqual(await summary(january))
  const shifted = 'from=2026-01-01T05:45:00%2B05:45&to=2026-02-01T05:45:00.0%2B05:45'
  expect(await summary(shifted)).toEqual(await summary(january))
})

test('without bounds, everything of 30 days up to what may come, and each event at once', async () => {
  const count = async () => (await summary('skill_id=reply&user_id=user:new@example.com')).totals.invocations
  const at = (ms: number) => formatTimestamp(Date.now() + ms)
  const made = { skill_id: 'reply', user_id: 'user:new@example.com' }
  expect(await count()).toBe(0)
  for (const [index, ms] of [0, 4.9 * 60_000, -29 * 86_400_000].entries()) {
    const sent = await hub.call('acme', 'POST', '/api/v1/telemetry/events', { body: event({ ...made, ts: at(ms) }) })
    expect(sent.status).toBe(201)
    expect(await count()).toBe(index + 1)
  }
  await send(hub, 'acme', [{ ...made, ts: at(-31 * 86_400_000) }])
  expect(await count()).toBe(3)
})

test('deleting the record changes nothing', async () => {
  const [record] = (await hub.call('acme', 'GET', '/api/v1/hub/records?record_type=telemetry_event&limit=1')).body
    .records
  await hub.call('acme', 'DELETE', `/api/v1/hub/records/${record.record_id}?reason=x`)
  expect((await summary(january)).totals).toEqual(inJanuary)
})

test('each tenant has its own numbers, in Mode C too', async () => {
  const tokens = async (tenant: TestTenant) => (await summary(january, tenant)).totals.tokens_in
  expect([await tokens('globex'), await tokens('cmode')]).toEqual([7, 9])
  expect((await summary(`${january}&user_id=user:ada@example.com`, 'globex')).totals).toEqual(nothing)
  expect((await get(`${january}&group_by=user`, 'globex')).text).not.toContain('ada')
})

describe('a page', () => {
  const question = `${january}&interval=hour&group_by=model`

  test('goes on where the one before ended, with the same totals', async () => {
    const whole = await summary(question)
    expect(whole.rows).toHaveLength(5)
    for (const limit of [1, 2, 4]) {
      const rows = []
      let parameters = `${question}&limit=${limit}`
      for (;;) {
        const page = await summary(parameters)
        rows.push(...page.rows)
        expect(page.totals).toEqual(whole.totals)
        if (page.next_cursor === null) break
        expect(page.rows).toHaveLength(limit)
        parameters = `${question}&limit=${limit}&cursor=${page.next_cursor}`
      }
      expect(rows).toEqual(whole.rows)
    }
  })

  test('goes on when there is more in the meantime, and may be of another size', async () => {
    const first = await summary(`${question}&limit=2`)
    await send(hub, 'acme', [
      { ts: '2026-01-05T08:00:00Z', user_id: 'user:late@example.com' },
      { ts: '2026-01-07T08:00:00Z', user_id: 'user:late@example.com' },
    ])
    const rest = await summary(`${question}&limit=1000&cursor=${first.next_cursor}`)
    const whole = await summary(question)
    expect(whole.rows).toHaveLength(7)
    expect(rest.rows).toEqual(whole.rows.slice(3))
    expect(rest.totals.invocations).toBe(7)
  })

  test('has no other cursor than its own', async () => {
    const { next_cursor: cursor } = await summary(`${question}&limit=1`)
    for (const parameters of [
      `${question}&limit=1&cursor=${cursor}A`,
      `${question}&limit=1&cursor=${cursor.slice(0, -2)}`,
      `${question}&limit=1&cursor=${cursor.replace(/^./, (c: string) => (c === 'A' ? 'B' : 'A'))}`,
      `${question}&cursor=x`,
      `${january}&interval=hour&group_by=skill&cursor=${cursor}`,
      `${january}&interval=day&group_by=model&cursor=${cursor}`,
      `${january}&group_by=model&cursor=${cursor}`,
      `${question}&time_zone=Europe/Berlin&cursor=${cursor}`,
      `${question}&skill_id=reply&cursor=${cursor}`,
      `from=2026-01-01T00:00:00Z&interval=hour&group_by=model&cursor=${cursor}`,
    ]) {
      expectProblem(await get(parameters), 'invalid-cursor', '/query/cursor')
    }
    expectProblem(await get(`${question}&cursor=${cursor}`, 'globex'), 'invalid-cursor', '/query/cursor')
    const elsewhere = await hub.call('acme', 'GET', `/api/v1/telemetry/reconciliation?${question}&cursor=${cursor}`)
    expectProblem(elsewhere, 'invalid-cursor', '/query/cursor')
    expect((await get(`${question}&time_zone=UTC&cursor=${cursor}`)).status).toBe(200)
  })
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

test('a summary that takes too long is refused, and the problem says what to narrow', async () => {
  const superuser = await hub.superuserClient()
  await superuser.query('begin; lock table hub.telemetry_rollups')
  const asked = get(`${january}&group_by=user&interval=hour`)
  // As the time limit of the statement does.
  const cancel = () =>
    superuser.query(
      `select pg_cancel_backend(pid) from pg_stat_activity
       where application_name = 'hub-app' and datname = current_database() and wait_event_type = 'Lock'`,
    )
  await expect.poll(async () => (await cancel()).rowCount).toBe(1)
  await superuser.query('rollback')
  const answer = await asked
  expectProblem(answer, 'hub-unavailable')
  expect(answer.body.detail).toContain('Narrow the summary: a shorter range (`from`, `to`)')
  expect(answer.headers['retry-after']).toBe('5')
})

describe('by outcome', () => {
  const range = 'from=2026-02-01T00:00:00Z&to=2026-03-01T00:00:00Z'
  const failed = { success: false, ts: '2026-02-03T10:00:00Z', latency_ms: 70 }
  const totalsOf = async (parameters: string) => (await summary(`${range}&${parameters}`)).totals

  beforeAll(() =>
    send(hub, 'acme', [
      { ts: '2026-02-03T10:00:00Z', cost_usd_estimate: 1, tokens_in: 1 },
      // An event that succeeded counts without its error code.
      { ts: '2026-02-03T10:00:00Z', cost_usd_estimate: 2, tokens_in: 2, error_code: 'timeout' },
      { ...failed, cost_usd_estimate: 4, tokens_in: 4, error_code: 'timeout' },
      { ...failed, cost_usd_estimate: 8, tokens_in: 8, error_code: 'timeout', skill_id: 'reply' },
      { ...failed, cost_usd_estimate: 16, tokens_in: 16, error_code: 'quota' },
    ]),
  )

  test.each([['before the rollups include them'], ['after it']])('%s', async (when) => {
    if (when === 'after it') await hub.modules.rollups.rollups.settle('acme')
    const { rows, totals } = await summary(`${range}&group_by=error_code`)
    expect(rows).toMatchObject([
      { key: 'quota', invocations: 1, failures: 1, cost_usd_estimate: 16, tokens_in: 16, latency_ms: { p50: 70 } },
      { key: 'timeout', invocations: 2, failures: 2, cost_usd_estimate: 12, tokens_in: 12 },
    ])
    expect(totals).toMatchObject({ invocations: 3, failures: 3, cost_usd_estimate: 28 })
    // A first page has the totals of all codes.
    const first = await summary(`${range}&group_by=error_code&limit=1`)
    expect(first).toMatchObject({ rows: [{ key: 'quota' }], totals })
    expect((await summary(`${range}&group_by=error_code&limit=1&cursor=${first.next_cursor}`)).rows).toEqual([rows[1]])
    expect(await totalsOf('')).toMatchObject({ invocations: 5, failures: 3, cost_usd_estimate: 31 })
    expect(await totalsOf('success=true')).toMatchObject({ invocations: 2, failures: 0, cost_usd_estimate: 3 })
    expect(await totalsOf('success=false')).toMatchObject({ invocations: 3, failures: 3, cost_usd_estimate: 28 })
    expect(await totalsOf('error_code=timeout')).toMatchObject({ invocations: 2, cost_usd_estimate: 12 })
    expect(await totalsOf('error_code=timeout&skill_id=reply')).toMatchObject({ invocations: 1, cost_usd_estimate: 8 })
    expect(await totalsOf('error_code=timeout&success=true')).toEqual(nothing)
    expect((await summary(`${range}&group_by=error_code&success=true`)).rows).toEqual([])
    const bySkill = await summary(`${range}&group_by=skill&success=false&interval=day`)
    expect(bySkill.rows).toMatchObject([
      { key: 'reply', failures: 1 },
      { key: 'sum-up', failures: 2 },
    ])
    const query = `${range}&group_by=error_code`
    const { body } = await hub.call('acme', 'GET', `/api/v1/telemetry/reconciliation?${query}`)
    expect(body.rows).toMatchObject([
      { key: 'quota', cost_usd_estimate: 16 },
      { key: 'timeout', cost_usd_estimate: 12 },
    ])
  })
})
