import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askedStatements } from '../auth/asked-statements.ts'
import { signIn } from '../auth/people.ts'
import { inLowForm } from '../auth/signature-forms.ts'
import { type Answer, startHub, type TestHub } from '../support/hub.ts'

/** The attacks on tokens of the threat list, by their numbers; the others are in attacks.test.ts. */

const records = '/api/v1/hub/records'
const productionSettings = {
  HUB_ENV: 'production',
  HUB_BASE_URL: 'https://hub.example',
  HUB_MASTER_KEY: Buffer.alloc(32, 'production').toString('base64'),
}
const queries: string[] = []
let hub: TestHub
beforeAll(async () => {
  hub = await startHub({ onQuery: (text) => queries.push(text) })
})
afterAll(() => hub.stop())

const slugOf = (answer: Answer) => String(answer.body?.type).split('/').at(-1)
const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())

/** Sends a token that must be refused, and in doing so must not touch the database. */
async function expectRefused(token: string, name: string): Promise<void> {
  // What was refused before is written beside.
  await hub.modules.denials.settled()
  const before = queries.length
  const answer = await hub.call('acme', 'GET', records, { token })
  expect([answer.status, slugOf(answer)], name).toEqual([401, 'authentication-failed'])
  expect(askedStatements(queries.slice(before)), name).toEqual([])
}

/** A token signed with the service's own key, but for what is changed. */
async function signed(claims: object, header: object = {}): Promise<string> {
  const key = hub.modules.keys.tokens.signingKey()
  const real = claimsOf(await hub.token('acme'))
  const token = await new SignJWT({ ...real, ...claims })
    .setProtectedHeader({ alg: key.algorithm, typ: 'at+jwt', kid: key.keyId, ...header })
    .sign(key.privateKey)
  return inLowForm(token)
}

describe('1 the tenant header swapped', () => {
  test('for a tenant of others, or one that does not exist, is the same 403, for accounts and for people', async () => {
    const { browser } = await signIn(hub, 'acme', { role: 'admin' })
    const tokens = [await hub.token('acme'), (await browser.token()).body.access_token as string]
    const answers = []
    for (const token of tokens) {
      for (const slug of ['globex', 'nowhere', 'ACME', '__proto__']) {
        const headers = { 'x-service-tenant': slug }
        const { status, body } = await hub.call('acme', 'GET', records, { token, headers })
        expect(body.tenant_slug).toBe(slug)
        const { instance, tenant_slug, ...rest } = body
        answers.push({ status, ...rest })
      }
    }
    expect(answers[0]).toMatchObject({ status: 403, type: `${hub.baseUrl}/errors/invalid-tenant` })
    for (const answer of answers) expect(answer).toEqual(answers[0])
  })
})

describe('2 a forged token', () => {
  test('the real one is taken, and so is one made here in the same way', async () => {
    expect((await hub.call('acme', 'GET', records)).status).toBe(200)
    expect((await hub.call('acme', 'GET', records, { token: await signed({}) })).status).toBe(200)
  })

  test.each(['none', 'None', 'NONE', 'nOnE', ''])('with alg %j is refused', async (alg) => {
    const [, claims, signature] = (await hub.token('acme')).split('.')
    const { keyId: kid } = hub.modules.keys.tokens.signingKey()
    const header = base64url({ alg, typ: 'at+jwt', kid })
    for (const end of ['', signature]) await expectRefused(`${header}.${claims}.${end}`, `alg ${alg}, signature ${end}`)
  })

  test('signed by HS256 with the public key as the secret is refused', async () => {
    const { publicKey, keyId: kid } = hub.modules.keys.tokens.signingKey()
    const [, claims] = (await hub.token('acme')).split('.')
    const jwk = publicKey.export({ format: 'jwk' })
    const secrets = [
      publicKey.export({ format: 'pem', type: 'spki' }),
      publicKey.export({ format: 'der', type: 'spki' }),
      JSON.stringify(jwk),
      Buffer.from(`${jwk.x}${jwk.y}`, 'base64url'),
      '',
    ]
    for (const secret of secrets) {
      const content = `${base64url({ alg: 'HS256', typ: 'at+jwt', kid })}.${claims}`
      await expectRefused(`${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`, 'HS256')
    }
  })

  test('signed by another key, or not at all, under the id of the real one is refused', async () => {
    const { keyId: kid } = hub.modules.keys.tokens.signingKey()
    const [, claims] = (await hub.token('acme')).split('.')
    const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    const forge = (alg: string, signer: (content: Buffer) => Buffer) => {
      const content = `${base64url({ alg, typ: 'at+jwt', kid })}.${claims}`
      return `${content}.${signer(Buffer.from(content)).toString('base64url')}`
    }
    await expectRefused(
      forge('ES256', (content) => sign('sha256', content, { key: ec, dsaEncoding: 'ieee-p1363' })),
      'other key',
    )
    await expectRefused(
      forge('RS256', (content) => sign('sha256', content, rsa)),
      'other algorithm',
    )
    // Signatures of zeros passed verifiers that did not look at their range (CVE-2022-21449).
    await expectRefused(
      forge('ES256', () => Buffer.alloc(64)),
      'zeros',
    )
    await expectRefused(
      forge('ES256', () => Buffer.alloc(0)),
      'empty',
    )
  })

  test('with other claims under the real signature is refused', async () => {
    const [header, claims, signature] = (await hub.token('acme', ['telemetry:read'])).split('.')
    const changed = { ...JSON.parse(Buffer.from(claims!, 'base64url').toString()), scope: 'hub:read', tenant: 'globex' }
    await expectRefused(`${header}.${base64url(changed)}.${signature}`, 'claims')
  })

  test.each<[string, object]>([
    ['expired', { exp: Math.floor(Date.now() / 1000) - 10 }],
    ['not valid yet', { nbf: Math.floor(Date.now() / 1000) + 60 }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['for another audience', { aud: 'https://evil.example' }],
    ['without an end', { exp: undefined }],
    ['without an id', { jti: undefined }],
    ['without a client', { client_id: undefined }],
    ['without scopes', { scope: undefined }],
    ['with a number for a client', { client_id: 7 }],
    ['with a list for scopes', { scope: ['hub:read'] }],
    ['of no tenant', { tenant: undefined }],
    ['of a client that is not its subject', { client_id: 'saSomebodyElse' }],
    ['of an account with a session', { sid: 'ses_1' }],
    ['of a person without a session', { sub: 'usr_1' }],
    ['without an epoch', { epoch: undefined }],
    ['with an epoch that is none', { epoch: '1' }],
    ['with an epoch below nothing', { epoch: -1 }],
    ['with an address for networks', { allowed_addresses: '127.0.0.1/32' }],
    ['with networks that are none', { allowed_addresses: ['everywhere'] }],
  ])('signed by the service itself but %s is refused', async (name, claims) => {
    await expectRefused(await signed(claims), name)
  })

  test('signed by the service itself but of an unknown tenant is refused', async () => {
    for (const slug of ['acme', 'globex'] as const) {
      const answer = await hub.call(slug, 'GET', records, { token: await signed({ tenant: 'nowhere' }) })
      expect([answer.status, slugOf(answer)]).toEqual([401, 'authentication-failed'])
    }
  })
})

describe('3 a token that says where its key is', () => {
  test('is refused without I/O, whatever its kid', async () => {
    const kids = [
      '../../../../etc/passwd',
      '/dev/null',
      "x' union select 'key",
      '\0',
      '',
      'a'.repeat(7000),
      '__proto__',
    ]
    for (const kid of [...kids, 7, null, ['x'], {}]) await expectRefused(await signed({}, { kid }), String(kid))
  })

  test('is refused, and nothing is fetched, though it is signed by the key it brings', async () => {
    let connections = 0
    const evil = createServer((_request, response) => response.end('{}')).on('connection', () => {
      connections += 1
    })
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(evil.address() as AddressInfo).port}/keys.json`
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const real = claimsOf(await hub.token('acme'))
    const { keyId } = hub.modules.keys.tokens.signingKey()
    const jwk = publicKey.export({ format: 'jwk' }) as Record<string, string>
    for (const header of [{ jku: url }, { x5u: url }, { jwk }, { x5c: [jwk.x as string] }]) {
      for (const kid of [keyId, url, 'unknown']) {
        const token = await new SignJWT(real)
          .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid, ...header })
          .sign(privateKey)
        await expectRefused(token, JSON.stringify(header))
        await expectRefused(await signed({}, { ...header }), `really signed, ${JSON.stringify(header)}`)
      }
    }
    await expectRefused(await signed({}, { crit: ['x-odd'], 'x-odd': 1 }).catch(() => 'no.such.token'), 'crit')
    await new Promise((resolve) => evil.close(resolve))
    expect(connections).toBe(0)
  })
})

// That there is no mock login in production is in tests/auth/mock-login.test.ts.
describe('4 a token after what it stands on has gone', () => {
  const untilRefused = async (token: string) => {
    for (;;) {
      const answer = await hub.call('acme', 'GET', records, { token })
      if (answer.status !== 200) return answer
    }
  }

  test.each(['service account', 'person', 'session'])('of a %s is 401', async (kind) => {
    let token: string
    if (kind === 'service account') {
      const scopes = ['hub:read'] as const
      token = await hub.token('acme', scopes)
      expect((await hub.call('acme', 'GET', records, { token })).status).toBe(200)
      const path = `/api/v1/service-accounts/${await hub.clientId('acme', scopes)}`
      expect((await hub.call('acme', 'DELETE', path)).status).toBe(200)
    } else {
      const { browser, user } = await signIn(hub, 'acme', { role: 'analyst' })
      token = (await browser.token()).body.access_token
      expect((await hub.call('acme', 'GET', records, { token })).status).toBe(200)
      const { status } =
        kind === 'person'
          ? await hub.call('acme', 'POST', `/api/v1/roster/users/${user.userId}:deactivate`)
          : await browser.call('POST', '/api/v1/auth/logout')
      expect(status).toBe(kind === 'person' ? 200 : 204)
    }
    // That no process lets it pass for longer than five seconds is in tests/auth/revocation.test.ts.
    const answer = await untilRefused(token)
    expect([answer.status, slugOf(answer)]).toEqual([401, 'authentication-failed'])
    expect(answer.body.detail).toContain('revoked')
  })
})

describe('5 a token of another kind', () => {
  test('is no access token, though the service itself signed it', async () => {
    for (const typ of ['refresh+jwt', 'session+jwt', 'JWT', 'AT+JWT', 'application/at+jwt', 'at+JWT2', undefined]) {
      await expectRefused(await signed({}, { typ }), String(typ))
    }
  })

  test('such as a refresh token or a session is 401', async () => {
    const { browser, session } = await signIn(hub, 'acme', { role: 'admin' })
    const { body } = await browser.token()
    expect((await hub.call('acme', 'GET', records, { token: body.access_token })).status).toBe(200)
    await expectRefused(body.refresh_token, 'refresh token')
    await expectRefused(session.sessionToken, 'session')
  })

  test('such as one of mock login is 401 in production, where there is no mock login', async () => {
    const body = { email: 'admin@acme.example', tenant: 'acme' }
    const mock = await hub.call('acme', 'POST', '/api/v1/auth/mock-login', { body, token: null })
    expect(mock.status).toBe(200)
    const production = await startHub({ settings: productionSettings })
    try {
      const answer = await production.call('acme', 'GET', records, { token: mock.body.access_token })
      expect([answer.status, slugOf(answer)]).toEqual([401, 'authentication-failed'])
      const login = await production.call('acme', 'POST', '/api/v1/auth/mock-login', { body, token: null })
      expect([login.status, slugOf(login)]).toEqual([404, 'not-found'])
    } finally {
      await production.stop()
    }
  })
})
