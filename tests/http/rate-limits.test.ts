import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { MemoryRateLimiter } from '../../server/http/rate-limits/rate-limiter.ts'
import { startHttpLab } from './http-lab.ts'

async function limitedLab(options: Parameters<typeof startHttpLab>[0] = {}) {
  const clock = { nowMs: 1_000_000 }
  const lab = await startHttpLab({ limiter: new MemoryRateLimiter({ nowMs: () => clock.nowMs }), ...options })
  onTestFinished(() => lab.close())
  return { ...lab, clock }
}

const path = '/api/v1/hub/records'
const as = (authorization: string | undefined) => ({ headers: { authorization } })

test('a token has its share, a tenant its own, and waiting as told helps', async () => {
  const lab = await limitedLab({ limitsOf: async () => ({ 'hub-read': { perToken: 2, perTenant: 3 } }) })
  const first = await lab.call('GET', path)
  expect(first.headers.get('ratelimit-policy')).toBe('"token";q=2;w=60, "tenant";q=3;w=60')
  expect(first.headers.get('ratelimit')).toBe('"token";r=1;t=60, "tenant";r=2;t=60')
  lab.clock.nowMs += 30_000
  expect((await lab.call('GET', path)).status).toBe(200)

  const refused = await lab.call('GET', path)
  expect([refused.status, refused.body.type]).toEqual([429, 'https://acme.example/errors/rate-limited'])
  expect(refused.headers.get('ratelimit')).toBe('"token";r=0;t=30, "tenant";r=1;t=30')
  expect(refused.headers.get('retry-after')).toBe('30')
  // The refusal was not charged to the tenant: another token of it gets the last request.
  expect((await lab.call('GET', path, as('Bearer acme.hub-read'))).status).toBe(200)
  expect((await lab.call('GET', path, as('Bearer acme.telemetry-read'))).status).toBe(429)
  // Other classes and other tenants are not concerned.
  expect((await lab.call('POST', path, { body: { title: 't', kind: 'a' } })).status).toBe(201)
  const other = { authorization: 'Bearer globex.all', 'x-service-tenant': 'globex' }
  expect((await lab.call('GET', path, { headers: other })).status).toBe(200)

  lab.clock.nowMs += 30_000
  expect((await lab.call('GET', path)).status).toBe(200)
})

test('a body counts as one request for each started MiB after inflation', async () => {
  const lab = await limitedLab({ limitsOf: async () => ({ 'telemetry-ingest': { perToken: 8, perTenant: 100 } }) })
  const send = (bytes: number) => {
    const text = `{"events":["${'x'.repeat(bytes - 15)}"]}`
    const headers = { 'content-encoding': 'gzip' }
    return lab.call('POST', '/api/v1/telemetry/events:batch', { body: gzipSync(text), headers })
  }
  const mib = 1024 * 1024
  expect((await send(mib)).headers.get('ratelimit')).toBe('"token";r=7;t=60, "tenant";r=99;t=60')
  expect((await send(mib + 1)).headers.get('ratelimit')).toBe('"token";r=5;t=60, "tenant";r=97;t=60')
  expect((await send(4 * mib)).headers.get('ratelimit')).toBe('"token";r=1;t=60, "tenant";r=93;t=60')
  const refused = await send(2 * mib)
  expect([refused.status, refused.body.type]).toEqual([429, 'https://acme.example/errors/rate-limited'])
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
})

test.each([
  ['is larger than its bound', 17, (body: Buffer) => body, 413],
  ['breaks off', 16, (body: Buffer) => body.subarray(0, -4), 400],
])('a body that inflates and then %s counts as much', async (_name, mib, altered, status) => {
  const lab = await limitedLab({ limitsOf: async () => ({ 'telemetry-ingest': { perToken: 30, perTenant: 100 } }) })
  const body = altered(gzipSync(Buffer.alloc(mib * 1024 * 1024, ' ')))
  const send = () =>
    lab.call('POST', '/api/v1/telemetry/events:batch', { body, headers: { 'content-encoding': 'gzip' } })
  const first = await send()
  expect([first.status, first.headers.get('ratelimit')]).toEqual([
    status,
    `"token";r=${30 - mib};t=60, "tenant";r=${100 - mib};t=60`,
  ])
  expect((await send()).status).toBe(429)
})

test('a request that fails its own checks has been counted, a refused scope or tenant has not', async () => {
  const lab = await limitedLab({ limitsOf: async () => ({ 'hub-read': { perToken: 2, perTenant: 100 } }) })
  for (let time = 0; time < 5; time++) {
    expect((await lab.call('GET', path, as('Bearer acme.roster-read'))).status).toBe(403)
    expect((await lab.call('GET', path, { headers: { 'x-service-tenant': 'globex' } })).status).toBe(403)
  }
  const statuses = []
  for (let time = 0; time < 3; time++) statuses.push((await lab.call('GET', `${path}?limit=x`)).status)
  expect(statuses).toEqual([400, 400, 429])
})

test('requests without a valid credential count against their address, never the tenant', async () => {
  const lab = await limitedLab({ config: { limitFactor: 0.003 } })
  const statuses = []
  for (let time = 0; time < 5; time++) statuses.push((await lab.call('GET', path, as('Bearer nobody'))).status)
  expect(statuses).toEqual([401, 401, 401, 429, 429])
  expect((await lab.call('GET', path)).headers.get('ratelimit')).toBe('"token";r=2;t=60, "tenant";r=29;t=60')
})

describe('the address', () => {
  const from = (forwarded: string) => ({ headers: { authorization: 'Bearer nobody', 'x-forwarded-for': forwarded } })

  test('is the socket’s, whatever the request says', async () => {
    const lab = await limitedLab({ config: { limitFactor: 0.001 } })
    expect((await lab.call('GET', path, from('192.0.2.1'))).status).toBe(401)
    expect((await lab.call('GET', path, from('192.0.2.2'))).status).toBe(429)
  })

  test('is what a trusted proxy says, and no more than that', async () => {
    const lab = await limitedLab({ config: { limitFactor: 0.001, trustedProxies: ['127.0.0.0/8'] } })
    expect((await lab.call('GET', path, from('192.0.2.1'))).status).toBe(401)
    expect((await lab.call('GET', path, from('192.0.2.2'))).status).toBe(401)
    // What stands before the address that the proxy added is the caller's own invention.
    expect((await lab.call('GET', path, from('203.0.113.9, 192.0.2.1'))).status).toBe(429)
  })
})

describe('credentials of their own', () => {
  const token = (id: string, secret: string, forwarded = '192.0.2.1') => ({
    body: `client_id=${id}&client_secret=${secret}`,
    headers: {
      authorization: undefined,
      'content-type': 'application/x-www-form-urlencoded',
      'x-forwarded-for': forwarded,
    },
  })
  const limits = { limitsOf: async () => ({ auth: { perToken: 3, perTenant: 5 } }) }
  const config = { limitFactor: 1, trustedProxies: ['127.0.0.0/8'] }

  test('count against client and tenant when right, and not against the address', async () => {
    const lab = await limitedLab({ ...limits, config })
    const statuses = []
    for (const client of ['a', 'a', 'a', 'a', 'b', 'b', 'b']) {
      statuses.push((await lab.call('POST', '/api/v1/oauth/token', token(client, 'right'))).status)
    }
    expect(statuses).toEqual([200, 200, 200, 429, 200, 200, 429])
  })

  test('count against address and client when wrong, and lock nobody out', async () => {
    const lab = await limitedLab({ config })
    const attempts = Array.from({ length: 25 }, () => lab.call('POST', '/api/v1/oauth/token', token('a', 'wrong')))
    const statuses = (await Promise.all(attempts)).map((answer) => answer.status).sort()
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(15).fill(429)])
    const last = await lab.call('POST', '/api/v1/oauth/token', token('a', 'wrong'))
    expect([last.status, last.body.error, Number(last.headers.get('retry-after'))]).toEqual([
      429,
      'temporarily_unavailable',
      60,
    ])
    expect(last.headers.get('ratelimit-policy')).toBe('"address";q=10;w=60')
    expect((await lab.call('POST', '/api/v1/oauth/token', token('a', 'wrong', '192.0.2.9'))).status).toBe(401)
    expect((await lab.call('POST', '/api/v1/oauth/token', token('b', 'wrong'))).status).toBe(401)
    for (const client of ['a', 'b']) {
      expect((await lab.call('POST', '/api/v1/oauth/token', token(client, 'right'))).status).toBe(200)
    }
  })

  test('count against the address over all client ids', async () => {
    const lab = await limitedLab({ config })
    const guess = (index: number) => lab.call('POST', '/api/v1/oauth/token', token(`client${index}`, 'wrong'))
    const answers = await Promise.all(Array.from({ length: 110 }, (_, index) => guess(index)))
    const refused = answers.filter((answer) => answer.status === 429)
    expect(refused).toHaveLength(10)
    expect(refused[0]?.headers.get('ratelimit-policy')).toBe('"address";q=100;w=60')
    expect((await lab.call('POST', '/api/v1/oauth/token', token('client0', 'right'))).status).toBe(200)
  })
})
