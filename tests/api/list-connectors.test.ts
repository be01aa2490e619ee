import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectorsPath, must, startConnectorHub } from '../connectors/connector-lab.ts'
import type { TestHub } from '../support/hub.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'

let hub: TestHub
const made: string[] = []
beforeAll(async () => {
  hub = await startConnectorHub()
  for (const display_name of ['one', 'two', 'three', 'gone']) {
    const body = { platform: 'slack', display_name, delivery: 'pull' }
    made.push((await must(hub, 'acme', 'POST', connectorsPath, { body })).body.connector_id)
  }
  await must(hub, 'acme', 'DELETE', `${connectorsPath}/${made.pop()}`)
})
afterAll(() => hub.stop())

test('lists them in pages, the oldest first, without those that were removed', async () => {
  const first = await must(hub, 'acme', 'GET', `${connectorsPath}?limit=2`)
  const second = await must(hub, 'acme', 'GET', `${connectorsPath}?limit=2&cursor=${first.body.next_cursor}`)
  const ids = [first, second].flatMap(({ body }) =>
    body.items.map((item: { connector_id: string }) => item.connector_id),
  )
  expect([ids, second.body.next_cursor]).toEqual([made, null])
  expect(first.body.items[0].health).toEqual({ status: 'waiting', failures: 0 })
  expect((await must(hub, 'globex', 'GET', connectorsPath)).body).toEqual({ items: [], next_cursor: null })
})

test.each([
  ['limit=0', 'validation-failed', '/query/limit'],
  ['colour=red', 'validation-failed', '/query/colour'],
  ['cursor=abc', 'invalid-cursor', '/query/cursor'],
])('%s is 400', async (query, slug, pointer) => {
  const answer = await hub.call('acme', 'GET', `${connectorsPath}?${query}`)
  expect([answer.status, slugOf(answer), pointersOf(answer)]).toEqual([400, slug, [pointer]])
})

test('a cursor of another tenant is none', async () => {
  const { body } = await must(hub, 'acme', 'GET', `${connectorsPath}?limit=1`)
  expect((await hub.call('globex', 'GET', `${connectorsPath}?limit=1&cursor=${body.next_cursor}`)).status).toBe(400)
})

accessCases({ hub: () => hub, right: () => ({ method: 'GET', path: connectorsPath }), wrongScopes: ['hub:read'] })
