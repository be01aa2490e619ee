import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'

const ui = 'https://app.example.com'
const api = 'https://hub.example.com'
const settings = { HUB_ENV: 'staging', HUB_BASE_URL: api, HUB_BROWSER_URL: ui }

let hub: TestHub
beforeAll(async () => {
  hub = await startHub({ settings })
  const own = {
    slug: 'customer',
    mode: 'C' as const,
    adminEmail: 'a@customer.example',
    baseUrl: 'https://c.example.org',
  }
  await hub.modules.tenants.administration.create(own, { operator: 'test' })
})
afterAll(() => hub.stop())

type Method = 'GET' | 'POST' | 'OPTIONS'

function ask(from: TestHub, method: Method, url: string, headers: Record<string, string> = {}) {
  return from.app.inject({ method, url, headers: { host: 'hub.example.com', ...headers } })
}

const corsHeaders = (headers: object) => Object.keys(headers).filter((name) => name.startsWith('access-control-'))

describe('calls of its pages', () => {
  test('are announced by a preflight, which needs no credential', async () => {
    const { statusCode, headers, payload } = await ask(hub, 'OPTIONS', '/api/v1/hub/records', {
      origin: ui,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-service-tenant',
    })
    expect([statusCode, payload]).toEqual([204, ''])
    expect(headers).toMatchObject({
      'access-control-allow-origin': ui,
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers':
        'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Service-Request-ID, X-Service-Tenant',
      'access-control-max-age': '600',
      vary: 'Origin',
      'x-content-type-options': 'nosniff',
      'x-service-request-id': expect.any(String),
    })
  })

  test.each([
    ['a good one', 200, '/v1/health', {}],
    ['without a token', 401, '/api/v1/hub/records', {}],
    ['to nowhere', 404, '/api/v1/none', {}],
    ['of another version', 406, '/v1/health', { accept: 'application/vnd.service.v9+json' }],
  ])('%s can be read, with the headers that the UI needs', async (_name, status, path, more) => {
    const { statusCode, headers } = await ask(hub, 'GET', path, { origin: ui, ...more })
    expect(statusCode).toBe(status)
    expect(headers).toMatchObject({
      'access-control-allow-origin': ui,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': 'ETag, Location, RateLimit, RateLimit-Policy, Retry-After, X-Service-Request-ID',
    })
    expect(headers.vary).toContain('Origin')
  })

  test('that act with the session are let in', async () => {
    const headers = { origin: ui, 'sec-fetch-site': 'same-site' }
    const { statusCode } = await ask(hub, 'POST', '/api/v1/auth/token', headers)
    expect(statusCode).toBe(401)
  })

  test('read public keys, too, with their cookies along', async () => {
    const keys = await ask(hub, 'GET', '/.well-known/jwks.json', { origin: ui })
    expect([keys.statusCode, keys.headers['access-control-allow-origin']]).toEqual([200, ui])
    const others = await ask(hub, 'GET', '/.well-known/jwks.json', { origin: 'https://elsewhere.example' })
    expect(others.headers['access-control-allow-origin']).toBe('*')
    expect(others.headers).not.toHaveProperty('access-control-allow-credentials')
  })
})

describe('pages of any other origin are told nothing', () => {
  test.each([
    'https://evil.example',
    'https://app.example.com.evil.example',
    'https://app.example.com:8443',
    'http://app.example.com',
    'https://APP.example.com',
    'https://hub.example.com',
    'null',
    '',
  ])('%j', async (origin) => {
    const called = await ask(hub, 'GET', '/v1/health', { origin })
    expect([called.statusCode, corsHeaders(called.headers)]).toEqual([200, []])
    const preflight = await ask(hub, 'OPTIONS', '/v1/health', { origin, 'access-control-request-method': 'GET' })
    expect([preflight.statusCode, corsHeaders(preflight.headers)]).toEqual([405, []])
    expect([preflight.headers.allow, preflight.json().type]).toEqual([
      'GET, HEAD',
      `${hub.baseUrl}/errors/method-not-allowed`,
    ])
    expect((await ask(hub, 'OPTIONS', '/none', { origin })).statusCode).toBe(404)
  })

  test('nor is a program', async () => {
    const { headers } = await ask(hub, 'GET', '/v1/health')
    expect([corsHeaders(headers), headers.vary]).toEqual([[], 'Origin'])
  })
})

describe('the page', () => {
  test('says where the API is, and may call it', async () => {
    const { headers, payload } = await ask(hub, 'GET', '/records', { host: 'app.example.com' })
    expect(payload).toContain(`<meta name="hub-api" content="${hub.baseUrl}"></head>`)
    expect(headers['content-security-policy']).toContain(`connect-src 'self' ${hub.baseUrl};`)
  })

  test('of a tenant with an address of its own has its API there', async () => {
    const { headers, payload } = await ask(hub, 'GET', '/records', { host: 'c.example.org' })
    expect(payload).not.toContain('hub-api')
    expect(headers['content-security-policy']).toContain("connect-src 'self';")
  })
})

describe('signing in', () => {
  test.each(['/sign-in?tenant=acme&return_to=%2Frecords', '/session', '/sign-in'])(
    'is at the host of the API, where the cookies are: %s',
    async (path) => {
      const { statusCode, headers } = await ask(hub, 'GET', path, { host: 'app.example.com' })
      expect([statusCode, headers.location]).toEqual([302, `${hub.baseUrl}${path}`])
      expect((await ask(hub, 'GET', path)).statusCode).toBe(200)
    },
  )

  test('leads back to the UI, and to pages of the service where they are', async () => {
    const landing = async (query: string, host = 'hub.example.com') =>
      /id="landing" value="([^"]*)"/.exec((await ask(hub, 'GET', `/sign-in${query}`, { host })).payload)?.[1]
    expect(await landing('')).toBe(`${ui}/`)
    expect(await landing('?return_to=/records/x%3Fy=1')).toBe(`${ui}/records/x?y=1`)
    expect(await landing('?return_to=//evil.example')).toBe(`${ui}/`)
    expect(await landing('?return_to=/session')).toBe('/session')
    expect(await landing('?return_to=/records', 'c.example.org')).toBe('/records')
  })

  test('a link’s button may lead there', async () => {
    const { welcome } = await hub.modules.tenants.administration.welcomeLink('acme', { operator: 'test' })
    const path = `${new URL(welcome.url).pathname}?return_to=/governance`
    const page = await ask(hub, 'GET', path)
    expect(page.headers['content-security-policy']).toContain(`form-action 'self' ${ui};`)
    const { statusCode, headers } = await ask(hub, 'POST', path)
    expect([statusCode, headers.location]).toEqual([303, `${ui}/governance`])
  })
})

test('where both are one there is no CORS, and the page names no other host', async () => {
  const same = await startHub({ settings: { ...settings, HUB_BROWSER_URL: api } })
  try {
    for (const origin of [api, ui]) {
      const { headers } = await ask(same, 'GET', '/v1/health', { origin })
      expect([corsHeaders(headers), headers.vary]).toEqual([[], undefined])
      const preflight = await ask(same, 'OPTIONS', '/v1/health', { origin, 'access-control-request-method': 'GET' })
      expect([preflight.statusCode, corsHeaders(preflight.headers)]).toEqual([405, []])
    }
    expect((await ask(same, 'GET', '/')).payload).not.toContain('hub-api')
  } finally {
    await same.stop()
  }
})
