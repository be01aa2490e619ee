import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, startHub, type TestHub } from '../support/hub.ts'

/** The attacks on tokens of the threat list, by their numbers; the others are in attacks.test.ts. */

const records = '/api/v1/hub/records'
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
  const before = queries.length
  const answer = await hub.call('acme', 'GET', records, { token })
  expect([answer.status, slugOf(answer)], name).toEqual([401, 'authentication-failed'])
  expect(queries.slice(before), name).toEqual([])
}

/** A token signed with the service's own key, but for what is changed. */
async function signed(claims: object, header: object = {}): Promise<string> {
  const key = hub.modules.keys.tokens.signingKey()
  const real = claimsOf(await hub.token('acme'))
  return new SignJWT({ ...real, ...claims })
    .setProtectedHeader({ alg: key.algorithm, typ: 'at+jwt', kid: key.keyId, ...header })
    .sign(key.privateKey)
}

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
  ])('signed by the service itself but %s is refused', async (name, claims) => {
    await expectRefused(await signed(claims), name)
  })

  test.each<[string, object]>([
    ['of an unknown client', { client_id: 'saNobodyAtAll', sub: 'saNobodyAtAll' }],
    ['whose client belongs to another tenant', { tenant: 'globex' }],
    ['of an unknown tenant', { tenant: 'nowhere' }],
    ['whose client is SQL', { client_id: "x' or '1'='1" }],
  ])('signed by the service itself but %s is refused', async (_name, claims) => {
    for (const slug of ['acme', 'globex'] as const) {
      expect((await hub.call(slug, 'GET', records, { token: await signed(claims) })).status).toBe(401)
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
test('5 a token of another kind is no access token', async () => {
  for (const typ of ['refresh+jwt', 'session+jwt', 'JWT', 'at+JWT2', undefined]) {
    await expectRefused(await signed({}, { typ }), String(typ))
  }
})
