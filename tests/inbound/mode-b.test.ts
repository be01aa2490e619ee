import { afterAll, beforeAll, expect, test } from 'vitest'
import { slugOf } from '../api/connector-cases.ts'
import { type ModeB, modeB } from '../cmek/mode-b-lab.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { type Connection, invoked, send } from './inbound-lab.ts'

const connectors = '/api/v1/llm/connectors'
let hub: TestHub
let b: ModeB
let platform: Connection
beforeAll(async () => {
  hub = await startHub()
  b = await modeB(hub, 'bmode')
  const { body } = await b.call('POST', connectors, { platform: 'slack', display_name: 'B', delivery: 'pull' })
  platform = { connectionId: body.connector_id, secret: body.inbound.secret }
  await b.call('PUT', '/api/v1/roster/archetypes', { archetypes: [{ archetype_id: 'analyst' }] })
})
afterAll(() => hub.stop())

const secretOf = async () =>
  (await b.call('POST', `${connectors}/${platform.connectionId}:rotate-inbound-secret`)).body.secret

test('events are taken once there is a key, and those that were refused before it may come again', async () => {
  const message = invoked({ skill_id: 'sum' })
  const early = await send(hub, platform, message)
  expect([early.status, slugOf(early)]).toEqual([422, 'hub-not-provisioned'])
  await b.ready()
  expect((await send(hub, platform, message)).body.status).toBe('accepted')
})

test('the secret goes with the key of the tenant, and another one can be made', async () => {
  const secret = await secretOf()
  expect((await send(hub, { ...platform, secret }, invoked({ skill_id: 'sum' }))).status).toBe(200)
  await b.call('POST', '/api/v1/hub/cmek:destroy', { confirm: 'bmode', reason: 'over' })
  await b.call('POST', '/api/v1/hub/provision', { cmek: { provider: 'local', key_ref: 'k2' } })
  const gone = await send(hub, { ...platform, secret }, '{}')
  expect([gone.status, slugOf(gone)]).toEqual([401, 'authentication-failed'])
  const next = await secretOf()
  expect((await send(hub, { ...platform, secret: next }, '{}')).status).toBe(400)
  expect((await send(hub, { ...platform, secret }, '{}')).status).toBe(401)
})
