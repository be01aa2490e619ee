import Stripe from 'stripe'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyWebhook as verifyByWebCrypto } from '../../sdk/typescript/src/webhooks/verify-webhook.ts'
import { verifyWebhook } from '../../sdk/typescript/src/webhooks/verify-webhook-node.ts'
import type { ReceivedMessage } from './receiver.ts'
import { messageOf, startWebhookLab, type WebhookLab } from './webhook-lab.ts'

const { webhooks } = new Stripe('sk_test_of_no_account')
let lab: WebhookLab
beforeAll(async () => {
  lab = await startWebhookLab()
})
afterAll(() => lab.stop())

/** By the library of stripe and by both of ours, each of which must give the message that was sent. */
async function expectVerified({ raw, headers, body }: ReceivedMessage, secret: string): Promise<void> {
  const header = String(headers['x-service-signature'])
  expect(webhooks.constructEvent(raw, header, secret)).toEqual(body)
  expect(verifyWebhook({ body: raw, headers, secret })).toEqual(body)
  const worker = new Headers(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  expect(await verifyByWebCrypto({ body: raw.toString(), headers: worker, secret })).toEqual(body)
}

test('what is delivered is verified by published and own verifiers, with characters of every kind', async () => {
  const webhook = await lab.connect()
  const data = { skill_id: 'sum-up', text: 'Zoë 🦉 \u2028 "\\" </script> \u0000 é' }
  await lab.tell('acme', [{ ...messageOf(), data }])
  const [received] = await webhook.receiving.count(1)
  const [secret = ''] = webhook.receiving.secrets
  expect(received?.body.data).toEqual(data)
  await expectVerified(received!, secret)

  const { raw, headers, body } = received!
  const altered = Buffer.from(raw)
  altered[altered.length - 3]! ^= 1
  for (const other of [altered, JSON.stringify(body, null, 1), Buffer.concat([raw, Buffer.from('\n')])])
    expect(() => verifyWebhook({ body: other, headers, secret })).toThrow(
      expect.objectContaining({ code: 'signature-mismatch' }),
    )
  const later = { body: raw, headers, secret, nowMs: Date.now() + 302_000 }
  expect(() => verifyWebhook(later)).toThrow(expect.objectContaining({ code: 'signature-stale' }))
})

test('while a secret is rotated, receivers with the new and with the former one accept it', async () => {
  const webhook = await lab.connect()
  const [former = ''] = webhook.receiving.secrets
  await webhook.rotate()
  const secret = webhook.receiving.secrets[1] ?? ''
  await lab.must('acme', 'POST', `${webhook.path}:test`)
  const [received] = await webhook.receiving.count(1)
  expect(received?.signatures).toBe(2)
  for (const one of [secret, former]) await expectVerified(received!, one)
  const other = { body: received!.raw, headers: received!.headers, secret: `${former}x` }
  expect(() => verifyWebhook(other)).toThrow(expect.objectContaining({ code: 'signature-mismatch' }))
})
