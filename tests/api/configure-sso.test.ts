import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { client, type OidcLab, type SsoBody, ssoPath, startOidcLab } from '../auth/oidc-lab.ts'

let lab: OidcLab
beforeAll(async () => {
  lab = await startOidcLab()
})
afterAll(() => lab.close())
afterEach(() => {
  delete lab.provider.faults.discovery
  delete lab.provider.faults.status
})

type Tenant = 'acme' | 'globex' | 'cmode'

const bodyOf = (change: Partial<SsoBody> = {}): SsoBody => ({
  issuer: lab.provider.issuer,
  ...client,
  allowed_email_domains: ['acme.example'],
  ...change,
})
const configure = (tenant: Tenant, body: unknown, options = {}) =>
  lab.hub.call(tenant, 'POST', ssoPath, { body, ...options })
const stored = async (tenant: Tenant) => (await lab.hub.call(tenant, 'GET', ssoPath)).body
const changes = async (tenant: Tenant) =>
  (await lab.events(tenant)).filter(
    ({ event_kind, details }) =>
      event_kind === 'connector.added' || (event_kind === 'tenant.config_changed' && details.change === 'sso'),
  )

describe('configuring', () => {
  test('asks the provider, keeps the connection without showing the secret, and writes it down', async () => {
    const answer = await configure('acme', bodyOf())
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        connection_id: expect.stringMatching(/^sso_[A-Za-z0-9]{24}$/),
        issuer: lab.provider.issuer,
        client_id: client.client_id,
        allowed_email_domains: ['acme.example'],
        redirect_uri: `${lab.hub.baseUrl}/api/v1/auth/callback`,
        updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      },
    ])
    expect(lab.provider.requests).toEqual(['GET /.well-known/openid-configuration'])
    const [event, ...others] = await changes('acme')
    expect(others).toEqual([])
    expect(event).toMatchObject({
      event_kind: 'connector.added',
      subject: `connection:${answer.body.connection_id}`,
      details: {
        kind: 'scim_idp',
        connection_id: answer.body.connection_id,
        issuer: lab.provider.issuer,
        client_id: client.client_id,
        allowed_email_domains: ['acme.example'],
        actor: expect.any(String),
        address: '127.0.0.1',
      },
    })
  })

  test('the same again changes nothing and writes nothing', async () => {
    const before = [await stored('acme'), await changes('acme')]
    const again = await configure('acme', bodyOf({ allowed_email_domains: ['ACME.example', 'acme.example'] }))
    expect([again.status, again.body]).toEqual([200, before[0]])
    expect([await stored('acme'), await changes('acme')]).toEqual(before)
  })

  test('other domains or another secret change the connection', async () => {
    const before = await stored('acme')
    const domains = await configure('acme', bodyOf({ allowed_email_domains: ['zeta.example', 'Bücher.example'] }))
    const stays = { connection_id: before.connection_id, issuer: before.issuer }
    expect(domains.body).toMatchObject({ ...stays, allowed_email_domains: ['xn--bcher-kva.example', 'zeta.example'] })
    expect(domains.body.updated_at > before.updated_at).toBe(true)
    const secret = await configure('acme', {
      ...bodyOf(),
      allowed_email_domains: domains.body.allowed_email_domains,
      client_secret: 'newer',
    })
    expect(secret.body).toMatchObject(stays)
    const [, first, second, ...others] = await changes('acme')
    expect(others).toEqual([])
    expect(first).toMatchObject({
      event_kind: 'tenant.config_changed',
      subject: `connection:${before.connection_id}`,
      details: {
        before: { allowed_email_domains: ['acme.example'] },
        after: { allowed_email_domains: ['xn--bcher-kva.example', 'zeta.example'] },
        client_secret_changed: false,
      },
    })
    expect(second?.details.client_secret_changed).toBe(true)
    expect(JSON.stringify([first, second])).not.toMatch(/newer|a secret of the provider/)
  })

  test('another client id or issuer is another connection', async () => {
    const before = await stored('acme')
    const other = await configure('acme', bodyOf({ client_id: 'another-client' }))
    expect(other.body.connection_id).not.toBe(before.connection_id)
    const event = (await changes('acme')).at(-1)
    expect(event).toMatchObject({
      event_kind: 'connector.added',
      details: { connection_id: other.body.connection_id, replaces: before.connection_id },
    })
    const superuser = await lab.hub.superuserClient()
    const { rows } = await superuser.query(
      `select connection_id, replaced_at is null as current, client_secret_sealed from hub.sso_connections
       where tenant_id = 'acme' order by created_at`,
    )
    expect(rows.map((row) => [row.connection_id, row.current])).toEqual([
      [before.connection_id, false],
      [other.body.connection_id, true],
    ])
    for (const row of rows)
      expect(row.client_secret_sealed.toString('latin1')).not.toMatch(/newer|secret of the provider/)
  })

  test('ten at once leave one connection', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => configure('cmode', bodyOf())))
    expect(new Set(answers.map((answer) => answer.body.connection_id)).size).toBe(1)
    expect(await changes('cmode')).toHaveLength(1)
  })

  test('no secret gets into the log', () => {
    expect(lab.hub.logLines.join('\n')).not.toContain(client.client_secret)
  })
})

describe('refused for its shape', () => {
  test.each([
    ['no issuer', { issuer: undefined }, '/issuer'],
    ['no client id', { client_id: undefined }, '/client_id'],
    ['an empty secret', { client_secret: '' }, '/client_secret'],
    ['a secret with a line break', { client_secret: 'a\nb' }, '/client_secret'],
    ['no domains', { allowed_email_domains: undefined }, '/allowed_email_domains'],
    ['an empty list of domains', { allowed_email_domains: [] }, '/allowed_email_domains'],
    ['101 domains', { allowed_email_domains: Array(101).fill('a.example') }, '/allowed_email_domains'],
    [
      'an address for a domain',
      { allowed_email_domains: ['ok.example', 'kim@acme.example'] },
      '/allowed_email_domains/1',
    ],
    ['a domain with @', { allowed_email_domains: ['@acme.example'] }, '/allowed_email_domains/0'],
    ['a wildcard', { allowed_email_domains: ['*.acme.example'] }, '/allowed_email_domains/0'],
    ['a top level', { allowed_email_domains: ['example'] }, '/allowed_email_domains/0'],
    ['an IP address', { allowed_email_domains: ['10.0.0.1'] }, '/allowed_email_domains/0'],
    ['an unknown member', { colour: 'red' }, '/colour'],
    ['NUL in an issuer', { issuer: 'https://a.example\u0000' }, '/issuer'],
  ])('%s', async (_name, change, pointer) => {
    const answer = await configure('globex', { ...bodyOf(), ...change })
    expect([answer.status, answer.body.type]).toEqual([400, `${lab.hub.baseUrl}/errors/validation-failed`])
    expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer)
    expect((await stored('globex')).status).toBe(404)
  })
})

test('everything that is wrong is told at once, whatever finds it', async () => {
  const pointersOf = async (body: object) =>
    (await configure('globex', body)).body.errors.map((error: { pointer: string }) => error.pointer).sort()
  const faulty = { issuer: 'notaurl', client_id: '', allowed_email_domains: 'x', bad: 1 }
  expect(await pointersOf(faulty)).toEqual([
    '/allowed_email_domains',
    '/bad',
    '/client_id',
    '/client_secret',
    '/issuer',
  ])
  const domains = ['acme', 'acme.example', '', 'example']
  expect(await pointersOf({ ...bodyOf({ issuer: 'notaurl' }), allowed_email_domains: domains })).toEqual([
    '/allowed_email_domains/0',
    '/allowed_email_domains/2',
    '/allowed_email_domains/3',
    '/issuer',
  ])
})

test('a provider that publishes no keys yet is kept; the test of the connection and the health say so', async () => {
  lab.provider.faults.discovery = (document) => ({ ...document, jwks_uri: `${lab.provider.issuer}/no-keys` })
  expect((await configure('cmode', bodyOf())).status).toBe(200)
  const trial = await lab.hub.call('cmode', 'POST', '/api/v1/identity/sso:test')
  expect(trial.body.steps.find(({ ok }: { ok: boolean }) => !ok)).toMatchObject({
    name: 'keys',
    detail: expect.stringContaining('/no-keys: the document responded 404'),
  })
  const health = await lab.hub.call('cmode', 'GET', '/api/v1/observability/tenant-health')
  expect(health.body.checks.identity).toMatchObject({
    sso_configured: true,
    sso_healthy: false,
    detail: expect.stringContaining('/no-keys: the document responded 404'),
  })
})

describe('attacks 8 and 9: an issuer, or what it names, is inside', () => {
  test.each([
    'https://[::ffff:169.254.169.254]/',
    'http://169.254.169.254/latest/meta-data',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://10.0.0.1',
    'https://localhost:5432',
    'https://[64:ff9b::a9fe:a9fe]',
    'https://[fd00:ec2::254]',
    'https://hub:secret@login.acme.example',
    'file:///etc/passwd',
    'gopher://login.acme.example',
    'https:\\\\login.acme.example',
  ])('the issuer %s', async (issuer) => {
    const answer = await configure('globex', bodyOf({ issuer }))
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, '/issuer'])
    expect((await stored('globex')).status).toBe(404)
  })

  test.each([
    ['jwks_uri', 'http://169.254.169.254/keys', /link-local/],
    ['jwks_uri', 'http://[::1]:5432/', /loopback/],
    ['token_endpoint', 'https://10.1.2.3/token', /private/],
    ['token_endpoint', 'https://2886794753/token', /private/],
    ['userinfo_endpoint', 'https://[::ffff:10.0.0.1]/me', /private/],
    ['authorization_endpoint', 'https://localhost/auth', /this machine/],
    ['authorization_endpoint', 'javascript:alert(1)', /https/],
    ['token_endpoint', 'https://no-such-host.invalid/token', /resolve/],
    ['jwks_uri', 'https://no-such-host.invalid/jwks', /resolve/],
  ])('its %s is %s', async (member, url, words) => {
    lab.provider.faults.discovery = (document) => ({ ...document, [member]: url })
    const answer = await configure('globex', bodyOf())
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, '/issuer'])
    expect(answer.body.detail).toMatch(words)
    expect((await stored('globex')).status).toBe(404)
  })
})

describe('refused for what the provider answers, in words that say what was fetched', () => {
  const url = () => `${lab.provider.issuer}/.well-known/openid-configuration`

  test.each([
    ['another issuer', { issuer: 'https://evil.example' }, /has the issuer "https:\/\/evil\.example", which is not/],
    ['no issuer', { issuer: undefined }, /has the issuer nothing/],
    ['no token endpoint', { token_endpoint: undefined }, /has no token_endpoint/],
    ['no keys', { jwks_uri: 7 }, /has no jwks_uri/],
    ['no code flow', { response_types_supported: ['id_token'] }, /does not list code in response_types_supported/],
    ['no authorization code', { grant_types_supported: ['implicit'] }, /authorization_code/],
    ['no S256', { code_challenge_methods_supported: ['plain'] }, /S256/],
    ['no client secret', { token_endpoint_auth_methods_supported: ['private_key_jwt'] }, /client_secret_basic/],
    ['shared keys only', { id_token_signing_alg_values_supported: ['HS256', 'none'] }, /public-key algorithm/],
    ['a list that is none', { response_types_supported: 'code' }, /not a list/],
  ])('%s', async (_name, change, words) => {
    lab.provider.faults.discovery = (document) => JSON.parse(JSON.stringify({ ...document, ...change }))
    const answer = await configure('globex', bodyOf())
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, '/issuer'])
    expect(answer.body.detail).toMatch(words)
    expect(answer.body.detail).toContain(`GET ${url()}`)
    expect((await stored('globex')).status).toBe(404)
  })

  test('an issuer that differs by a slash, a case, a port', async () => {
    const { issuer } = lab.provider
    for (const other of [`${issuer}/`, issuer.replace('http:', 'HTTP:')]) {
      const answer = await configure('globex', bodyOf({ issuer: other }))
      expect([answer.status, answer.body.errors[0].detail]).toEqual([400, expect.stringContaining('byte for byte')])
    }
  })

  test('the address of the document in place of the issuer, a query, a fragment', async () => {
    for (const [issuer, words] of [
      [url(), /the issuer itself/],
      [`${lab.provider.issuer}?x`, /no query/],
      [`${lab.provider.issuer}#x`, /no fragment/],
    ] as const) {
      const answer = await configure('globex', bodyOf({ issuer }))
      expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(words)])
    }
  })

  test('a provider that lists no PKCE methods, as Entra ID, is one that takes them', async () => {
    lab.provider.faults.discovery = ({ code_challenge_methods_supported: _, ...document }) => document
    expect((await configure('acme', bodyOf())).status).toBe(200)
  })

  test('an answer other than 200', async () => {
    lab.provider.faults.status = 404
    const answer = await configure('globex', bodyOf())
    expect([answer.status, answer.body.detail]).toEqual([
      400,
      expect.stringContaining(`GET ${url()}: the document responded 404`),
    ])
  })

  test.each([
    ['a redirect', 302, { location: 'http://169.254.169.254/' }, '', /redirect/],
    ['what is not JSON', 200, {}, '<html>', /not JSON/],
    ['JSON that is no object', 200, {}, '[]', /has the issuer nothing|not a JSON object/],
    ['2 MiB', 200, {}, ' '.repeat(2 * 1024 * 1024), /more than 1048576 bytes/],
  ])('%s', async (_name, status, headers, text, words) => {
    const server: Server = createServer((_request, response) => void response.writeHead(status, headers).end(text))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const answer = await configure('globex', bodyOf({ issuer }))
      expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, '/issuer'])
      expect(answer.body.detail).toMatch(words)
    } finally {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  })

  test('a port where nobody listens', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    const answer = await configure('globex', bodyOf({ issuer: `http://127.0.0.1:${port}` }))
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringContaining('refuses the connection')])
  })
})

test('refused: no token, too small a scope, another tenant', async () => {
  const body = bodyOf()
  const refused = async (options: object) => (await configure('globex', body, options)).body.type.split('/').at(-1)
  expect(await refused({ token: null })).toBe('authentication-failed')
  expect(await refused({ scopes: ['connector:admin'] })).toBe('insufficient-scope')
  expect(await refused({ scopes: ['roster:write'] })).toBe('insufficient-scope')
  expect(await refused({ headers: { 'x-service-tenant': 'acme' } })).toBe('invalid-tenant')
  expect((await stored('globex')).status).toBe(404)
  expect((await configure('globex', body, { scopes: ['connector:admin', 'roster:write'] })).status).toBe(200)
})
