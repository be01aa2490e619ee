import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { client, type OidcLab, startOidcLab } from '../auth/oidc-lab.ts'

const path = '/api/v1/identity/sso:test'
let lab: OidcLab
beforeAll(async () => {
  lab = await startOidcLab()
  await lab.connect('acme')
})
afterAll(() => lab.close())
afterEach(() => {
  delete lab.provider.faults.discovery
  delete lab.provider.faults.status
  lab.provider.setSecret(client.client_id, client.client_secret)
})

const trial = (options = {}, tenant: 'acme' | 'globex' = 'acme') => lab.hub.call(tenant, 'POST', path, options)
type Step = { name: string; ok: boolean; detail: string }

test('a provider that works, step by step', async () => {
  const { status, body, text } = await trial()
  expect([status, body.ok]).toEqual([200, true])
  expect(body.steps.map((step: Step) => [step.name, step.ok])).toEqual([
    ['address', true],
    ['discovery', true],
    ['endpoints', true],
    ['keys', true],
    ['client', true],
  ])
  expect(body.steps.at(-1).detail).toBe('The provider knows the client and accepts its secret.')
  expect(text).not.toContain(client.client_secret)
})

test('a secret that the provider does not know', async () => {
  lab.provider.setSecret(client.client_id, 'changed since')
  const { body, text } = await trial()
  expect(body.ok).toBe(false)
  expect(body.steps.at(-1)).toMatchObject({
    name: 'client',
    ok: false,
    detail: expect.stringContaining('client_secret'),
  })
  expect(text).not.toMatch(/changed since|a secret of the provider/)
})

test.each([
  ['another issuer', { issuer: 'https://evil.example' }, 'discovery', /byte for byte/],
  ['an endpoint inside', { token_endpoint: 'http://10.0.0.1/token' }, 'discovery', /private address/],
  ['an endpoint that does not resolve', { token_endpoint: 'https://no-such-host.invalid/' }, 'endpoints', /resolve/],
  ['keys that are nowhere', { jwks_uri: 'http://127.0.0.1:1/' }, 'keys', /port that is not for HTTP/],
])('%s', async (_name, change, name, words) => {
  lab.provider.faults.discovery = (document) => ({ ...document, ...change })
  const { body } = await trial()
  const steps = body.steps as Step[]
  const at = steps.findIndex((step) => !step.ok)
  expect([body.ok, steps[at]?.name, steps[at]?.detail]).toEqual([false, name, expect.stringMatching(words)])
  expect(steps.slice(at + 1).map((step) => step.detail)).toEqual(
    steps.slice(at + 1).map(() => `Not tried, because ${name} failed.`),
  )
})

test('what health asks: healthy, broken, and never for long', async () => {
  const { ssoHealth } = lab.hub.modules.identity
  expect(await ssoHealth.of(await lab.hub.tenant('acme'))).toMatchObject({ configured: true, healthy: true })
  expect(await ssoHealth.of(await lab.hub.tenant('globex'))).toMatchObject({ configured: false, healthy: false })
  lab.provider.faults.status = 500
  await lab.connect('acme', { allowed_email_domains: ['other.example'] }).catch(() => {})
  expect(await ssoHealth.of(await lab.hub.tenant('acme'))).toMatchObject({ healthy: true })
  delete lab.provider.faults.status
  await lab.connect('acme', { allowed_email_domains: ['changed.example'] })
  lab.provider.faults.status = 500
  const broken = await ssoHealth.of(await lab.hub.tenant('acme'))
  expect(broken).toMatchObject({ configured: true, healthy: false, detail: expect.stringContaining('responded 500') })
})

test('refused: nothing to try, a body, no token, too small a scope, another tenant', async () => {
  expect((await trial({}, 'globex')).status).toBe(404)
  expect((await trial({ body: { a: 1 } })).status).toBe(400)
  expect((await trial({ token: null })).status).toBe(401)
  expect((await trial({ scopes: ['connector:admin'] })).status).toBe(403)
  expect((await trial({ headers: { 'x-service-tenant': 'globex' } })).status).toBe(403)
})
