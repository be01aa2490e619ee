import { createHmac, generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { askedStatements } from './asked-statements.ts'
import { inLowForm, twinOf, withUnusedBits } from './signature-forms.ts'

let hub: TestHub
let valid: string
/** Notes every request it gets: the Hub must make none. */
let trap: Server
let trapped = 0
const statements: string[] = []
beforeAll(async () => {
  hub = await startHub({ onQuery: (text) => statements.push(text) })
  valid = await hub.token('acme')
  trap = createServer((_request, response) => {
    trapped += 1
    response.end(JSON.stringify(hub.modules.keys.tokens.publicKeySet()))
  }).listen(0, '127.0.0.1')
})
afterAll(async () => {
  trap.close()
  await hub.stop()
})

const use = (token: string) => hub.call('acme', 'GET', '/api/v1/hub/records', { token })
const segment = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const payloadOf = (token: string): JWTPayload =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

/** A token by the service's own key, with other claims or header members. */
async function forge(claims: JWTPayload = {}, header: Partial<JWTHeaderParameters> = {}): Promise<string> {
  const key = hub.modules.keys.tokens.signingKey()
  const payload = Object.fromEntries(
    Object.entries({ ...payloadOf(valid), jti: randomUUID(), ...claims }).filter(([, value]) => value !== undefined),
  )
  const token = await new SignJWT(payload)
    .setProtectedHeader({ alg: key.algorithm, typ: 'at+jwt', kid: key.keyId, ...header })
    .sign(key.privateKey)
  return inLowForm(token)
}

async function expectRefused(token: string): Promise<void> {
  const { status, body, headers } = await use(token)
  expect([status, body.type]).toEqual([401, `${hub.baseUrl}/errors/authentication-failed`])
  expect(headers['www-authenticate']).toMatch(/^Bearer /)
}

test('the token that the attacks start from is good, and so is a forgery with nothing changed', async () => {
  expect((await use(valid)).status).toBe(200)
  expect((await use(await forge())).status).toBe(200)
})

test('a token is accepted in one form: neither its twin with the higher s nor other base64url of its signature', async () => {
  const tokens = await Promise.all(Array.from({ length: 8 }, () => hub.token('acme')))
  for (const token of [valid, ...tokens]) {
    expect((await use(token)).status).toBe(200)
    expect(twinOf(twinOf(token))).toBe(token)
    await expectRefused(twinOf(token))
    await expectRefused(withUnusedBits(token))
  }
})

describe('an algorithm of the attacker’s choice', () => {
  test('none', async () => {
    for (const alg of ['none', 'None', 'NONE', '']) {
      const head = segment({ alg, typ: 'at+jwt', kid: hub.modules.keys.tokens.signingKey().keyId })
      await expectRefused(`${head}.${segment(payloadOf(valid))}.`)
      await expectRefused(`${head}.${segment(payloadOf(valid))}.${valid.split('.')[2]}`)
    }
  })

  test('HS256 with the public key as the secret', async () => {
    const key = hub.modules.keys.tokens.signingKey()
    const secrets = [
      key.publicKey.export({ format: 'pem', type: 'spki' }),
      key.publicKey.export({ format: 'der', type: 'spki' }),
      JSON.stringify(hub.modules.keys.tokens.publicKeySet().keys[0]),
    ]
    for (const secret of secrets) {
      const signed = `${segment({ alg: 'HS256', typ: 'at+jwt', kid: key.keyId })}.${segment(payloadOf(valid))}`
      await expectRefused(`${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`)
    }
  })

  test('RS256 with a key of one’s own under the kid of the service', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const kid = hub.modules.keys.tokens.signingKey().keyId
    const token = await new SignJWT(payloadOf(valid))
      .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid })
      .sign(privateKey)
    await expectRefused(token)
  })
})

describe('a key of the attacker’s choice', () => {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signed = (header: Record<string, unknown>) =>
    new SignJWT(payloadOf(valid))
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', ...header } as JWTHeaderParameters)
      .sign(own.privateKey)

  test('named by path, SQL, address or object member is looked up nowhere', async () => {
    const kids = [
      '../../../../dev/null',
      '/etc/passwd',
      "' or '1'='1",
      "x'; select pg_sleep(10); --",
      'http://127.0.0.1/jwks',
      '__proto__',
      'constructor',
      'x'.repeat(5000),
      '',
    ]
    const tokens = await Promise.all([...kids, 7, null, ['a'], undefined].map((kid) => signed({ kid })))
    const before = statements.length
    for (const token of tokens) await expectRefused(token)
    expect(askedStatements(statements.slice(before))).toEqual([])
  })

  test('brought along in the header is neither used nor fetched', async () => {
    const { port } = trap.address() as AddressInfo
    const address = `http://127.0.0.1:${port}/keys.json`
    const { keyId } = hub.modules.keys.tokens.signingKey()
    const jwk = own.publicKey.export({ format: 'jwk' })
    for (const extra of [{ jku: address }, { x5u: address }, { jwk }, { x5c: ['MIIB'] }]) {
      await expectRefused(await signed(extra))
      await expectRefused(await signed({ ...extra, kid: keyId }))
      // Even where the signature is the service's own: no honest token has such a header.
      await expectRefused(await forge({}, extra as Partial<JWTHeaderParameters>))
    }
    expect(trapped).toBe(0)
  })
})

describe('a token for something else', () => {
  const now = Math.floor(Date.now() / 1000)
  test.each([
    ['an expired one', { exp: now - 60 }],
    ['one without end', { exp: undefined }],
    ['one of another issuer', { iss: 'https://elsewhere.example' }],
    ['one for another audience', { aud: 'https://elsewhere.example' }],
    ['one for several audiences', { aud: ['http://127.0.0.1', 'https://elsewhere.example'] }],
    ['one without an id', { jti: undefined }],
    ['one without a tenant', { tenant: undefined }],
    ['one of an unknown tenant', { tenant: 'nowhere' }],
    ['one whose tenant is no text', { tenant: { $gt: '' } }],
    ['one of an account in the name of another', { client_id: 'sa00000000000000000000000x' }],
    ['one that is not valid yet', { nbf: now + 600 }],
  ])('%s', async (_name, claims) => {
    await expectRefused(await forge(claims as JWTPayload))
  })

  test('one of another type', async () => {
    for (const typ of ['session+jwt', 'refresh+jwt', 'JWT', 'id+jwt', undefined]) {
      await expectRefused(await forge({}, { typ } as Partial<JWTHeaderParameters>))
    }
  })

  test('one with critical extensions', async () => {
    const token = await forge()
    const [, payload, signature] = token.split('.')
    const head = segment({ alg: 'ES256', typ: 'at+jwt', kid: 'x', crit: ['exp'], exp: now })
    await expectRefused(`${head}.${payload}.${signature}`)
  })
})

test('a token that is bound to networks is refused from anywhere else, each time it is looked at', async () => {
  const token = await forge({ allowed_addresses: ['203.0.113.0/24', '2001:db8::/32', '198.51.100.7/32'] })
  const from = (address: string) =>
    hub.modules.auth.access.authenticate(token, address).then(
      () => 'taken',
      (error: Error) => error.message,
    )
  const refusal = (address: string) =>
    `The bearer token cannot be used from ${address}. Its service account is restricted to other networks.`
  for (let time = 0; time < 2; time += 1) {
    for (const address of ['203.0.113.9', '::ffff:203.0.113.9', '2001:db8:1::1', '198.51.100.7']) {
      expect(await from(address), address).toBe('taken')
    }
    for (const address of ['203.0.114.9', '198.51.100.8', '2001:db9::1', '::1', 'gone', '']) {
      expect(await from(address)).toBe(refusal(address))
    }
  }
  const answer = await use(token)
  expect([answer.status, answer.body.detail]).toEqual([401, refusal('127.0.0.1')])
  expect((await use(await forge({ allowed_addresses: ['127.0.0.0/8'] }))).status).toBe(200)
  expect((await use(await forge({ allowed_addresses: [] }))).status).toBe(401)
})

test('what has expired, and what was revoked, is told apart, and from what never was a token', async () => {
  const detailOf = async (token: string) => (await use(token)).body.detail
  const expired = await forge({ exp: Math.floor(Date.now() / 1000) - 6 })
  expect(await detailOf(expired)).toBe('The bearer token has expired. Get a new one.')
  const revoked = await forge({ client_id: 'saRevoked', sub: 'saRevoked', epoch: 3 })
  expect((await use(revoked)).status).toBe(200)
  await hub.test.database.withTenant('acme', (tx) => hub.modules.revocations.revoke(tx, 'client:saRevoked', 4))
  expect(await detailOf(revoked)).toMatch(/^The bearer token was revoked: its service account/)
  expect((await use(await forge({ client_id: 'saRevoked', sub: 'saRevoked', epoch: 4 }))).status).toBe(200)
  // One text for whatever is no good token at all.
  const bad = [
    `${valid}x`,
    'a.b.c',
    await forge({ iss: 'https://elsewhere.example' }),
    await forge({ tenant: 'nowhere' }),
  ]
  const details = new Set(await Promise.all(bad.map(detailOf)))
  expect(details).toEqual(new Set(['The bearer token is not a valid access token of this service.']))
})

test('a changed token is refused, whatever of it was changed, and garbage too', async () => {
  const [head = '', , signature = ''] = valid.split('.')
  const admin = segment({ ...payloadOf(valid), scope: 'hub:purge' })
  await expectRefused(`${head}.${admin}.${signature}`)
  for (const text of ['x', 'a.b.c', '..', `${valid}.`, valid.slice(0, -4), `${valid}AAAA`, 'a'.repeat(12_000)]) {
    await expectRefused(text)
  }
})

test('the tenant header swapped for another tenant’s, or one that does not exist, gets the same answer', async () => {
  const answers = []
  for (const slug of ['globex', 'nowhere']) {
    const headers = { 'x-service-tenant': slug }
    const { status, body } = await hub.call('acme', 'GET', '/api/v1/hub/records', { token: valid, headers })
    answers.push({ status, ...body, instance: '', tenant_slug: '' })
  }
  expect(answers[0]).toMatchObject({ status: 403, type: `${hub.baseUrl}/errors/invalid-tenant` })
  expect(answers[0]).toEqual(answers[1])
})

test('line breaks and control characters in what a client sends reach no header and no log line', async () => {
  const evil = 'abc\r\nset-cookie: x=1\u001b[31m'
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: evil,
    client_secret: evil,
    scope: evil,
  })
  const response = await fetch(`${hub.baseUrl}/api/v1/oauth/token`, { method: 'POST', body: form })
  expect(response.status).toBe(401)
  expect(response.headers.get('set-cookie')).toBeNull()
  const basic = { authorization: `Basic ${Buffer.from(`${evil}:${evil}`).toString('base64')}` }
  const body = new URLSearchParams({ grant_type: 'client_credentials', scope: evil })
  expect((await fetch(`${hub.baseUrl}/api/v1/oauth/token`, { method: 'POST', headers: basic, body })).status).toBe(401)
  for (const line of hub.logLines) expect([...line.trimEnd()].filter((character) => character < ' ')).toEqual([])
})

test('no secret and no token is ever in the log', async () => {
  const tenant = await hub.tenant('acme')
  const account = await hub.modules.auth.serviceAccounts.create(
    tenant,
    { name: 'logged', scopes: ['hub:read'] },
    { operator: 'test' },
  )
  const { client_id, client_secret } = account
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const good = await fetch(`${hub.baseUrl}/api/v1/oauth/token`, { method: 'POST', body })
  const { access_token } = (await good.json()) as { access_token: string }
  await fetch(`${hub.baseUrl}/api/v1/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${client_id}:${client_secret}x`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  await use(access_token)
  await use(`${access_token}x`)
  const log = hub.logLines.join('\n')
  expect(log).not.toBe('')
  for (const secret of [client_secret, access_token, btoa(`${client_id}:${client_secret}x`)]) {
    expect(log).not.toContain(secret)
  }
})
