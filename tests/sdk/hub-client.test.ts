import { afterAll, beforeAll, expect, test } from 'vitest'
import { HubClient, HubProblem } from '../../sdk/hub-client.ts'
import { startHub, type TestHub } from '../support/hub.ts'

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
  expect(refused).toBeInstanceOf(HubProblem)
  expect(refused).toMatchObject({ status: 401, document: { error: 'invalid_client' } })
})
