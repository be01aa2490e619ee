import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { addBudget, budgetsPath } from './budget-cases.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'

let hub: TestHub
const made: { budget_id: string; forecast_usd: number }[] = []
beforeAll(async () => {
  hub = await startHub()
  for (const name of ['First', 'Second', 'Third']) made.push(await addBudget(hub, 'acme', { name }))
  await addBudget(hub, 'globex')
})
afterAll(() => hub.stop())

const list = (query = '', options = {}) => hub.call('acme', 'GET', `${budgetsPath}${query}`, options)

test('lists the budgets of the tenant with their figures, the oldest first', async () => {
  const { status, body } = await list()
  const withoutForecast = ({ forecast_usd: _, ...budget }: (typeof made)[number]) => budget
  expect([status, body.next_cursor]).toEqual([200, null])
  expect(body.items.map(withoutForecast)).toEqual(made.map(withoutForecast))
})

test('only administrators see addresses, readers of telemetry their number', async () => {
  const { status, body, text } = await list('', { scopes: ['telemetry:read'] })
  expect([status, body.items.map(({ notify }: { notify: object }) => notify)]).toEqual([
    200,
    made.map(() => ({ emails: [], email_count: 1, webhook_ids: [] })),
  ])
  expect(text).not.toContain('finance@')
})

test('in pages', async () => {
  const first = await list('?limit=2')
  const second = await list(`?limit=2&cursor=${first.body.next_cursor}`)
  const ids = [...first.body.items, ...second.body.items].map(({ budget_id }) => budget_id)
  expect([ids, first.body.items.length, second.body.next_cursor]).toEqual([
    made.map(({ budget_id }) => budget_id),
    2,
    null,
  ])
})

test.each([
  ['no page size', '?limit=0', 'validation-failed', '/query/limit'],
  ['a cursor of something else', '?cursor=abc', 'invalid-cursor', '/query/cursor'],
  ['a filter that there is not', '?name=x', 'validation-failed', '/query/name'],
])('%s is 400', async (_name, query, slug, pointer) => {
  const answer = await list(query)
  expect([answer.status, slugOf(answer), pointersOf(answer)]).toEqual([400, slug, [pointer]])
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'GET', path: budgetsPath }),
  wrongScopes: ['hub:read', 'telemetry:write'],
})
