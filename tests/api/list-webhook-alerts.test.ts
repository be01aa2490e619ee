import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AlertLab, errorRate, failed, startAlertLab } from '../webhooks/alert-lab.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'
import { must, webhooksPath } from './webhook-cases.ts'

let lab: AlertLab
let id: string
let path: string
beforeAll(async () => {
  lab = await startAlertLab()
  id = await lab.watch([errorRate, { ...errorRate, group_by: 'user', recovers_at: 0.1 }])
  path = `${webhooksPath}/${id}/alerts`
  await lab.ingest(30, 1, failed)
  await lab.look(2)
  await lab.ingest(30, 1, { ...failed, skill_id: 'translate' })
  await lab.look(3)
})
afterAll(() => lab.stop())

const list = (rest = '') => must(lab.hub, 'acme', 'GET', `${path}${rest}`)

test('lists what is open, the oldest first, with the rule and what was seen last', async () => {
  const { status, body } = await list()
  expect([status, body.next_cursor]).toEqual([200, null])
  const [first, , third] = body.items
  expect(body.items.map(({ group_by, key }: { group_by: string; key: string }) => [group_by, key])).toEqual(
    first.group_by === 'skill'
      ? [
          ['skill', 'sum-up'],
          ['user', 'user:kim@example.com'],
          ['skill', 'translate'],
        ]
      : [
          ['user', 'user:kim@example.com'],
          ['skill', 'sum-up'],
          ['skill', 'translate'],
        ],
  )
  expect(third).toEqual({
    alert_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    metric: 'error_rate',
    group_by: 'skill',
    key: 'translate',
    value: 1,
    threshold: 0.2,
    recovers_at: 0.2,
    window_minutes: 30,
    invocations: 30,
    opened_at: '2026-01-05T12:03:00.000000Z',
    seen_at: '2026-01-05T12:03:00.000000Z',
  })
  expect(body.items.find(({ group_by }: { group_by: string }) => group_by === 'user')).toMatchObject({
    recovers_at: 0.1,
    invocations: 60,
    seen_at: '2026-01-05T12:03:00.000000Z',
  })
})

test('comes in pages', async () => {
  const all = (await list()).body.items
  const first = await list('?limit=2')
  const second = await list(`?limit=2&cursor=${first.body.next_cursor}`)
  expect([...first.body.items, ...second.body.items]).toEqual(all)
  expect([first.body.items.length, second.body.next_cursor]).toEqual([2, null])
})

test('an endpoint without alerts has an empty list', async () => {
  const other = await lab.watch([], { events: ['user.*'] })
  expect((await must(lab.hub, 'acme', 'GET', `${webhooksPath}/${other}/alerts`)).body).toEqual({
    items: [],
    next_cursor: null,
  })
})

test.each([
  ['limit=0', 'validation-failed', '/query/limit'],
  ['limit=1001', 'validation-failed', '/query/limit'],
  ['colour=red', 'validation-failed', '/query/colour'],
  ['cursor=abc', 'invalid-cursor', '/query/cursor'],
])('%s is 400', async (query, slug, pointer) => {
  const answer = await lab.hub.call('acme', 'GET', `${path}?${query}`)
  expect([answer.status, slugOf(answer), pointersOf(answer)]).toEqual([400, slug, [pointer]])
})

test('a cursor is good for the endpoint and the tenant that it was made for', async () => {
  const { next_cursor: cursor } = (await list('?limit=1')).body
  const other = await lab.watch([], { events: ['user.*'] })
  const theirs = await lab.watch([errorRate], {}, 'globex')
  const answers = [
    await lab.hub.call('acme', 'GET', `${webhooksPath}/${other}/alerts?cursor=${cursor}`),
    await lab.hub.call('globex', 'GET', `${webhooksPath}/${theirs}/alerts?cursor=${cursor}`),
  ]
  expect(answers.map((answer) => [answer.status, slugOf(answer)])).toEqual([
    [400, 'invalid-cursor'],
    [400, 'invalid-cursor'],
  ])
})

test('an endpoint that is not there, or was removed, is 404', async () => {
  const gone = await lab.watch([errorRate])
  await must(lab.hub, 'acme', 'DELETE', `${webhooksPath}/${gone}`)
  for (const each of [gone, `whk_${'0'.repeat(24)}`]) {
    const answer = await lab.hub.call('acme', 'GET', `${webhooksPath}/${each}/alerts`)
    expect([answer.status, slugOf(answer)]).toEqual([404, 'not-found'])
  }
})

accessCases({
  hub: () => lab.hub,
  right: () => ({ method: 'GET', path }),
  wrongScopes: ['hub:read'],
  otherTenant: 404,
})
