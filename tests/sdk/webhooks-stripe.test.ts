import Stripe from 'stripe'
import { expect, test } from 'vitest'
import { verifyWebhook } from '../../sdk/typescript/src/webhooks/verify-webhook-node.ts'
import { signatureOf } from '../../server/outbound/message-headers.ts'
import { cases, message } from './webhook-vectors.ts'

/** What receivers have that verify other services' webhooks by the published library. */
const { webhooks } = new Stripe('sk_test_of_no_account')
const secret = 'whsec_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'
const former = 'whsec_GFEDCBAzyxwvutsrqponmlkjihgfedcba9876543210xy'
const body = JSON.stringify(message)
const byStripe = (text: string | Buffer, header: string, key = secret) =>
  webhooks.constructEvent(text, header, key) as unknown

test('stripe’s library and ours accept what the Hub signs, as text and as bytes', async () => {
  const header = signatureOf(body, [secret])
  expect(header).toMatch(/^t=[0-9]{10},v1=[0-9a-f]{64}$/)
  for (const received of [body, Buffer.from(body)]) {
    expect(byStripe(received, header)).toEqual(message)
    expect(await webhooks.constructEventAsync(received, header, secret)).toEqual(message)
    expect(webhooks.signature?.verifyHeader(received, header, secret)).toBe(true)
    expect(verifyWebhook({ body: received, signature: header, secret })).toEqual(message)
  }
})

test('while a secret is rotated both accept two signatures, by the new secret and by the former', () => {
  const header = signatureOf(body, [secret, former])
  expect(header).toMatch(/^t=[0-9]{10}(,v1=[0-9a-f]{64}){2}$/)
  for (const key of [secret, former]) {
    expect(byStripe(body, header, key)).toEqual(message)
    expect(verifyWebhook({ body, signature: header, secret: key })).toEqual(message)
  }
  expect(() => byStripe(body, header, 'whsec_other')).toThrow(/No signatures found/)
})

test('a header that stripe’s library makes is one that ours accepts', () => {
  const header = webhooks.generateTestHeaderString({ payload: body, secret })
  expect(verifyWebhook({ body, signature: header, secret })).toEqual(message)
})

test('both refuse what was altered, serialised again, or signed too long ago', () => {
  const agoMs = (seconds: number) => Date.now() - seconds * 1000
  const refused: [string, string][] = [
    [body.replace('42', '43'), signatureOf(body, [secret])],
    [JSON.stringify(message, null, 1), signatureOf(body, [secret])],
    [body, signatureOf(body, [secret], agoMs(302))],
    [body, signatureOf(body, [former])],
    [body, signatureOf(body, [secret]).replace('v1=', 'v0=')],
  ]
  for (const [received, signature] of refused) {
    expect(() => byStripe(received, signature)).toThrow()
    expect(() => verifyWebhook({ body: received, signature, secret })).toThrow()
  }
})

test('ours is the stricter: two times, and times ahead', () => {
  const now = Math.floor(Date.now() / 1000)
  const ahead = signatureOf(body, [secret], Date.now() + 120_000)
  const twice = `t=${now - 1},${signatureOf(body, [secret])}`
  for (const signature of [ahead, twice]) {
    expect(byStripe(body, signature)).toEqual(message)
    expect(() => verifyWebhook({ body, signature, secret })).toThrow(/X-Service-Signature|ahead/)
  }
})

test('whatever our vectors accept, stripe’s library accepts with its own clock', () => {
  const vectors = cases.filter(({ refused, secrets }) => refused === null && secrets.length === 1)
  expect(vectors.length).toBeGreaterThan(5)
  for (const { name, body: text = '', signature, secrets } of vectors) {
    const seconds = Number(/t=([0-9]+)/.exec(signature)?.[1])
    const verified = webhooks.signature?.verifyHeader(text, signature, secrets[0] ?? '', 300, undefined, seconds * 1000)
    expect([name, verified]).toEqual([name, true])
  }
})
