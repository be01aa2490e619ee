import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'
import { addDeliveries, addWebhook, must, setProgress, webhooksPath } from './webhook-cases.ts'

let hub: TestHub
const statements: string[] = []
const made: string[] = []
beforeAll(async () => {
  hub = await startHub({ onQuery: (text) => text.includes('hub.webhook') && statements.push(text) })
  for (let at = 0; at < 5; at += 1) made.push((await addWebhook(hub, 'acme', { description: `No ${at}` })).webhook_id)
})
afterAll(() => hub.stop())

const list = (query = '') => hub.call('acme', 'GET', `${webhooksPath}${query}`)
const idsOf = ({ items }: { items: { webhook_id: string }[] }) => items.map(({ webhook_id }) => webhook_id)

test('the oldest first, page by page, without secrets', async () => {
  const whole = await list()
  expect([whole.status, idsOf(whole.body), whole.body.next_cursor]).toEqual([200, made, null])
  expect(whole.text).not.toContain('whsec_')
  const pages: string[][] = []
  for (let query = '?limit=2'; ; ) {
    const { body } = await list(query)
    pages.push(idsOf(body))
    if (body.next_cursor === null) break
    query = `?limit=2&cursor=${body.next_cursor}`
  }
  expect(pages).toEqual([made.slice(0, 2), made.slice(2, 4), made.slice(4)])
  expect((await list('?limit=5')).body.next_cursor).toBeNull()
})

test('the health of each, counted up to 1000, in as many statements for one as for all', async () => {
  const [quiet, failing, fine, disabled] = made as [string, string, string, string]
  const at = '2026-07-01T09:30:00.000000Z'
  await setProgress(hub, failing, { failures: 3, failing_since: at, attempted_at: at })
  await setProgress(hub, fine, { attempted_at: at, delivered_at: at })
  await addDeliveries(hub, 'acme', failing, { status: 'failed', count: 3 })
  await addDeliveries(hub, 'acme', failing, { status: 'pending', count: 1100, from: 10 })
  await addDeliveries(hub, 'acme', failing, { status: 'dead', count: 1001, from: 2000 })
  await addDeliveries(hub, 'acme', fine, { status: 'delivered', count: 5 })
  await addDeliveries(hub, 'acme', disabled, { status: 'dead', count: 2 })
  await must(hub, 'acme', 'PATCH', `${webhooksPath}/${disabled}`, { body: { enabled: false } })

  statements.length = 0
  const { items } = (await list()).body
  const forAll = statements.length
  const healthOf = (id: string) => items.find((item: { webhook_id: string }) => item.webhook_id === id).health
  expect([quiet, failing, fine, disabled].map(healthOf)).toEqual([
    { status: 'waiting', failures: 0, pending: 0, dead: 0 },
    { status: 'failing', failures: 3, failing_since: at, last_attempt_at: at, pending: 1000, dead: 1000 },
    { status: 'ok', failures: 0, last_attempt_at: at, last_delivered_at: at, pending: 0, dead: 0 },
    { status: 'disabled', failures: 0, pending: 0, dead: 2 },
  ])
  statements.length = 0
  await list('?limit=1')
  expect([forAll, statements.length]).toEqual([2, 2])
})

test('what was removed is gone, and another tenant sees its own', async () => {
  await must(hub, 'acme', 'DELETE', `${webhooksPath}/${made[4]}`)
  expect(idsOf((await list()).body)).toEqual(made.slice(0, 4))
  expect((await hub.call('globex', 'GET', webhooksPath)).body).toEqual({ items: [], next_cursor: null })
})

test('a cursor of nobody, or of another tenant, is 400', async () => {
  const { next_cursor: cursor } = (await list('?limit=1')).body
  const answers = [
    await list('?cursor=x'),
    await list(`?limit=1&cursor=A${cursor}`),
    await hub.call('globex', 'GET', `${webhooksPath}?limit=1&cursor=${cursor}`),
  ]
  expect(answers.map((answer) => [answer.status, slugOf(answer)])).toEqual(Array(3).fill([400, 'invalid-cursor']))
})

test.each([
  ['limit=0', '/query/limit'],
  ['limit=1001', '/query/limit'],
  ['limit=1&limit=2', '/query/limit'],
  ['status=failing', '/query/status'],
])('%s is 400', async (query, pointer) => {
  const answer = await list(`?${query}`)
  expect([answer.status, pointersOf(answer)]).toEqual([400, [pointer]])
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'GET', path: webhooksPath }),
  wrongScopes: ['hub:read', 'roster:read'],
})
