import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { ClientCredentials } from 'simple-oauth2'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceAccountCredentials } from '../../server/modules/auth/auth-types.ts'
import { type AuthHub, startAuthHub } from './auth-hub.ts'
import { callback, decide, requestOf } from './client-lab.ts'
import { signIn } from './people.ts'

let hub: AuthHub
let account: ServiceAccountCredentials
beforeAll(async () => {
  hub = await startAuthHub()
  account = await hub.account('acme', ['hub:read', 'telemetry:write'])
})
afterAll(() => hub.close())

/** The token opens the API. */
async function expectUsable(token: unknown): Promise<void> {
  expect(token).toEqual(expect.any(String))
  expect((await hub.call('acme', 'GET', '/api/v1/hub/records', { token: token as string })).status).toBe(200)
}

describe('oauth4webapi', () => {
  const insecure = { [oauth.allowInsecureRequests]: true }
  const methods = { post: oauth.ClientSecretPost, basic: oauth.ClientSecretBasic }

  async function grant(authenticate: oauth.ClientAuth, scope: string) {
    const issuer = new URL(hub.url)
    const discovered = await oauth.discoveryRequest(issuer, { ...insecure, algorithm: 'oauth2' })
    const server = await oauth.processDiscoveryResponse(issuer, discovered)
    const client = { client_id: account.client_id }
    const response = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      authenticate,
      new URLSearchParams({ scope }),
      insecure,
    )
    return oauth.processClientCredentialsResponse(server, client, response)
  }

  for (const [name, method] of Object.entries(methods)) {
    test(`discovers the service and gets a token by ${name}`, async () => {
      const result = await grant(method(account.client_secret), 'hub:read')
      expect(result).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'hub:read' })
      await expectUsable(result.access_token)
    })
  }

  test('reads the errors', async () => {
    await expect(grant(oauth.ClientSecretPost(account.client_secret), 'hub:purge')).rejects.toMatchObject({
      name: 'ResponseBodyError',
      status: 400,
      error: 'invalid_scope',
      error_description: expect.stringContaining('hub:purge'),
    })
    await expect(grant(oauth.ClientSecretPost('wrong'), 'hub:read')).rejects.toMatchObject({
      status: 401,
      error: 'invalid_client',
    })
    await expect(grant(oauth.ClientSecretBasic('wrong'), 'hub:read')).rejects.toMatchObject({
      name: 'WWWAuthenticateChallengeError',
      status: 401,
    })
  })
})

test('oauth4webapi registers a client, authorizes it by a person, and refreshes', async () => {
  const insecure = { [oauth.allowInsecureRequests]: true }
  const issuer = new URL(hub.url)
  const server = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { ...insecure, algorithm: 'oauth2' }),
  )
  const metadata = { client_name: 'Agent', redirect_uris: [callback], token_endpoint_auth_method: 'none' }
  const client = await oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(server, metadata, insecure),
  )
  const verifier = oauth.generateRandomCodeVerifier()
  const challenge = await oauth.calculatePKCECodeChallenge(verifier)
  const person = await signIn(hub.hub, 'acme', { role: 'analyst' })
  const request = requestOf(client.client_id, { verifier, challenge }, { resource: `${hub.url}/mcp` })
  const { headers } = await decide(person, request)
  const response = new URL(headers.get('location') ?? '')
  const params = oauth.validateAuthResponse(server, client, response, 'state-1')
  const first = await oauth.processAuthorizationCodeResponse(
    server,
    client,
    await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), params, callback, verifier, insecure),
  )
  await expectUsable(first.access_token)
  const next = await oauth.processRefreshTokenResponse(
    server,
    client,
    await oauth.refreshTokenGrantRequest(server, client, oauth.None(), String(first.refresh_token), insecure),
  )
  await expectUsable(next.access_token)
  expect(next.refresh_token).not.toBe(first.refresh_token)
})

describe('openid-client', () => {
  const configure = (authenticate: openid.ClientAuth) =>
    openid.discovery(new URL(hub.url), account.client_id, undefined, authenticate, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    })
  const methods = { post: openid.ClientSecretPost, basic: openid.ClientSecretBasic }

  for (const [name, method] of Object.entries(methods)) {
    test(`gets a token by ${name}`, async () => {
      const configuration = await configure(method(account.client_secret))
      const result = await openid.clientCredentialsGrant(configuration, { scope: 'hub:read telemetry:write' })
      expect(result).toMatchObject({ token_type: 'bearer', scope: 'hub:read telemetry:write' })
      expect(result.expiresIn()).toBeGreaterThan(3590)
      await expectUsable(result.access_token)
    })
  }

  test('reads the errors', async () => {
    const configuration = await configure(openid.ClientSecretPost(account.client_secret))
    await expect(openid.clientCredentialsGrant(configuration, { scope: 'hub:purge' })).rejects.toMatchObject({
      error: 'invalid_scope',
      status: 400,
    })
  })
})

describe('simple-oauth2', () => {
  const clientBy = (authorizationMethod: 'body' | 'header', secret = account.client_secret) =>
    new ClientCredentials({
      client: { id: account.client_id, secret },
      auth: { tokenHost: hub.url, tokenPath: '/api/v1/oauth/token' },
      options: { authorizationMethod },
    })

  for (const method of ['body', 'header'] as const) {
    test(`gets a token by ${method}`, async () => {
      const { token } = await clientBy(method).getToken({ scope: ['hub:read'] })
      expect(token).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'hub:read' })
      await expectUsable(token.access_token)
    })

    test(`reads the errors by ${method}`, async () => {
      await expect(clientBy(method, 'wrong').getToken({})).rejects.toMatchObject({
        output: { statusCode: 401 },
        data: { payload: { error: 'invalid_client', error_description: expect.any(String) } },
      })
    })
  }
})
