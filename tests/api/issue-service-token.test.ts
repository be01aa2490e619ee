import { request as httpRequest } from 'node:http'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceAccountCredentials } from '../../server/modules/auth/auth-types.ts'
import { type AuthHub, startAuthHub } from '../auth/auth-hub.ts'

const beganMs = Date.now()
let hub: AuthHub
let account: ServiceAccountCredentials
let credentials: { client_id: string; client_secret: string }
beforeAll(async () => {
  hub = await startAuthHub()
  account = await hub.account('acme', ['hub:read', 'telemetry:write'])
  credentials = { client_id: account.client_id, client_secret: account.client_secret }
})
afterAll(() => hub.close())

const basic = (id: string, secret: string) => ({ authorization: `Basic ${btoa(`${id}:${secret}`)}` })

describe('a token', () => {
  test('is what the interface says, and is kept nowhere', async () => {
    const { status, headers, body } = await hub.requestToken(credentials)
    expect(status).toBe(200)
    expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache'])
    expect(headers.get('www-authenticate')).toBeNull()
    expect(body).toEqual({
      access_token: expect.any(String),
      expires_in: 3600,
      token_type: 'Bearer',
      scope: 'hub:read telemetry:write',
    })
    const { alg, typ, kid } = decodeProtectedHeader(body.access_token)
    expect({ alg, typ, kid }).toEqual({
      alg: 'ES256',
      typ: 'at+jwt',
      kid: hub.hub.modules.keys.tokens.signingKey().keyId,
    })
    const claims = decodeJwt(body.access_token)
    expect(claims).toEqual({
      iss: hub.url,
      aud: hub.url,
      sub: account.client_id,
      client_id: account.client_id,
      tenant: 'acme',
      scope: 'hub:read telemetry:write',
      epoch: 1,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      iat: expect.any(Number),
      exp: (claims.iat ?? 0) + 3600,
    })
    expect(claims.iat).toBeGreaterThanOrEqual(Math.floor(beganMs / 1000))
    expect(claims.iat).toBeLessThanOrEqual(Date.now() / 1000)
  })

  test('comes by HTTP Basic too, with a subset of the scopes, and opens the API', async () => {
    const { body } = await hub.requestToken({ scope: 'hub:read' }, basic(account.client_id, account.client_secret))
    expect(body.scope).toBe('hub:read')
    expect((await hub.call('acme', 'GET', '/api/v1/hub/records', { token: body.access_token })).status).toBe(200)
    expect((await hub.call('acme', 'GET', '/api/v1/roster/archetypes', { token: body.access_token })).status).toBe(403)
  })

  test('has its scopes in the order asked for, each once', async () => {
    const scope = 'telemetry:write  hub:read telemetry:write'
    const { body } = await hub.requestToken({ ...credentials, scope })
    expect(body.scope).toBe('telemetry:write hub:read')
    expect(decodeJwt(body.access_token).scope).toBe('telemetry:write hub:read')
  })

  test('takes the tenant header of its own tenant', async () => {
    expect((await hub.requestToken(credentials, { 'x-service-tenant': 'acme' })).status).toBe(200)
  })

  test('notes when the account was used', async () => {
    const rows = await hub.hub.test.database.withTenant('acme', (tx) =>
      tx.db
        .selectFrom('hub.service_accounts')
        .select('last_used_at')
        .where('tenant_id', '=', 'acme')
        .where('client_id', '=', account.client_id)
        .execute(),
    )
    expect(Date.parse(rows[0]?.last_used_at ?? '')).toBeGreaterThanOrEqual(beganMs)
  })
})

describe('a refusal', () => {
  const expectProblem = (answer: Awaited<ReturnType<AuthHub['requestToken']>>, status: number, error: string) => {
    expect(answer.body).toMatchObject({
      status,
      error,
      error_description: expect.any(String),
      title: expect.any(String),
    })
    expect(answer.body.type).toMatch(/\/errors\/[a-z-]+$/)
    expect(answer.body.instance).toBe(answer.headers.get('x-service-request-id'))
    expect(answer.status).toBe(status)
  }

  test('is the same for an unknown client and for a wrong secret', async () => {
    const unknown = await hub.requestToken({ ...credentials, client_id: `${account.client_id}x` })
    const wrong = await hub.requestToken({ ...credentials, client_secret: `${account.client_secret}x` })
    for (const answer of [unknown, wrong]) {
      expectProblem(answer, 401, 'invalid_client')
      expect(answer.headers.get('www-authenticate')).toBeNull()
    }
    const { instance: _a, ...first } = unknown.body
    const { instance: _b, ...second } = wrong.body
    expect(first).toEqual(second)
  })

  test('challenges after Basic only', async () => {
    const answer = await hub.requestToken({}, basic(account.client_id, 'wrong'))
    expectProblem(answer, 401, 'invalid_client')
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm="[^"]+"$/)
    const both = await hub.requestToken(credentials, basic(account.client_id, account.client_secret))
    expectProblem(both, 400, 'invalid_request')
    expect(both.headers.get('www-authenticate')).toBeNull()
  })

  test('meets two Authorization headers, of which a proxy may have looked at the other', async () => {
    const { authorization } = basic(account.client_id, account.client_secret)
    const [status, challenge] = await new Promise<unknown[]>((resolve, reject) => {
      const headers = ['Host', 'localhost', 'Content-Type', 'application/x-www-form-urlencoded']
      for (const each of [authorization, 'Basic YTpi']) headers.push('Authorization', each)
      httpRequest(`${hub.url}/api/v1/oauth/token`, { method: 'POST', headers })
        .on('response', (answer) => resolve([answer.resume().statusCode, answer.headers['www-authenticate']]))
        .on('error', reject)
        .end('grant_type=client_credentials')
    })
    expect([status, challenge]).toEqual([401, 'Basic realm="Org-Memory Hub"'])
  })

  test('is plain JSON for whoever asks for that, and else a problem document', async () => {
    const type = async (accept?: string) => {
      const answer = await hub.requestToken({ ...credentials, scope: 'hub:purge' }, accept ? { accept } : {})
      expectProblem(answer, 400, 'invalid_scope')
      return answer.headers.get('content-type')
    }
    expect(await type('application/json')).toMatch(/^application\/json/)
    expect(await type('application/json, application/problem+json')).toMatch(/^application\/problem\+json/)
    expect(await type()).toMatch(/^application\/problem\+json/)
    expect(await type('*/*')).toMatch(/^application\/problem\+json/)
  })

  test.each([
    ['a scope that is not assigned', { scope: 'hub:read hub:write' }, 'invalid_scope'],
    ['a scope that does not exist', { scope: 'everything' }, 'invalid_scope'],
    ['another grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['no grant type', { grant_type: '' }, 'invalid_request'],
    ['no secret', { client_secret: '' }, 'invalid_request'],
  ])('names %s', async (_name, fields, error) => {
    expectProblem(await hub.requestToken({ ...credentials, ...fields }), 400, error)
  })

  test('names a repeated field', async () => {
    const body = `grant_type=client_credentials&client_id=a&client_id=b&client_secret=c`
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const response = await fetch(`${hub.url}/api/v1/oauth/token`, { method: 'POST', headers, body })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: 'invalid_request', errors: [{ pointer: '/client_id' }] })
  })

  test('of another or an unknown tenant is the same', async () => {
    const foreign = await hub.requestToken(credentials, { 'x-service-tenant': 'globex' })
    const unknown = await hub.requestToken(credentials, { 'x-service-tenant': 'nowhere' })
    for (const [answer, tenant_slug] of [
      [foreign, 'globex'],
      [unknown, 'nowhere'],
    ] as const) {
      expect(answer.status).toBe(403)
      expect(answer.body).toMatchObject({ tenant_slug, type: `${hub.url}/errors/invalid-tenant` })
    }
    expect(foreign.body.detail).toBe(unknown.body.detail)
  })

  test('of a body that is no form has the members of an OAuth error as well', async () => {
    const response = await fetch(`${hub.url}/api/v1/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ grant_type: 'client_credentials', ...credentials }),
    })
    expect(response.status).toBe(415)
    expect(await response.json()).toMatchObject({ error: 'invalid_request' })
  })
})

test('two secrets may be live at once, and one that has expired is not', async () => {
  const rotating = await hub.account('acme', ['hub:read'])
  const other = await hub.account('acme', ['hub:read'])
  const superuser = await hub.hub.test.superuserClient()
  // A stored hash is bound to its client: another client's secret does not become this one's by copying the row.
  await superuser.query(
    `insert into hub.service_account_secrets select tenant_id, $1, secret_hash, created_at
     from hub.service_account_secrets where client_id = $2`,
    [rotating.client_id, other.client_id],
  )
  await hub.hub.test.proveRows()
  const swapped = await hub.requestToken({ client_id: rotating.client_id, client_secret: other.client_secret })
  expect(swapped.status).toBe(401)
  expect(
    (await hub.requestToken({ client_id: rotating.client_id, client_secret: rotating.client_secret })).status,
  ).toBe(200)
  await superuser.query(
    `update hub.service_account_secrets set expires_at = now() - interval '1 second' where client_id = $1`,
    [rotating.client_id],
  )
  await hub.hub.test.proveRows()
  const attempt = async () =>
    (await hub.requestToken({ client_id: rotating.client_id, client_secret: rotating.client_secret })).status
  await expect.poll(attempt, { interval: 200 }).toBe(401)
})
