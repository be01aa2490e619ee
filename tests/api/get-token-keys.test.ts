import { createRemoteJWKSet, jwtVerify } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthHub, read, startAuthHub } from '../auth/auth-hub.ts'

let hub: AuthHub
const path = '/.well-known/jwks.json'
beforeAll(async () => {
  hub = await startAuthHub()
})
afterAll(() => hub.close())

test('anyone may read the public keys, and nothing but public keys', async () => {
  const { status, headers, body } = await read(await fetch(`${hub.url}${path}`))
  expect(status).toBe(200)
  expect(headers.get('cache-control')).toContain('max-age')
  expect(body.keys).toHaveLength(1)
  expect(Object.keys(body.keys[0]).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
})

test('a resource server verifies tokens with them', async () => {
  const token = await hub.hub.token('acme', ['hub:read'])
  const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(path, hub.url)), {
    typ: 'at+jwt',
    issuer: hub.url,
    audience: hub.url,
  })
  expect(payload.tenant).toBe('acme')
})

test('a parameter is refused with a pointer', async () => {
  const { status, body } = await read(await fetch(`${hub.url}${path}?kid=1`))
  expect([status, body.errors[0].pointer]).toEqual([400, '/query/kid'])
})
