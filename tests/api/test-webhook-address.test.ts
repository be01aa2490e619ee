import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { webhookAddressTestsAtOnce } from '../../contract/limits.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { type Receiver, startReceiver } from '../webhooks/receiver.ts'
import { answer } from '../webhooks/receiver-behaviours.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'
import { webhookEventsOf, webhooksPath } from './webhook-cases.ts'

let hub: TestHub
let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
  hub = await startHub({ settings: { HUB_OUTBOUND_ALLOW: '127.0.0.1' } })
})
afterAll(async () => {
  await hub.stop()
  await receiver.stop()
})

const send = (body: unknown) => hub.call('acme', 'POST', `${webhooksPath}:test`, { body })

test('sends one signed message, returns the result with its secret, and stores no endpoint', async () => {
  const place = receiver.at('/taken')
  const { status, body, headers } = await send({ url: `${place.url}?token=in-the-query` })
  expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
  expect(body).toEqual({
    ok: true,
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9]{44}$/),
    attempt: expect.objectContaining({ duration_ms: expect.any(Number), response: expect.anything() }),
  })
  const [message] = await place.count(1)
  expect(message!.body).toMatchObject({ kind: 'webhook.test', tenant: 'acme', data: { message: expect.any(String) } })
  expect(message!.headers['x-service-signature']).toBe(body.attempt.request_headers['x-service-signature'])
  const signed = createHmac('sha256', body.secret).update(`${message!.t}.`).update(message!.raw).digest('hex')
  expect(message!.headers['x-service-signature']).toBe(`t=${message!.t},v1=${signed}`)
  expect((await hub.call('acme', 'GET', webhooksPath)).body.items).toEqual([])
  const events = await webhookEventsOf(hub, 'acme', 'tenant:acme')
  expect(events.at(-1)).toMatchObject({ details: { change: 'webhook_address_tested' } })
  expect(JSON.stringify(events)).not.toMatch(/in-the-query|whsec_|\/taken/)
})

test('explains a receiver that refuses, and an address where nobody listens', async () => {
  const place = receiver.at('/refused')
  place.behaviour = answer(500)
  expect((await send({ url: place.url })).body).toMatchObject({
    ok: false,
    attempt: { response: { status: 500 }, error: { code: 'http-5xx' } },
  })
  const gone = (await send({ url: 'http://127.0.0.1:4999/nobody' })).body
  expect([gone.ok, gone.attempt.error.code, gone.attempt.response]).toEqual([false, 'unreachable', undefined])
})

test('sends the body of the format', async () => {
  const place = receiver.at('/slack')
  expect((await send({ url: place.url, format: 'slack' })).body.ok).toBe(true)
  const [message] = place.received
  expect(JSON.parse(message!.raw.toString())).toMatchObject({ text: expect.any(String), blocks: expect.any(Array) })
})

test('a tenant runs so many tests at once; others are not affected, and each place is free again', async () => {
  const place = receiver.at('/slow')
  const release: (() => void)[] = []
  place.behaviour = (response) => void release.push(() => response.writeHead(200).end())
  const runs = Array.from({ length: webhookAddressTestsAtOnce }, () => send({ url: place.url }))
  await expect.poll(() => release.length).toBe(webhookAddressTestsAtOnce)
  const refused = await send({ url: receiver.at('/taken').url })
  expect([refused.status, slugOf(refused), refused.headers['retry-after']]).toEqual([429, 'rate-limited', '5'])
  const others = { body: { url: receiver.at('/taken').url } }
  expect((await hub.call('globex', 'POST', `${webhooksPath}:test`, others)).body.ok).toBe(true)
  for (const each of release) each()
  expect((await Promise.all(runs)).map(({ body }) => body.ok)).toEqual(runs.map(() => true))
  expect((await send({ url: receiver.at('/taken').url })).body.ok).toBe(true)
})

test('refuses addresses that a tenant may not name, unknown formats, and anything else, with all pointers', async () => {
  for (const [body, pointers] of [
    [{ url: 'https://169.254.169.254/latest' }, ['/url']],
    [{ url: 'https://hooks.acme.example/#part' }, ['/url']],
    [{ url: 'https://user:secret@hooks.acme.example/' }, ['/url']],
    [{ url: 'https://10.0.0.1/', format: 'irc' }, ['/url', '/format']],
    [{}, ['/url']],
    [{ url: 'https://hooks.acme.example/', events: ['user.*'] }, ['/events']],
  ] as const) {
    const refused = await send(body)
    expect([refused.status, pointersOf(refused).toSorted()]).toEqual([400, [...pointers].toSorted()])
  }
  const named = await send({ url: 'https://localhost.acme.invalid/hub' })
  expect(named.body).toMatchObject({ ok: false, attempt: { error: { code: 'unreachable' } } })
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'POST', path: `${webhooksPath}:test`, body: { url: receiver.at('/taken').url } }),
  wrongScopes: ['connector:admin', 'roster:write'],
})
