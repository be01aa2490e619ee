import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

test('needs neither token nor tenant, and says how to get one', async () => {
  const { status, headers, body } = await hub.call('acme', 'GET', '/v1/openapi.json', {
    token: null,
    headers: { 'x-service-tenant': undefined },
  })
  expect(status).toBe(200)
  expect(headers['content-type']).toMatch(/^application\/json/)
  expect(body.openapi).toBe('3.1.0')
  const { tokenUrl, scopes } = body.components.securitySchemes.serviceAccount.flows.clientCredentials
  expect(tokenUrl).toBe('/api/v1/oauth/token')
  expect(Object.keys(scopes)).toContain('telemetry:write')
  expect(body.paths['/api/v1/hub/records'].post.responses['201']).toBeDefined()
})

test('is the same for every tenant, and names none', async () => {
  const [acme, globex, nobody] = [
    await hub.call('acme', 'GET', '/v1/openapi.json'),
    await hub.call('globex', 'GET', '/v1/openapi.json'),
    await hub.call('acme', 'GET', '/v1/openapi.json', { token: 'nonsense' }),
  ]
  expect(new Set([acme.text, globex.text, nobody.text]).size).toBe(1)
  expect(acme.text).not.toContain('globex')
})

test('takes no parameter and no other method', async () => {
  expect((await hub.call('acme', 'GET', '/v1/openapi.json?version=2')).status).toBe(400)
  expect((await hub.call('acme', 'POST', '/v1/openapi.json')).status).toBe(405)
})
