import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Receiver, startReceiver } from './receiver.ts'
import { answer, closeAtOnce, closeInHead, inTurn } from './receiver-behaviours.ts'

let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
})
afterAll(() => receiver.stop())

const secret = 'whsec_one'

function send(url: string, options: { t?: number; header?: string; sent?: string; id?: string } = {}) {
  const { t = Math.floor(Date.now() / 1000), id = 'm1' } = options
  const text = JSON.stringify({ id, tenant: 'acme', sequence: 1 })
  const signature = createHmac('sha256', secret).update(`${t}.${text}`).digest('hex')
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-webhook-id': 'm1',
      'x-service-tenant': 'acme',
      'x-service-signature': options.header ?? `t=${t},v1=${signature}`,
    },
    body: options.sent ?? text,
  })
}

test('what is signed with one of its secrets is without a fault, and counted when it comes again', async () => {
  const endpoint = receiver.at('/good')
  endpoint.secrets = ['whsec_other', secret]
  await send(endpoint.url)
  await send(endpoint.url)
  await endpoint.count(2)
  expect(endpoint.faults).toEqual([])
  expect(endpoint.received.map(({ signedBy, earlier }) => [signedBy, earlier])).toEqual([
    [[1], 0],
    [[1], 1],
  ])
  expect([endpoint.taken(), endpoint.duplicates()]).toEqual([new Set(['m1']), 1])
})

test.each([
  ['an old signature', { t: Math.floor(Date.now() / 1000) - 400 }],
  ['one of another body', { sent: '{"id":"m1","tenant":"acme","sequence":2}' }],
  ['two times', { header: 't=1,t=2,v1=00' }],
  ['none', { header: '' }],
  ['another id in the body', { id: 'm2' }],
])('%s is a fault', async (name, options) => {
  const endpoint = receiver.at(`/bad/${encodeURIComponent(name)}`)
  endpoint.secrets = [secret]
  await send(endpoint.url, options)
  expect(endpoint.faults).toHaveLength(1)
})

test('only what was answered with 2xx counts as taken', async () => {
  const endpoint = receiver.at('/turns')
  endpoint.behaviour = inTurn(answer(500), closeAtOnce, closeInHead, answer(204))
  expect((await send(endpoint.url)).status).toBe(500)
  await expect(send(endpoint.url)).rejects.toThrow()
  await expect(send(endpoint.url)).rejects.toThrow()
  expect(endpoint.taken().size).toBe(0)
  expect((await send(endpoint.url)).status).toBe(204)
  expect([endpoint.taken().size, endpoint.duplicates()]).toEqual([1, 0])
  receiver.refusing = true
  await expect(send(endpoint.url)).rejects.toThrow()
  receiver.refusing = false
  expect(endpoint.received).toHaveLength(4)
})
