import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { accessCases, slugOf } from './connector-cases.ts'
import { addDeliveries, addWebhook, must, setProgress, webhooksPath } from './webhook-cases.ts'

let hub: TestHub
let id: string
beforeAll(async () => {
  hub = await startHub()
  id = (await addWebhook(hub)).webhook_id
})
afterAll(() => hub.stop())

const get = (webhookId: string) => hub.call('acme', 'GET', `${webhooksPath}/${webhookId}`)

test('the endpoint with its health, and without its secret', async () => {
  await setProgress(hub, id, {
    failures: 1,
    failing_since: '2026-07-01T09:30:00Z',
    attempted_at: '2026-07-01T09:30:00Z',
  })
  await addDeliveries(hub, 'acme', id, { status: 'failed', count: 2 })
  const answer = await get(id)
  expect([answer.status, answer.body]).toMatchObject([
    200,
    {
      webhook_id: id,
      url: 'https://hooks.acme.example/hub',
      events: ['user.*'],
      enabled: true,
      health: { status: 'failing', failures: 1, failing_since: '2026-07-01T09:30:00.000000Z', pending: 2, dead: 0 },
    },
  ])
  expect(answer.text).not.toContain('secret')
})

test('an unknown one, and one that was removed, is 404', async () => {
  const { webhook_id: removed } = await addWebhook(hub)
  await must(hub, 'acme', 'DELETE', `${webhooksPath}/${removed}`)
  const answers = await Promise.all([`whk_${'0'.repeat(24)}`, 'x', removed].map(get))
  expect(answers.map((answer) => [answer.status, slugOf(answer)])).toEqual(Array(3).fill([404, 'not-found']))
})

test('a query parameter is 400', async () => {
  expect((await get(`${id}?verbose=true`)).status).toBe(400)
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'GET', path: `${webhooksPath}/${id}` }),
  wrongScopes: ['hub:read', 'governance:read'],
  otherTenant: 404,
})
