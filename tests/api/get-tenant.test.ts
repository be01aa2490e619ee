import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'

let hub: AuthHub
beforeAll(async () => {
  hub = await startAuthHub()
})
afterAll(() => hub.close())

const path = '/api/v1/tenant'
const scopes = ['connector:admin', 'roster:write'] as const

test('it shows the tenant’s own details, and never another one’s', async () => {
  for (const [tenant, mode] of [
    ['acme', 'A'],
    ['bmode', 'B'],
    ['cmode', 'C'],
  ] as const) {
    const { status, body } = await hub.call(tenant, 'GET', path, { scopes })
    expect([status, body]).toEqual([
      200,
      {
        tenant,
        mode,
        display_name: tenant,
        base_url: hub.url,
        admin_email: `admin@${tenant}.example`,
        search_language: 'simple',
        mail_server: false,
        created_at: expect.stringMatching(/\.\d{6}Z$/),
      },
    ])
  }
})

test('without token, scopes or tenant there is nothing to see', async () => {
  expect(await commonRejections(hub, 'GET', path, { scopes: ['connector:admin', 'hub:write'] })).toEqual(allRefused)
})

test('it takes no parameters', async () => {
  const { status, body } = await hub.call('acme', 'GET', `${path}?verbose=1`)
  expect([status, body.errors[0].pointer]).toEqual([400, '/query/verbose'])
})
