import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseSignature } from '../../contract/webhook-signature.ts'
import { verifyWebhook as verifyByWebCrypto } from '../../sdk/typescript/src/webhooks/verify-webhook.ts'
import { verifyWebhook as verifyByNode } from '../../sdk/typescript/src/webhooks/verify-webhook-node.ts'
import type { ReceivedWebhook, WebhookMessage } from '../../sdk/typescript/src/webhooks/webhook-message.ts'
import { cases, message, now, receivedOf, signedHeader } from './webhook-vectors.ts'

const secret = 'whsec_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'
const body = JSON.stringify(message)
const nowMs = now * 1000
const bytes = (text: string) => new TextEncoder().encode(text)
const good: ReceivedWebhook = { body, signature: signedHeader(body, secret), secret, nowMs }
const headers = {
  'X-Service-Signature': signedHeader(body, secret),
  'X-Service-Webhook-Id': message.id,
  'X-Service-Tenant': message.tenant,
}

describe.each<[string, (received: ReceivedWebhook) => Promise<WebhookMessage>]>([
  ['with WebCrypto', verifyByWebCrypto],
  ['with Node', async (received) => verifyByNode(received)],
])('%s', (_name, verify) => {
  const codeOf = (received: ReceivedWebhook) =>
    verify(received).then(
      () => 'accepted',
      (error: Error & { code?: string }) => error.code ?? error.name,
    )

  test.each(cases)('vector: $name', async (vector) => {
    if (vector.refused !== null) {
      await expect(verify(receivedOf(vector))).rejects.toMatchObject({ name: 'WebhookRefused', code: vector.refused })
    } else expect(await verify(receivedOf(vector))).toEqual(message)
  })

  test('takes the body as text, as bytes and as a part of a larger buffer', async () => {
    const padded = bytes(`xx${body}yy`)
    for (const one of [body, bytes(body), Buffer.from(body), padded.subarray(2, padded.length - 2)])
      expect(await verify({ ...good, body: one })).toEqual(message)
  })

  test('takes the headers of fetch and of Node, in any case', async () => {
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
    const { signature: _, ...received } = good
    for (const one of [new Headers(headers), headers, lower, { ...lower, cookie: undefined, 'set-cookie': ['a', 'b'] }])
      expect(await verify({ ...received, headers: one })).toEqual(message)
    expect(await codeOf({ ...received, headers: {} })).toBe('signature-missing')
    expect(await codeOf({ ...received, headers: new Headers() })).toBe('signature-missing')
    expect(await codeOf(received)).toBe('signature-missing')
  })

  test('takes no header that came twice', async () => {
    const { signature: _, ...received } = good
    const twice = new Headers(headers)
    twice.append('X-Service-Signature', headers['X-Service-Signature'])
    const lists = { 'x-service-signature': [headers['X-Service-Signature'], headers['X-Service-Signature']] }
    const cased = { ...headers, 'x-service-signature': headers['X-Service-Signature'] }
    for (const one of [twice, lists, cased])
      expect(await codeOf({ ...received, headers: one })).toBe('signature-malformed')
  })

  test('holds the headers that are not signed to the body', async () => {
    for (const name of ['X-Service-Webhook-Id', 'X-Service-Tenant'])
      expect(await codeOf({ ...good, headers: { ...headers, [name]: 'other' } })).toBe('header-mismatch')
    // Whoever left one out could have left out all.
    expect(await verify({ ...good, headers: {} })).toEqual(message)
  })

  test('goes by the clock of the machine, unless it is told another', async () => {
    const { nowMs: _, ...received } = good
    const t = Math.floor(Date.now() / 1000)
    expect(await verify({ ...received, signature: signedHeader(body, secret, t) })).toEqual(message)
    expect(await codeOf({ ...received, signature: signedHeader(body, secret, t - 302) })).toBe('signature-stale')
    expect(await codeOf({ ...received, signature: signedHeader(body, secret, t + 90) })).toBe('signature-ahead')
    expect(await codeOf({ ...good, nowMs: nowMs + 300_001 })).toBe('signature-stale')
    expect(await codeOf({ ...good, nowMs: nowMs - 60_001 })).toBe('signature-ahead')
    expect(await codeOf({ ...good, toleranceSeconds: 0, nowMs: nowMs + 1 })).toBe('signature-stale')
  })

  test('says why it takes no object for a body', async () => {
    for (const one of [message, null, undefined, 7, [1, 2], new ArrayBuffer(4)]) {
      const refused = await verify({ ...good, body: one as never }).catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(TypeError)
      expect(String(refused)).toMatch(/bytes as they were received.*parsed and serialised again/)
    }
  })

  test('takes no secret, tolerance or time that would let anything through', async () => {
    for (const one of ['', [], [''], [secret, ''], undefined, null, 7])
      await expect(verify({ ...good, secret: one as never })).rejects.toThrow(TypeError)
    for (const one of [Number.NaN, -1, Number.POSITIVE_INFINITY, '300' as never, null as never])
      await expect(verify({ ...good, toleranceSeconds: one })).rejects.toThrow(TypeError)
    for (const one of [Number.NaN, Number.POSITIVE_INFINITY, 'now' as never])
      await expect(verify({ ...good, nowMs: one })).rejects.toThrow(TypeError)
  })

  test('says nothing of secret, body or signature', async () => {
    const expected = createHmac('sha256', secret).update(`${now}.${body}`).digest('hex')
    for (const one of [{ signature: `t=${now},v1=${'0'.repeat(64)}` }, { signature: `t=${now},v1=zz` }, { nowMs: 0 }]) {
      const error = await verify({ ...good, ...one }).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(Error)
      for (const word of [secret, expected, message.id, message.data.display_name])
        expect(`${(error as Error).stack}${JSON.stringify(error)}`).not.toContain(word)
    }
  })

  const anyMessage = fc
    .record({ id: fc.uuid(), sequence: fc.nat(), data: fc.dictionary(fc.string(), fc.jsonValue()) })
    .map((some) => ({ ...message, ...some }))

  test('property: what was signed is accepted; with any byte altered, added or taken away it is not', async () => {
    await fc.assert(
      fc.asyncProperty(anyMessage, fc.nat(), fc.integer({ min: 1, max: 255 }), async (some, at, change) => {
        const text = bytes(JSON.stringify(some))
        const received = { ...good, signature: signedHeader(text, secret) }
        const position = at % text.length
        expect(await verify({ ...received, body: text })).toEqual(JSON.parse(JSON.stringify(some)))
        const altered = text.with(position, text[position]! ^ change)
        const shorter = Uint8Array.from([...text].toSpliced(position, 1))
        const longer = Uint8Array.from([...text].toSpliced(position, 0, change))
        for (const one of [altered, shorter, longer])
          expect(await codeOf({ ...received, body: one })).toBe('signature-mismatch')
      }),
      { numRuns: 200 },
    )
  })

  test('property: no header but the one that was made is accepted', async () => {
    const header = good.signature ?? ''
    const character = fc.constantFrom(...'0123456789abcdefABCDEFtv=, .-+x')
    await fc.assert(
      fc.asyncProperty(fc.nat(header.length - 1), fc.nat(2), character, async (at, removed, put) => {
        const altered = header.slice(0, at) + put + header.slice(at + removed)
        fc.pre(altered !== header)
        expect(await codeOf({ ...good, signature: altered })).toMatch(/^signature-/)
      }),
      { numRuns: 300 },
    )
  })
})

test('property: reads a header as the Hub reads those that it is sent', () => {
  const digits = fc.oneof(fc.constant(String(now)), fc.nat().map(String), fc.constantFrom('', '01', '-1', '1e9', '1.0'))
  const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 })
  const part = fc.oneof(
    { weight: 4, arbitrary: digits.map((t) => `t=${t}`) },
    { weight: 6, arbitrary: hex.map((v1) => `v1=${v1}`) },
    fc.constantFrom('v0=abc', 'v2=a=b', 'v1=', 'V1=aa', ' t=1', 'v1', '', 'v3=ü', 'v3=a b', '=a', 'a-b=c'),
  )
  let read = 0
  fc.assert(
    fc.property(fc.array(part, { maxLength: 7 }), (parts) => {
      const signature = parts.join(',')
      fc.pre(signature !== '')
      const isRead = !('problem' in parseSignature(signature))
      read += Number(isRead)
      let code: string | undefined
      try {
        verifyByNode({ ...good, signature })
      } catch (error) {
        code = (error as { code?: string }).code
      }
      expect(code === 'signature-malformed').toBe(!isRead)
    }),
    { numRuns: 3000 },
  )
  expect(read).toBeGreaterThan(50)
})
