import { hash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseKeyDocument } from '../../provenance/keys.ts'
import { type AuthHub, read, startAuthHub } from '../auth/auth-hub.ts'
import { operator } from '../auth/auth-lab.ts'

let hub: AuthHub
const path = '/.well-known/provenance-keys.json'
const get = async (headers: Record<string, string> = {}) => read(await fetch(`${hub.url}${path}`, { headers }))
beforeAll(async () => {
  hub = await startAuthHub()
})
afterAll(() => hub.close())

test('anyone may read every key, under names that tell no tenant', async () => {
  const { status, body } = await get()
  expect(status).toBe(200)
  const ring = parseKeyDocument(body, (bytes) => hash('sha256', bytes, 'buffer'))
  expect(ring.size).toBe(4)
  for (const tenant of ['acme', 'globex', 'bmode', 'cmode']) {
    expect(JSON.stringify(body)).not.toContain(tenant)
    const signer = await hub.hub.modules.keys.provenance.signerOf(tenant)
    expect(ring.get(signer.keyId)?.name).toBe(signer.logName)
  }
})

test('an entity tag spares the second reading, until a tenant is made', async () => {
  const first = await get()
  const etag = first.headers.get('etag') ?? ''
  expect(etag).toMatch(/^"[^"]+"$/)
  expect(first.headers.get('cache-control')).toContain('max-age')
  for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const again = await get({ 'if-none-match': condition })
    expect([again.status, again.body]).toEqual([304, ''])
  }
  expect((await get({ 'if-none-match': '"other"' })).status).toBe(200)

  await hub.hub.modules.tenants.administration.create(
    { slug: 'fresh', mode: 'A', adminEmail: 'a@fresh.example' },
    operator,
  )
  const second = await get({ 'if-none-match': etag })
  expect(second.status).toBe(200)
  expect(second.body.keys).toHaveLength(first.body.keys.length + 1)
})

test('a parameter is refused with a pointer', async () => {
  const { status, body } = await read(await fetch(`${hub.url}${path}?tenant=acme`))
  expect([status, body.errors[0].pointer]).toEqual([400, '/query/tenant'])
})
