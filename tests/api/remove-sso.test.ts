import { afterAll, beforeAll, expect, test } from 'vitest'
import { loginPath, type OidcLab, ssoPath, startOidcLab } from '../auth/oidc-lab.ts'

let lab: OidcLab
beforeAll(async () => {
  lab = await startOidcLab()
})
afterAll(() => lab.close())

const remove = (options = {}) => lab.hub.call('acme', 'DELETE', ssoPath, options)

test('refused: no token, too small a scope, another tenant', async () => {
  await lab.connect('acme')
  expect((await remove({ token: null })).status).toBe(401)
  expect((await remove({ scopes: ['roster:write'] })).status).toBe(403)
  expect((await remove({ headers: { 'x-service-tenant': 'globex' } })).status).toBe(403)
  expect((await lab.hub.call('globex', 'DELETE', ssoPath)).status).toBe(204)
  expect((await lab.hub.call('acme', 'GET', ssoPath)).status).toBe(200)
})

test('nobody signs in by the provider any more; people stay, and sessions go on', async () => {
  const { body: before } = await lab.connect('acme')
  const browser = lab.browser()
  expect((await browser.signIn('acme', 'kim')).status).toBe(303)
  expect((await remove()).status).toBe(204)
  expect((await lab.hub.call('acme', 'GET', ssoPath)).status).toBe(404)
  expect((await lab.browser().go(`${loginPath}?tenant=acme`)).status).not.toBe(302)
  expect((await browser.cookies()).service_session).toBeDefined()
  const users = await lab.hub.call('acme', 'GET', '/api/v1/roster/users?email=kim@acme.example')
  expect(users.body.items).toMatchObject([{ active: true }])
  const removed = (await lab.events('acme', 'tenant.config_changed')).filter(
    ({ details }) => details.change === 'sso_removed',
  )
  expect(removed).toMatchObject([
    { subject: `connection:${before.connection_id}`, details: { before: { issuer: before.issuer }, after: null } },
  ])
})

test('again it does nothing; configured again, it is another connection', async () => {
  expect((await remove()).status).toBe(204)
  const connections = (await lab.events('acme', 'connector.added')).map((event) => event.subject)
  const { body } = await lab.connect('acme')
  expect(connections).not.toContain(`connection:${body.connection_id}`)
  expect((await lab.browser().signIn('acme', 'kim')).status).toBe(303)
})
