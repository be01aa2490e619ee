import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { connectorsPath, eventsOf, must, pushBody, startConnectorHub } from '../connectors/connector-lab.ts'
import type { TestHub } from '../support/hub.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'

let hub: TestHub
let path: string
let made = 0
beforeAll(async () => {
  hub = await startConnectorHub()
})
afterAll(() => hub.stop())
beforeEach(async () => {
  made += 1
  const body = pushBody('http://127.0.0.1:9/skills', { display_name: `Lab ${made}` })
  path = `${connectorsPath}/${(await must(hub, 'acme', 'POST', connectorsPath, { body })).body.connector_id}`
})

const update = (body: unknown) => hub.call('acme', 'PATCH', path, { body })

test('changes what is named, leaves the rest, and writes it down', async () => {
  const before = (await hub.call('acme', 'GET', path)).body
  const answer = await update({ display_name: 'Renamed', publish_url: 'http://127.0.0.1:9/other' })
  expect([answer.status, answer.body]).toEqual([
    200,
    { ...before, display_name: 'Renamed', publish_url: 'http://127.0.0.1:9/other', updated_at: expect.any(String) },
  ])
  const event = (await eventsOf(hub, 'acme', 'tenant.config_changed')).at(-1)
  expect(event).toMatchObject({
    subject: `connector:${before.connector_id}`,
    details: {
      before: { display_name: `Lab ${made}` },
      after: { display_name: 'Renamed' },
      credentials_changed: false,
    },
  })
})

test('the same, or nothing, changes nothing and writes nothing', async () => {
  const before = [(await hub.call('acme', 'GET', path)).body, await eventsOf(hub, 'acme', 'tenant.config_changed')]
  for (const body of [{}, { display_name: `Lab ${made}`, credentials: { bearer_token: 'a-secret-of-the-lab' } }]) {
    expect((await update(body)).status).toBe(200)
  }
  expect([(await hub.call('acme', 'GET', path)).body, await eventsOf(hub, 'acme', 'tenant.config_changed')]).toEqual(
    before,
  )
})

test('pull forgets the address, and push needs one', async () => {
  expect((await update({ delivery: 'pull' })).body).not.toHaveProperty('publish_url')
  const answer = await update({ delivery: 'push' })
  expect([answer.status, pointersOf(answer)]).toEqual([400, ['/publish_url']])
})

test('credentials go to the origin only that they were given for, by way of pull too', async () => {
  expect((await update({ delivery: 'pull' })).status).toBe(200)
  const elsewhere = { delivery: 'push', publish_url: 'http://127.0.0.1:10/skills' }
  const answer = await update(elsewhere)
  expect([answer.status, pointersOf(answer)]).toEqual([400, ['/credentials']])
  const back = await update({ delivery: 'push', publish_url: 'http://127.0.0.1:9/back' })
  expect([back.status, back.body.credentials]).toEqual([200, ['bearer_token']])
  expect((await update({ ...elsewhere, credentials: { bearer_token: 'a-secret-of-the-lab' } })).status).toBe(200)
  const home = await update({ publish_url: 'http://127.0.0.1:9/skills' })
  expect([home.status, pointersOf(home)]).toEqual([400, ['/credentials']])
})

test('credentials that were given with pull were given for no origin', async () => {
  await update({ delivery: 'pull', credentials: { api_key: 'of-nobody' } })
  const answer = await update({ delivery: 'push', publish_url: 'http://127.0.0.1:9/skills' })
  expect([answer.status, pointersOf(answer)]).toEqual([400, ['/credentials']])
})

test('the name of another is 409', async () => {
  const body = pushBody('http://127.0.0.1:9/skills', { display_name: `Taken ${made}` })
  await must(hub, 'acme', 'POST', connectorsPath, { body })
  const answer = await update({ display_name: `Taken ${made}` })
  expect([answer.status, slugOf(answer)]).toEqual([409, 'concurrent-modification'])
})

test.each<[string, object, string]>([
  ['an address inside', { publish_url: 'http://[::1]/', credentials: {} }, '/publish_url'],
  ['another origin without credentials', { publish_url: 'https://skills.example/' }, '/credentials'],
  ['another platform', { platform: 'claude' }, '/platform'],
  ['an empty name', { display_name: '' }, '/display_name'],
  ['null', { publish_url: null }, '/publish_url'],
])('%s is 400', async (_name, body, pointer) => {
  const answer = await update(body)
  expect([answer.status, pointersOf(answer)]).toEqual([400, [pointer]])
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'PATCH', path, body: { display_name: 'x' } }),
  wrongScopes: ['hub:write'],
  otherTenant: 404,
})
