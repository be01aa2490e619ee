import { afterAll, beforeAll, expect, test } from 'vitest'
import { scopeNames } from '../../contract/scopes.ts'
import { type AuthHub, read, startAuthHub } from '../auth/auth-hub.ts'
import { operator } from '../auth/auth-lab.ts'

let hub: AuthHub
const path = '/.well-known/oauth-authorization-server'
beforeAll(async () => {
  hub = await startAuthHub()
})
afterAll(() => hub.close())

test('clients find the endpoints and the keys', async () => {
  const { status, body } = await read(await fetch(`${hub.url}${path}`))
  expect(status).toBe(200)
  expect(body).toEqual({
    issuer: hub.url,
    authorization_endpoint: `${hub.url}/api/v1/oauth/authorize`,
    token_endpoint: `${hub.url}/api/v1/oauth/token`,
    registration_endpoint: `${hub.url}/api/v1/oauth/register`,
    jwks_uri: `${hub.url}/.well-known/jwks.json`,
    scopes_supported: scopeNames,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['client_credentials', 'authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${hub.url}/`,
  })
})

test('a Mode C tenant with an address of its own is the issuer there', async () => {
  const port = new URL(hub.url).port
  const baseUrl = `http://localhost:${port}`
  const tenant = { slug: 'own-cloud', mode: 'C', adminEmail: 'a@own.example', baseUrl } as const
  await hub.hub.modules.tenants.administration.create(tenant, operator)
  const { body } = await read(await fetch(`${baseUrl}${path}`))
  expect(body.issuer).toBe(baseUrl)
  expect((await read(await fetch(`${hub.url}${path}`))).body.issuer).toBe(hub.url)
})

test('a parameter is refused with a pointer', async () => {
  const { status, body } = await read(await fetch(`${hub.url}${path}?x=1`))
  expect([status, body.errors[0].pointer]).toEqual([400, '/query/x'])
})
