import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OidcLab, ssoPath, startOidcLab } from '../auth/oidc-lab.ts'

let lab: OidcLab
beforeAll(async () => {
  lab = await startOidcLab()
})
afterAll(() => lab.close())

const get = (tenant: 'acme' | 'globex', options = {}) => lab.hub.call(tenant, 'GET', ssoPath, options)

test('what is configured, as configuring answered it, and without the secret', async () => {
  const configured = await lab.connect('acme')
  const answer = await get('acme')
  expect([answer.status, answer.body]).toEqual([200, configured.body])
  expect(answer.text).not.toContain('secret')
})

test('a tenant without single sign-on has nothing to show, whatever another has', async () => {
  await lab.connect('acme')
  const answer = await get('globex')
  expect([answer.status, answer.body.type]).toEqual([404, `${lab.hub.baseUrl}/errors/not-found`])
  expect(answer.body.detail).toContain('POST /api/v1/identity/sso/configure')
})

test('refused: no token, too small a scope, another tenant, an unknown parameter', async () => {
  expect((await get('acme', { token: null })).status).toBe(401)
  for (const scopes of [['connector:admin'], ['roster:write'], ['roster:read', 'hub:read']] as const)
    expect((await get('acme', { scopes })).body.type).toMatch(/insufficient-scope$/)
  expect((await get('acme', { scopes: ['connector:admin', 'roster:write'] })).status).toBe(200)
  expect((await get('acme', { headers: { 'x-service-tenant': 'globex' } })).body.type).toMatch(/invalid-tenant$/)
  expect((await lab.hub.call('acme', 'GET', `${ssoPath}?secret=1`)).status).toBe(400)
})
