import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'

let hub: AuthHub
beforeAll(async () => {
  hub = await startAuthHub()
})
afterAll(() => hub.close())

const path = '/api/v1/hub/provision'

test('it shows the tenant’s own provision, and never another one’s', async () => {
  const made = await hub.call('acme', 'POST', path, { body: { retention_days: 30 } })
  const scopes = ['connector:admin', 'hub:write'] as const
  expect((await hub.call('acme', 'GET', path, { scopes })).body).toEqual(made.body)
  expect((await hub.call('globex', 'GET', path, { scopes })).body).toEqual({
    tenant: 'globex',
    mode: 'A',
    provisioned: false,
  })
})

test('without token, scopes or tenant there is nothing to see', async () => {
  expect(await commonRejections(hub, 'GET', path, { scopes: ['hub:read', 'hub:write'] })).toEqual(allRefused)
})

test('it takes no parameters', async () => {
  const { status, body } = await hub.call('acme', 'GET', `${path}?verbose=1`)
  expect([status, body.errors[0].pointer]).toEqual([400, '/query/verbose'])
})
