import { request } from 'node:http'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceAccountCredentials } from '../../server/modules/auth/auth-types.ts'
import { type AuthHub, startAuthHub } from './auth-hub.ts'
import { operator } from './auth-lab.ts'

const own = 'http://customer.localhost'
const host = 'customer.localhost'

let hub: AuthHub
let customer: ServiceAccountCredentials
let acme: ServiceAccountCredentials
beforeAll(async () => {
  hub = await startAuthHub()
  const wanted = { slug: 'customer', mode: 'C' as const, adminEmail: 'admin@customer.example', baseUrl: own }
  await hub.hub.modules.tenants.administration.create(wanted, operator)
  customer = await hub.account('customer')
  acme = await hub.account('acme')
})
afterAll(() => hub.close())

interface Sent {
  host: string
  method?: string
  headers?: Record<string, string>
  body?: string
}

/** A request that names any host; `fetch` always names the one it connects to. */
function ask(path: string, { host, method = 'GET', headers = {}, body = '' }: Sent) {
  const { port } = new URL(hub.url)
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request({ port, path, method, headers: { host, ...headers } }, (answer) => {
      let text = ''
      answer.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
    sent.on('error', reject).end(body)
  })
}

async function tokenAt(host: string, { client_id, client_secret }: ServiceAccountCredentials) {
  const { status, text } = await ask('/api/v1/oauth/token', {
    host,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }).toString(),
  })
  return { status, body: JSON.parse(text) }
}

async function recordsAt(host: string, tenant: string, token: string) {
  const headers = { authorization: `Bearer ${token}`, 'x-service-tenant': tenant }
  const { status, text } = await ask('/api/v1/hub/records', { host, headers })
  return { status, body: JSON.parse(text) }
}

test.each([host, 'CUSTOMER.localhost', 'customer.localhost:80'])('%s serves its tenant', async (name) => {
  const { status, body } = await tokenAt(name, customer)
  expect([status, decodeJwt(body.access_token).iss]).toEqual([200, own])
  expect((await recordsAt(name, 'customer', body.access_token)).status).toBe(200)
})

test('a tenant’s own address serves no other tenant', async () => {
  const refused = await tokenAt(host, acme)
  expect([refused.status, refused.body.error]).toEqual([401, 'invalid_client'])
  const common = new URL(hub.url).host
  const { body } = await tokenAt(common, acme)
  expect((await recordsAt(common, 'acme', body.access_token)).status).toBe(200)
  const foreign = await recordsAt(host, 'acme', body.access_token)
  expect(foreign).toMatchObject({ status: 403, body: { type: `${own}/errors/invalid-tenant`, tenant_slug: 'acme' } })
})

test('the common address does not serve a tenant that has its own', async () => {
  const common = new URL(hub.url).host
  const refused = await tokenAt(common, customer)
  const unknown = await tokenAt(common, { ...customer, client_id: 'svc_nobody' })
  expect([refused.status, refused.body.error]).toEqual([401, 'invalid_client'])
  expect({ ...refused.body, instance: 0 }).toEqual({ ...unknown.body, instance: 0 })
  const { body } = await tokenAt(host, customer)
  const foreign = await recordsAt(common, 'customer', body.access_token)
  const nowhere = await recordsAt(common, 'nowhere', body.access_token)
  expect([foreign.status, foreign.body.type]).toEqual([403, `${hub.url}/errors/invalid-tenant`])
  expect({ ...foreign.body, instance: 0, tenant_slug: 0 }).toEqual({ ...nowhere.body, instance: 0, tenant_slug: 0 })
})

test('its problems, its metadata and its links carry that address, before anyone has signed in too', async () => {
  expect(JSON.parse((await ask('/nowhere', { host })).text).type).toBe(`${own}/errors/not-found`)
  expect(JSON.parse((await ask('/api/v1/hub/records', { host })).text).type).toBe(`${own}/errors/authentication-failed`)
  const metadata = JSON.parse((await ask('/.well-known/oauth-authorization-server', { host })).text)
  expect(metadata).toMatchObject({ issuer: own, token_endpoint: `${own}/api/v1/oauth/token` })

  const link = async (slug: string) =>
    new URL((await hub.hub.modules.tenants.administration.welcomeLink(slug)).welcome.url)
  const mine = await link('customer')
  expect(mine.origin).toBe(own)
  expect((await ask(mine.pathname, { host })).status).toBe(200)
  expect((await ask((await link('acme')).pathname, { host })).status).toBe(404)
  expect((await ask(mine.pathname, { host: new URL(hub.url).host })).status).toBe(404)
})

test('at a host that nobody owns, the common address is meant', async () => {
  const metadata = JSON.parse((await ask('/.well-known/oauth-authorization-server', { host: 'a.localhost' })).text)
  expect(metadata.issuer).toBe(hub.url)
  expect((await tokenAt('a.localhost', acme)).status).toBe(200)
  expect((await ask('/v1/health', { host: 'localhost.evil.example' })).status).toBe(400)
})
