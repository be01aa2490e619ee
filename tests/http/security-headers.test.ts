import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../contract/operations.ts'
import { formerPages, webPages } from '../../contract/web-paths.ts'
import { startHub, type TestHub } from '../support/hub.ts'

/** As outside development, where everything is reached by https. */
let hub: TestHub
beforeAll(async () => {
  hub = await startHub({ settings: { HUB_ENV: 'staging', HUB_BASE_URL: 'https://hub.example.com' } })
})
afterAll(() => hub.stop())

const watched = [
  'cache-control',
  'content-security-policy',
  'x-content-type-options',
  'referrer-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'permissions-policy',
  'strict-transport-security',
  'access-control-allow-origin',
] as const

type Headers = Partial<Record<(typeof watched)[number], string>>

const everywhere: Headers = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), usb=()',
  'strict-transport-security': 'max-age=31536000',
}

const pagePolicy = (script: string, formAction: string) =>
  `default-src 'none'; style-src 'sha256-#'; ${script}base-uri 'none'; form-action ${formAction}; ` +
  "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

const plainPage: Headers = {
  ...everywhere,
  'cache-control': 'no-cache',
  'content-security-policy': pagePolicy('', "'none'"),
}
const pageWithScript: Headers = {
  ...plainPage,
  'content-security-policy': pagePolicy("script-src 'sha256-#'; connect-src 'self'; ", "'none'"),
  'referrer-policy': 'strict-origin',
}
const secretPage: Headers = { ...plainPage, 'cache-control': 'no-store' }
const secretPageWithForm: Headers = {
  ...secretPage,
  'content-security-policy': pagePolicy("script-src 'sha256-#'; connect-src 'self'; ", "'self'"),
  'referrer-policy': 'strict-origin',
}
const publicDocument: Headers = {
  ...everywhere,
  'cache-control': 'public, max-age=60',
  'cross-origin-resource-policy': 'cross-origin',
  'access-control-allow-origin': '*',
}
const reference: Headers = {
  ...everywhere,
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}
const webPolicy = (style: string) =>
  `default-src 'none'; script-src 'self'; style-src ${style}; img-src 'self' data: blob:; font-src 'self'; ` +
  "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
const webPage: Headers = {
  ...everywhere,
  'cache-control': 'no-cache',
  'content-security-policy': webPolicy("'self' 'nonce-#'"),
  'referrer-policy': 'strict-origin',
}
const webFile: Headers = {
  ...everywhere,
  'cache-control': 'public, max-age=3600',
  'content-security-policy': webPolicy("'self'"),
}
const docsPage: Headers = {
  ...everywhere,
  'cache-control': 'no-cache',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'strict-origin',
}
const referenceFile: Headers = { ...reference, 'cache-control': 'public, max-age=0' }

/** Directories and exporters speak protocols of their own, each below one address. */
function protocolRoutes(route: string, address: string): Record<string, [address: string, headers: Headers]> {
  return Object.fromEntries(
    ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].flatMap((method) => [
      [`${method} ${route}`, [address, everywhere]],
      [`${method} ${route}*`, [`${address}/Users`, everywhere]],
    ]),
  )
}

/** What is no operation: an address that the route takes, and its headers. */
const beyondTheApi: Record<string, [address: string, headers: Headers]> = {
  ...Object.fromEntries(
    Object.values(webPages)
      .map((page) => page.replaceAll('$', ':'))
      .flatMap((path) => (path === '/' ? [path] : [path, `${path}/`]))
      .map((path) => [`GET ${path}`, [path, webPage]]),
  ),
  ...Object.fromEntries(Object.keys(formerPages).map((path) => [`GET ${path}`, [path, everywhere]])),
  'GET /icon.svg': ['/icon.svg', webFile],
  'GET /color-scheme.js': ['/color-scheme.js', webFile],
  'GET /docs': ['/docs', everywhere],
  'GET /docs*': ['/docs/', docsPage],
  // Of `/assets/*`. Those that there are have names that their contents make: see tests/web.
  'GET /*': ['/assets/none.js', everywhere],
  'GET /sign-in': ['/sign-in', pageWithScript],
  'GET /session': ['/session', pageWithScript],
  'GET /welcome/:tenant/:token': ['/welcome/acme/none', secretPage],
  'POST /welcome/:tenant/:token': ['/welcome/acme/none', secretPage],
  'GET /invitation/:tenant/:token': ['/invitation/acme/none', secretPage],
  'POST /invitation/:tenant/:token': ['/invitation/acme/none', secretPage],
  'GET /sign-in/link/:tenant/:token': ['/sign-in/link/acme/none', secretPage],
  'POST /sign-in/link/:tenant/:token': ['/sign-in/link/acme/none', secretPage],
  'GET /errors': ['/errors', plainPage],
  'GET /errors/': ['/errors/', everywhere],
  'GET /errors/:slug': ['/errors/not-found', plainPage],
  'GET /reference': ['/reference', reference],
  'GET /reference/': ['/reference/', reference],
  'GET /reference/json': ['/reference/json', reference],
  'GET /reference/yaml': ['/reference/yaml', reference],
  'GET /reference/static/theme/icon.svg': ['/reference/static/theme/icon.svg', reference],
  'GET /reference/static/index.html': ['/reference/static/index.html', reference],
  'GET /reference/static/swagger-initializer.js': ['/reference/static/swagger-initializer.js', reference],
  ...protocolRoutes('/scim/v2/:tenant', '/scim/v2/acme'),
  ...protocolRoutes('/api/v1/otlp', '/api/v1/otlp'),
  'GET /reference/*': ['/reference/static/swagger-ui.css', referenceFile],
}

/** Operations whose answer to everyone may be kept. Everything else is for the caller alone. */
const publicOperations: Record<string, Headers> = {
  getOpenApi: { ...everywhere, 'cache-control': 'public, max-age=60' },
  getTokenKeys: publicDocument,
  getProvenanceKeys: publicDocument,
  getOAuthMetadata: publicDocument,
  getProtectedResource: publicDocument,
  getMcpResource: publicDocument,
}

/** The watched headers of an answer; hashes in its policy are checked elsewhere and left out. */
async function headersOf(method: string, path: string, options: Parameters<TestHub['call']>[3] = {}) {
  const { headers, status } = await hub.call('acme', method, path, options)
  const found = watched.filter((name) => headers[name] !== undefined)
  const withoutHashes = (value: unknown) =>
    String(value)
      .replaceAll(/sha256-[A-Za-z0-9+/]{43}=/g, 'sha256-#')
      .replaceAll(/nonce-[A-Za-z0-9+/]{22}==/g, 'nonce-#')
  return { status, headers: Object.fromEntries(found.map((name) => [name, withoutHashes(headers[name])])) }
}

/** `GET /errors/:slug` and so on: every route that the router has, HEAD and OPTIONS aside. */
function routesOfTheRouter(): string[] {
  const parents: string[] = []
  return hub.app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const found = /^(.*)[├└]── (.*?)(?: \(([A-Z, ]+)\))?$/.exec(line)
      if (!found) return []
      const [, indent = '', part = '', methods = ''] = found
      const depth = indent.length / 4
      // Children of the root are printed without its slash.
      const path = depth === 1 ? `/${part}` : `${parents[depth - 1] ?? ''}${part}`
      parents[depth] = path
      return methods.split(', ').map((method) => `${method} ${path}`)
    })
    .filter((route) => /^(GET|POST|PUT|PATCH|DELETE) /.test(route))
}

test('the router has no other routes than the operations and those of this table', () => {
  const routes = routesOfTheRouter()
  const ofTheApi = routes.filter((route) => /^\w+ (\/api\/v1\/(?!otlp)|\/v1\/|\/\.well-known\/|\/mcp$)/.test(route))
  expect(ofTheApi.length).toBe(Object.keys(operations).length)
  expect([...hub.app.hubRoutes.keys()].sort()).toEqual(Object.keys(operations).sort())
  expect(routes.filter((route) => !ofTheApi.includes(route)).sort()).toEqual(Object.keys(beyondTheApi).sort())
})

describe('every answer outside the API has its headers', () => {
  test.each(Object.entries(beyondTheApi))('%s', async (route, [address, headers]) => {
    const answer = await headersOf(route.split(' ')[0] as string, address, {
      token: null,
      headers: { accept: 'text/html' },
    })
    expect(answer.headers).toEqual(headers)
  })

  test('a link that opens', async () => {
    const { url } = (await hub.modules.tenants.administration.welcomeLink('acme')).welcome
    const answer = await headersOf('GET', new URL(url).pathname, { token: null })
    expect(answer).toEqual({ status: 200, headers: secretPageWithForm })
  })

  test('a page about an error', async () => {
    const headers = { accept: 'text/html' }
    const answer = await headersOf('GET', '/api/v1/auth/callback?state=x', { token: null, headers })
    expect(answer).toEqual({ status: 400, headers: secretPage })
  })
})

test('every operation, to everyone and to an administrator, has its headers', async () => {
  for (const [id, { method, path }] of Object.entries(operations)) {
    const address = path.replaceAll(/\{[a-z_]+\}/g, '01890a5d-ac96-774b-bcce-b302099a8057')
    for (const options of [
      { token: null },
      { body: method === 'GET' ? undefined : {} },
      { headers: { accept: 'x/y' } },
    ]) {
      const { status, headers } = await headersOf(method, address, options)
      const expected = status === 200 ? (publicOperations[id] ?? everywhere) : everywhere
      expect([id, status, headers]).toEqual([id, status, expected])
    }
  }
})

test('so have tokens, and redirects that set cookies', async () => {
  const body = { email: 'lee@acme.example', tenant: 'acme' }
  expect(await headersOf('POST', '/api/v1/auth/mock-login', { token: null, body })).toEqual({
    status: 200,
    headers: everywhere,
  })
  const { url } = (await hub.modules.tenants.administration.welcomeLink('acme')).welcome
  expect(await headersOf('POST', new URL(url).pathname, { token: null })).toEqual({ status: 303, headers: everywhere })
})

test('so has what is no request of any route', async () => {
  const answers = [
    await headersOf('GET', '/nothing'),
    await headersOf('PUT', '/session'),
    await headersOf('GET', '/errors/%zz'),
    await headersOf('GET', '/nothing', { headers: { origin: 'https://evil.example' } }),
  ]
  expect(answers).toEqual([404, 405, 400, 404].map((status) => ({ status, headers: everywhere })))

  const socket = connect(Number(new URL(hub.app.listeningOrigin).port), '127.0.0.1')
  socket.end('NONSENSE\r\n\r\n')
  const lines = (await text(socket)).split('\r\n')
  for (const [name, value] of Object.entries(everywhere)) expect(lines).toContain(`${name}: ${value}`)
})

test('only on the own machine, in development, may there be plain http', async () => {
  const development = await startHub()
  const { headers } = await development.call('acme', 'GET', '/v1/health', { token: null })
  await development.stop()
  expect(headers['strict-transport-security']).toBeUndefined()
  expect(headers['content-security-policy']).toBe(everywhere['content-security-policy'])
})
