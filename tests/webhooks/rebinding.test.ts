import { randomBytes } from 'node:crypto'
import { lookup } from 'node:dns'
import { createServer, type Server } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'

/** What the system's resolver says of each name, one answer after the other, and the last for ever. */
const names = vi.hoisted(() => new Map<string, string[][]>())
vi.mock('node:dns', async (original) => {
  const dns = await original<typeof import('node:dns')>()
  type Answer = (error: Error | null, addresses?: { address: string; family: number }[]) => void
  const lookup = (host: string, options: object, answer: Answer) => {
    const answers = names.get(host)
    if (!answers) return dns.lookup(host, options, answer as never)
    const addresses = (answers.length > 1 ? answers.shift() : answers[0]) ?? []
    return answer(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
  return { ...dns, lookup }
})

let hub: TestHub
let inside: Server
let connections = 0
beforeAll(async () => {
  inside = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  await new Promise<void>((listening) => inside.listen(0, '127.0.0.1', listening))
  const settings = {
    HUB_ENV: 'production',
    HUB_BASE_URL: 'https://hub.example.com',
    HUB_MASTER_KEY: randomBytes(32).toString('base64'),
    HUB_OUTBOUND_ALLOW: 'allowed.example',
  }
  hub = await startHub({ settings })
  hub.modules.webhooks.worker.start()
})
afterAll(async () => {
  await hub.stop()
  await new Promise((closed) => inside.close(closed))
})

/** What came of a test message to an endpoint there. */
async function deliverTo(host: string) {
  const { port } = inside.address() as { port: number }
  const body = { url: `https://${host}:${port}/hook`, events: ['user.*'] }
  const added = await hub.call('acme', 'POST', '/api/v1/webhooks', { body })
  expect(added.status).toBe(201)
  const queued = await hub.call('acme', 'POST', `/api/v1/webhooks/${added.body.webhook_id}:test`)
  for (const endsMs = performance.now() + 10_000; ; await delay(20)) {
    const { body: delivery } = await hub.call('acme', 'GET', String(queued.headers.location))
    if (delivery.last_attempt) return delivery
    if (performance.now() > endsMs) throw new Error(`not attempted: ${JSON.stringify(delivery)}`)
  }
}

test.each([
  ['a name that is inside', [['127.0.0.1']]],
  ['a name with one address inside among public ones', [['93.184.215.14', '127.0.0.1']]],
  ['a mapped address', [['::ffff:127.0.0.1']]],
  ['a metadata address', [['169.254.169.254']]],
])('%s can be configured, for nobody knows what it will be, and is not connected to', async (_name, answers) => {
  const host = `name-${names.size}.example`
  names.set(host, answers)
  expect(await deliverTo(host)).toMatchObject({
    status: 'dead',
    attempt_count: 1,
    last_attempt: { error: { code: 'blocked', detail: expect.stringMatching(/resolves to a [\w-]+ address/) } },
  })
  expect(connections).toBe(0)
})

test('a name that is public when somebody looks, and inside at the connection, is not connected to', async () => {
  names.set('rebinding.example', [['93.184.215.14'], ['127.0.0.1']])
  const looked = await new Promise((found) => lookup('rebinding.example', { all: true }, (_, all) => found(all)))
  expect(looked).toEqual([{ address: '93.184.215.14', family: 4 }])
  const { last_attempt: attempt } = await deliverTo('rebinding.example')
  expect(attempt.error.code).toBe('blocked')
  expect(JSON.stringify(attempt)).not.toContain('127.0.0.1')
  expect(connections).toBe(0)
})

test('the same name on the operator’s allow-list is connected to', async () => {
  names.set('allowed.example', [['127.0.0.1']])
  const { last_attempt: attempt } = await deliverTo('allowed.example')
  // It is no TLS server: that it was reached is what counts.
  expect(attempt.error.code).toBe('unreachable')
  expect(connections).toBe(1)
})
