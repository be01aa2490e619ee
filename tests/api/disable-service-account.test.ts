import { afterAll, beforeAll, expect, test } from 'vitest'
import { scopeNames } from '../../contract/scopes.ts'
import { type AuthHub, allRefused, commonRejections, startAuthHub } from '../auth/auth-hub.ts'

let hub: AuthHub
beforeAll(async () => {
  hub = await startAuthHub()
})
afterAll(() => hub.close())

async function newAccount() {
  const { client_id, client_secret } = await hub.account('acme', ['hub:read'])
  return { path: `/api/v1/service-accounts/${client_id}`, fields: { client_id, client_secret } }
}

test('an account that is disabled gets no token and loses those it has, for good', async () => {
  const { path, fields } = await newAccount()
  const token = (await hub.requestToken(fields)).body.access_token
  const use = async () => (await hub.call('acme', 'GET', '/api/v1/hub/records', { token })).status
  expect(await use()).toBe(200)

  const { status, body } = await hub.call('acme', 'DELETE', path)
  expect(status).toBe(200)
  expect(body).toMatchObject({ client_id: fields.client_id, disabled_at: expect.stringMatching(/Z$/) })
  expect(await use()).toBe(401)
  const refused = await hub.requestToken(fields)
  expect([refused.status, refused.body.error]).toEqual([401, 'invalid_client'])

  // Repeating it gives the same answer and tells nobody anew.
  expect((await hub.call('acme', 'DELETE', path)).body).toEqual(body)
  const events = (await hub.events('acme')).filter(({ details }) => details.change === 'service_account_disabled')
  expect(events).toEqual([
    expect.objectContaining({
      event_kind: 'tenant.config_changed',
      subject: `service_account:${fields.client_id}`,
      details: expect.objectContaining({
        before: { disabled_at: null },
        after: { disabled_at: body.disabled_at },
        actor: expect.any(String),
        request_id: expect.any(String),
      }),
    }),
  ])
})

test('one that is unknown or foreign is not found, in the same words, and stays', async () => {
  const { path, fields } = await newAccount()
  const foreign = await hub.call('globex', 'DELETE', path)
  const unknown = await hub.call('acme', 'DELETE', `${path}x`)
  for (const answer of [foreign, unknown]) {
    expect([answer.status, answer.body.type]).toEqual([404, `${hub.url}/errors/not-found`])
    expect(answer.body.detail).toBe(foreign.body.detail)
  }
  expect((await hub.requestToken(fields)).status).toBe(200)
})

test('a body or a parameter is refused', async () => {
  const { path } = await newAccount()
  const { status, body } = await hub.call('acme', 'DELETE', `${path}?for=good`)
  expect([status, body.errors[0].pointer]).toEqual([400, '/query/for'])
})

test('without token, scope or tenant it stays', async () => {
  const { path, fields } = await newAccount()
  const scopes = scopeNames.filter((scope) => scope !== 'hub:write')
  expect(await commonRejections(hub, 'DELETE', path, { scopes })).toEqual(allRefused)
  expect((await hub.requestToken(fields)).status).toBe(200)
})
