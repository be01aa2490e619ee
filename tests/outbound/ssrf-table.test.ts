import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../server/config.ts'
import { createOutbound } from '../../server/outbound/outbound.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { acceptedUrls, refusedHosts, refusedUrls } from './ssrf-cases.ts'

const settings = {
  HUB_ENV: 'production',
  HUB_BASE_URL: 'https://hub.example.com',
  HUB_MASTER_KEY: randomBytes(32).toString('base64'),
}
const production = createOutbound(loadConfig(settings))
const post = { headers: {}, body: Buffer.from('{}') }

describe('the guard in production', () => {
  test.each(refusedUrls)('%s: %j is refused, and nothing is sent there', async (_attack, url) => {
    expect(production.problemOf(url)).toMatch(/\w/)
    expect(await production.resolvedProblemOf(url)).toBe(production.problemOf(url))
    const blocked = { name: 'OutboundError', failure: 'blocked', message: production.problemOf(url) }
    await expect(production.fetch(url)).rejects.toMatchObject(blocked)
    await expect(production.post(url, post)).rejects.toMatchObject(blocked)
  })

  test.each(refusedHosts)('%s: %j is refused on other ports and by http', (_attack, host) => {
    expect(production.problemOf(`https://${host}:8443/`)).toMatch(/public addresses/)
    expect(production.problemOf(`http://${host}/`)).toMatch(/must start with https/)
  })

  test.each(acceptedUrls)('%s may be configured', (url) => {
    expect(production.problemOf(url)).toBeUndefined()
  })
})

describe('a name, at the moment of connecting', () => {
  const address = (text: string) => ({ address: text, family: text.includes(':') ? 6 : 4 })
  let inside: Server
  let connections = 0
  let port = 0
  beforeAll(async () => {
    inside = createServer((socket) => {
      connections += 1
      socket.destroy()
    })
    await new Promise<void>((listening) => inside.listen(0, '127.0.0.1', listening))
    port = (inside.address() as { port: number }).port
  })
  afterAll(() => new Promise((closed) => inside.close(closed)))

  /** What each look-up answers, the last one for ever. */
  const resolving = (allow: string[], ...answers: string[][]) => {
    const asked: string[] = []
    const outbound = createOutbound(
      { environment: 'production', outboundAllow: allow },
      {
        resolve: async (host) => {
          asked.push(host)
          return (answers[asked.length - 1] ?? answers.at(-1) ?? []).map(address)
        },
      },
    )
    return { outbound, asked }
  }

  test.each([
    ['one inside', ['127.0.0.1']],
    ['inside after a public one', ['8.8.8.8', '127.0.0.1']],
    ['inside before a public one', ['127.0.0.1', '8.8.8.8']],
    ['mapped', ['::ffff:127.0.0.1']],
    ['NAT64', ['64:ff9b::7f00:1']],
    ['metadata', ['169.254.169.254']],
    ['Azure’s metadata', ['168.63.129.16']],
    ['with a zone', ['fe80::1%eth0']],
    ['with a zone of a kind that libraries trip over', ['fe80::1%eth0.1']],
    ['loopback with a zone', ['::1%lo']],
    ['unspecified', ['0.0.0.0']],
    ['what is no address', ['inside']],
    ['none', []],
  ])('%s is not connected to', async (_name, answer) => {
    const { outbound } = resolving([], answer)
    for (const call of [outbound.fetch, (url: string) => outbound.post(url, post)])
      await expect(call(`https://name.example:${port}/`)).rejects.toMatchObject({
        failure: 'blocked',
        message: expect.stringMatching(/^resolves to/),
      })
    expect(await outbound.resolvedProblemOf(`https://name.example:${port}/`)).toMatch(/^resolves to/)
    expect(connections).toBe(0)
  })

  test('a name that was public when it was looked at, and is inside when it is called', async () => {
    for (const method of ['fetch', 'post'] as const) {
      const { outbound, asked } = resolving([], ['8.8.8.8'], ['127.0.0.1'])
      const url = `https://rebinding.example:${port}/`
      expect(await outbound.resolvedProblemOf(url)).toBeUndefined()
      const call = method === 'fetch' ? outbound.fetch(url) : outbound.post(url, post)
      await expect(call).rejects.toMatchObject({ failure: 'blocked' })
      expect(asked).toEqual(['rebinding.example', 'rebinding.example'])
    }
    expect(connections).toBe(0)
  })

  test('a resolver that fails ends the call', async () => {
    const outbound = createOutbound(
      { environment: 'production', outboundAllow: [] },
      { resolve: () => Promise.reject(new Error('no resolver')) },
    )
    await expect(outbound.post('https://name.example/', post)).rejects.toMatchObject({ failure: 'unreachable' })
    await expect(outbound.fetch('https://name.example/')).rejects.toMatchObject({ failure: 'unreachable' })
  })

  test('the operator’s allow-list lifts it, for a name and for a network', async () => {
    for (const allow of [['name.example'], ['127.0.0.0/8']]) {
      const { outbound } = resolving(allow, ['127.0.0.1'])
      const before = connections
      // It is no TLS server: that it was reached is what counts.
      await expect(outbound.post(`https://name.example:${port}/`, post)).rejects.toMatchObject({
        failure: 'unreachable',
      })
      expect(connections).toBe(before + 1)
    }
  })
})

test('the operator’s allow-list lifts scheme, address and port, and not what is no address', () => {
  const outbound = createOutbound(
    loadConfig({ ...settings, HUB_OUTBOUND_ALLOW: 'receiver.internal,localhost,10.1.0.0/16,fd00::/8' }),
  )
  for (const url of [
    'http://receiver.internal/',
    'http://receiver.internal.:25/',
    'https://localhost:9/',
    'http://10.1.2.3:8080/',
    'http://167838211/',
    'http://[::ffff:10.1.2.3]/',
    'http://[64:ff9b::10.1.2.3]/',
    'http://[fd12::1]/',
  ])
    expect(outbound.problemOf(url)).toBeUndefined()
  for (const url of [
    'ftp://receiver.internal/',
    'http://user@receiver.internal/',
    'http://@receiver.internal/',
    'http:receiver.internal/',
    'http://receiver.internal../',
    'http://receiver.internal\\/',
    'https://10.2.0.1/',
    'https://[fc00::1]/',
    'https://x.localhost/',
    'http://other.internal/',
  ])
    expect(outbound.problemOf(url)).toMatch(/\w/)
})

describe('every place where a tenant sets a URL, in production', () => {
  let hub: TestHub
  const made = { webhook: '', connector: '' }
  const publicUrl = 'https://receiver.example.com/hook'
  const connector = { platform: 'custom:lab', display_name: 'Lab', delivery: 'push' }

  beforeAll(async () => {
    hub = await startHub({ settings })
    const webhook = await hub.call('acme', 'POST', '/api/v1/webhooks', { body: { url: publicUrl, events: ['user.*'] } })
    made.webhook = webhook.body.webhook_id
    const body = { ...connector, publish_url: publicUrl }
    made.connector = (await hub.call('acme', 'POST', '/api/v1/llm/connectors', { body })).body.connector_id
    expect(made).toEqual({ webhook: expect.stringMatching(/^whk_/), connector: expect.stringMatching(/^con_/) })
  })
  afterAll(() => hub.stop())

  const places: [string, string, (url: string) => [string, string, object]][] = [
    ['createWebhook', '/url', (url) => ['POST', '/api/v1/webhooks', { url, events: ['user.*'] }]],
    ['updateWebhook', '/url', (url) => ['PATCH', `/api/v1/webhooks/${made.webhook}`, { url }]],
    [
      'createConnector',
      '/publish_url',
      (url) => ['POST', '/api/v1/llm/connectors', { ...connector, publish_url: url }],
    ],
    [
      'updateConnector',
      '/publish_url',
      (url) => ['PATCH', `/api/v1/llm/connectors/${made.connector}`, { publish_url: url }],
    ],
    [
      'configureSso',
      '/issuer',
      (url) => [
        'POST',
        '/api/v1/identity/sso/configure',
        { issuer: url, client_id: 'hub', client_secret: 'a secret', allowed_email_domains: ['acme.example'] },
      ],
    ],
    [
      'configureScim',
      '/base_url',
      (url) => [
        'POST',
        '/api/v1/identity/scim/configure',
        { mode: 'pull', base_url: url, bearer_token: 'a-token', group_archetype_map: [] },
      ],
    ],
  ]

  test.each(places)('%s refuses each with 400 at %s, and keeps none', async (_operation, pointer, requestOf) => {
    const answers: unknown[] = []
    for (const [, url] of refusedUrls) {
      const [method, path, body] = requestOf(url)
      const answer = await hub.call('acme', method, path, { body })
      const pointers = answer.body.errors?.map((error: { pointer: string }) => error.pointer)
      answers.push([url, answer.status, pointers])
    }
    expect(answers).toEqual(refusedUrls.map(([, url]) => [url, 400, [pointer]]))
    const superuser = await hub.superuserClient()
    const { rows } = await superuser.query(
      `select url from hub.webhooks union all select publish_url from hub.connectors
       union all select base_url from hub.scim_configurations union all select issuer from hub.sso_connections`,
    )
    expect(rows).toEqual([{ url: publicUrl }, { url: publicUrl }])
  })
})
