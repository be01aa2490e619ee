import { afterAll, beforeAll, expect, test } from 'vitest'
import { pointersOf } from '../api/connector-cases.ts'
import type { TestHub } from '../support/hub.ts'
import { addWebhook, startDeliveriesHub, webhooksPath } from '../webhooks/stored-deliveries.ts'
import { insertDeliveries } from '../webhooks/webhook-rows.ts'

/** One a second. */
const began = '2026-07-01T00:00:00Z'

let hub: TestHub
beforeAll(async () => {
  hub = await startDeliveriesHub()
})
afterAll(() => hub.stop())

test('more than one order may queue again is 400, and says what to do; half of it is not', async () => {
  const own = await addWebhook(hub, 'acme', { url: 'http://127.0.0.1:4999/many' })
  const values = { status: `'dead'`, created_at: `timestamptz '${began}' + n * interval '1 second'` }
  await insertDeliveries(await hub.superuserClient(), { tenant: 'acme', webhookId: own }, { count: 100_001, values })
  const order = (body: object) => hub.call('acme', 'POST', `${webhooksPath}/${own}:redeliver`, { body })
  const tooMany = await order({ since: began })
  expect([tooMany.status, pointersOf(tooMany)]).toEqual([400, ['/since']])
  expect(tooMany.body.detail).toContain('until')
  const half = await order({ since: began, until: '2026-07-01T12:00:00Z' })
  expect([half.status, half.body.queued]).toEqual([202, 43_199])
})
