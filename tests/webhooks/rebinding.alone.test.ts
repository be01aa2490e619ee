import { randomBytes } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { createServer, type Server } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'

/** What DNS says of each name, one answer to each look-up, and the last for ever. */
const names = new Map<string, string[][]>()
const dnsServer = vi.hoisted(() => ({ address: '' }))
vi.mock('node:dns/promises', async (original) => {
  const dns = await original<typeof import('node:dns/promises')>()
  class Resolver extends dns.Resolver {
    constructor(options: object) {
      super(options)
      this.setServers([dnsServer.address])
    }
  }
  return { ...dns, Resolver }
})
/** What the system's resolver says, which is asked for the names of the allow-list. */
vi.mock('node:dns', async (original) => {
  const dns = await original<typeof import('node:dns')>()
  type Answer = (error: Error | null, addresses?: { address: string; family: number }[]) => void
  const lookup = (host: string, options: object, answer: Answer) =>
    host === 'allowed.example'
      ? answer(null, [{ address: '127.0.0.1', family: 4 }])
      : dns.lookup(host, options, answer as never)
  return { ...dns, lookup }
})

let dns: DnsServer
let hub: TestHub
let inside: Server
let connections = 0
beforeAll(async () => {
  dns = await startDnsServer((name, type) => {
    const answers = names.get(name) ?? []
    // A look-up asks for both families; its answer is used up by the second of them.
    const isSecond = dns.asked.filter((question) => question.startsWith(`${name} `)).length % 2 === 0
    const answer = (isSecond && answers.length > 1 ? answers.shift() : answers[0]) ?? []
    return answer.filter((address) => address.includes(':') === (type === 'AAAA'))
  })
  dnsServer.address = dns.address
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
  await dns.stop()
  await new Promise((closed) => inside.close(closed))
})

/** What came of a test message to an endpoint there. */
async function deliverTo(host: string) {
  const { port } = inside.address() as { port: number }
  const body = { url: `https://${host}:${port}/hook`, events: ['user.*'] }
  const added = await hub.call('acme', 'POST', '/api/v1/webhooks', { body })
  expect(added.status).toBe(201)
  const queued = await hub.call('acme', 'POST', `/api/v1/webhooks/${added.body.webhook_id}:test`)
  for (const endsMs = performance.now() + scaled(30_000); ; await delay(20)) {
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
  const resolver = new Resolver()
  const looked = await Promise.all([
    resolver.resolve4('rebinding.example'),
    resolver.resolve6('rebinding.example').catch(() => []),
  ])
  expect(looked.flat()).toEqual(['93.184.215.14'])
  const { last_attempt: attempt } = await deliverTo('rebinding.example')
  expect(attempt.error.code).toBe('blocked')
  expect(JSON.stringify(attempt)).not.toContain('127.0.0.1')
  expect(connections).toBe(0)
})

test('the same name on the operator’s allow-list is connected to', async () => {
  names.set('allowed.example', [['93.184.215.14']])
  const { last_attempt: attempt } = await deliverTo('allowed.example')
  // It is no TLS server: that it was reached is what counts.
  expect(attempt.error.code).toBe('unreachable')
  expect(connections).toBe(1)
  expect(dns.asked.filter((question) => question.startsWith('allowed'))).toEqual([])
})
