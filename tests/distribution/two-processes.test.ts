import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SecondHub, startSecondHub } from '../auth/second-hub.ts'
import {
  connectorsPath,
  connectorWhen,
  must,
  publishSkill,
  pushBody,
  startConnectorHub,
} from '../connectors/connector-lab.ts'
import type { TestHub } from '../support/hub.ts'
import { hang, startPublishReceiver } from '../support/publish-receiver.ts'

let hub: TestHub
let second: SecondHub
beforeAll(async () => {
  hub = await startConnectorHub()
  second = await startSecondHub(hub, { settings: { outboundAllow: ['127.0.0.1'] as unknown as string } })
  hub.modules.distribution.publisher.start()
  second.modules.distribution.publisher.start()
})
afterAll(async () => {
  await second.stop()
  await hub.stop()
})

test('of two processes one publishes, each time', async () => {
  const receivers = await Promise.all(Array.from({ length: 10 }, () => startPublishReceiver()))
  const ids: string[] = []
  for (const [at, receiver] of receivers.entries()) {
    const body = pushBody(receiver.url, { display_name: `Lab ${at}` })
    ids.push((await must(hub, 'acme', 'POST', connectorsPath, { body })).body.connector_id)
  }
  await Promise.all(receivers.map((receiver) => receiver.count(1)))
  for (const id of ids) await connectorWhen(hub, id, ({ health }) => health.status === 'ok')
  expect(receivers.map(({ received }) => received.length)).toEqual(ids.map(() => 1))
  await publishSkill(hub, 'acme', { skill_id: 'sum-up' })
  await Promise.all(receivers.map((receiver) => receiver.count(2)))
  // Both processes have looked again by then.
  await delay(500)
  expect(receivers.map(({ received }) => received.length)).toEqual(ids.map(() => 2))
  for (const id of ids) await must(hub, 'acme', 'DELETE', `${connectorsPath}/${id}`)
  await Promise.all(receivers.map((receiver) => receiver.stop()))
})

test('what one process was about when it stopped, the other does at once', async () => {
  const receiver = await startPublishReceiver(hang)
  await must(hub, 'acme', 'POST', connectorsPath, { body: pushBody(receiver.url) })
  await receiver.count(1)
  receiver.behaviour = 200
  // Whichever has it; the other goes on.
  await hub.modules.distribution.publisher.stop()
  const publishers = [hub.modules.distribution.publisher, second.modules.distribution.publisher]
  if (receiver.received.length === 1) {
    publishers[0]!.start()
    await publishers[1]!.stop()
  }
  await receiver.count(2)
  await receiver.stop()
})
