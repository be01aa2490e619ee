import { afterAll, beforeAll, expect, test } from 'vitest'
import { HubClient, HubError } from '../../sdk/typescript/src/index.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { serve } from './stub-hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const accounts = '/api/v1/service-accounts'

async function newClient() {
  const { body } = await hub.call('acme', 'POST', accounts, {
    body: { name: 'client', scopes: ['hub:read', 'telemetry:read'] },
  })
  const { client_id: clientId, client_secret: clientSecret } = body
  return { clientId, client: new HubClient({ baseUrl: hub.baseUrl, tenant: 'acme', clientId, clientSecret }) }
}

test('gets another token when the one it has was revoked, and goes on', async () => {
  const { clientId, client } = await newClient()
  await client.get('/api/v1/hub/records')
  const { status } = await hub.call('acme', 'PATCH', `${accounts}/${clientId}`, { body: { scopes: ['hub:read'] } })
  expect(status).toBe(200)
  expect(await client.get('/api/v1/hub/records')).toHaveProperty('records')
})

test('says so when its account is disabled, after one further try', async () => {
  const { clientId, client } = await newClient()
  await client.get('/api/v1/hub/records')
  expect((await hub.call('acme', 'DELETE', `${accounts}/${clientId}`)).status).toBe(200)
  const refused = await client.get('/api/v1/hub/records').catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(HubError)
  expect(refused).toMatchObject({ status: 401, document: { error: 'invalid_client' } })
})

test('sends neither secret nor token to the target of a redirect', async () => {
  const paths: string[] = []
  let redirected = '/api/v1/oauth/token'
  const elsewhere = await serve((request, response) => {
    paths.push(`elsewhere ${request.url}`)
    response.end('{}')
  })
  const baseUrl = await serve((request, response) => {
    if (request.url === redirected) {
      paths.push(request.url)
      response.writeHead(307, { location: `${elsewhere}/stolen` }).end()
    } else response.end('{"access_token":"t","expires_in":600}')
  })
  const account = { baseUrl, tenant: 'acme', clientId: 'c', clientSecret: 's' }
  await expect(new HubClient(account).get('/x')).rejects.toThrow()
  redirected = '/x'
  const client = new HubClient(account)
  await expect(client.get('/x')).rejects.toThrow()
  await expect(client.fetch(`${baseUrl}/x`)).rejects.toThrow()
  expect(paths).toEqual(['/api/v1/oauth/token', '/x', '/x'])
})

test('calls at the same time share one request for a token, and the next one asks again after a failure', async () => {
  let tokens = 0
  const baseUrl = await serve((request, response) => {
    if (request.url !== '/api/v1/oauth/token') response.end('{"ok":true}')
    else if (++tokens === 1) response.writeHead(400).end('{}')
    else response.end('{"access_token":"t","expires_in":600}')
  })
  const client = new HubClient({ baseUrl, tenant: 'acme', clientId: 'c', clientSecret: 's' })
  const three = () => Promise.allSettled([client.get('/1'), client.get('/2'), client.fetch(`${baseUrl}/3`)])
  expect((await three()).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect((await three()).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
  expect(tokens).toBe(2)
})
