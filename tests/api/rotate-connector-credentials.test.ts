import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectorsPath, eventsOf, must, pushBody, startConnectorHub } from '../connectors/connector-lab.ts'
import type { TestHub } from '../support/hub.ts'
import { startPublishReceiver } from '../support/publish-receiver.ts'
import { accessCases, pointersOf } from './connector-cases.ts'

let hub: TestHub
let path: string
let receiver: Awaited<ReturnType<typeof startPublishReceiver>>
beforeAll(async () => {
  hub = await startConnectorHub()
  receiver = await startPublishReceiver()
  const { body } = await must(hub, 'acme', 'POST', connectorsPath, { body: pushBody(receiver.url) })
  path = `${connectorsPath}/${body.connector_id}`
})
afterAll(async () => {
  await hub.stop()
  await receiver.stop()
})

const rotate = (body: unknown) => hub.call('acme', 'POST', `${path}:rotate-credentials`, { body })

test('replaces all, uses them at once, writes it down once, and tells no secret', async () => {
  hub.modules.distribution.publisher.start()
  await receiver.count(1)
  const answer = await rotate({ credentials: { api_key: 'the-new-one', signing_secret: 'signs' } })
  expect([answer.status, answer.body.credentials]).toEqual([200, ['api_key', 'signing_secret']])
  await expect.poll(() => receiver.received.at(-1)!.headers['x-api-key']).toBe('the-new-one')
  expect(receiver.received.at(-1)!.headers.authorization).toBeUndefined()
  await rotate({ credentials: { signing_secret: 'signs', api_key: 'the-new-one' } })
  const events = await eventsOf(hub, 'acme', 'tenant.config_changed')
  expect(events).toHaveLength(1)
  expect(events[0].details).toMatchObject({
    change: 'connector_credentials_rotated',
    before: { credentials: ['bearer_token'] },
    after: { credentials: ['api_key', 'signing_secret'] },
  })
  expect(JSON.stringify([answer.body, events, hub.logLines])).not.toMatch(/the-new-one|"signs"/)
})

test.each<[unknown, string]>([
  [{}, '/credentials'],
  [{ credentials: 'x' }, '/credentials'],
  [{ credentials: { a: 1 } }, '/credentials/a'],
  [{ credentials: {}, more: 1 }, '/more'],
])('%j is 400', async (body, pointer) => {
  const answer = await rotate(body)
  expect([answer.status, pointersOf(answer)]).toEqual([400, [pointer]])
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'POST', path: `${path}:rotate-credentials`, body: { credentials: { a: 'b' } } }),
  wrongScopes: ['hub:write'],
  otherTenant: 404,
})
