import { afterAll, beforeAll, expect, test } from 'vitest'
import { addProvider, type Connection, person, send } from '../inbound/inbound-lab.ts'
import { configurePath, type SyncLab, startSyncLab } from '../roster-sync/sync-lab.ts'

const path = '/api/v1/identity/scim:rotate-inbound-secret'
let lab: SyncLab
let first: Connection
beforeAll(async () => {
  lab = await startSyncLab()
})
afterAll(() => lab.close())

const rotate = (options = {}) => lab.hub.call('acme', 'POST', path, options)
const isTaken = async (secret: string) =>
  (await send(lab.hub, { ...first, secret }, person('deactivated', { user_name: 'nobody' }))).status === 200

test('without SCIM there is no secret', async () => {
  const answer = await rotate()
  expect([answer.status, answer.body.detail]).toEqual([404, expect.stringContaining('scim/configure')])
})

test('a new secret; the one before stays good for a day, the one before that ends', async () => {
  first = await addProvider(lab.hub)
  const second = await rotate()
  expect([second.status, second.body]).toEqual([
    200,
    {
      connection_id: first.connectionId,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9]{44}$/),
      former_secret_until: expect.stringMatching(/\.\d{6}Z$/),
    },
  ])
  const hoursLeft = (Date.parse(second.body.former_secret_until) - Date.now()) / 3_600_000
  expect([hoursLeft > 23.9, hoursLeft <= 24]).toEqual([true, true])
  const third = await rotate()
  expect([await isTaken(first.secret), await isTaken(second.body.secret), await isTaken(third.body.secret)]).toEqual([
    false,
    true,
    true,
  ])
  const events = (await lab.events('acme', 'tenant.config_changed')).filter(
    ({ details }) => details.change === 'scim_inbound_secret_rotated',
  )
  expect(events).toMatchObject([
    {
      subject: `connection:${first.connectionId}`,
      details: { after: { former_secret_until: second.body.former_secret_until } },
    },
    { details: { after: { former_secret_until: third.body.former_secret_until } } },
  ])
  expect(JSON.stringify([events, lab.hub.logLines])).not.toMatch(/whsec_/)
  first = { ...first, secret: third.body.secret }
})

test('stays while the directory is connected in another way, and is taken then too', async () => {
  await lab.connect('acme')
  expect((await lab.hub.call('acme', 'GET', configurePath)).body.inbound).toEqual({ connection_id: first.connectionId })
  const { secret } = (await rotate()).body
  expect([await isTaken(first.secret), await isTaken(secret)]).toEqual([true, true])
})

test('a configuration of before there were secrets gets its first', async () => {
  const db = await lab.hub.superuserClient()
  for (const table of ['hub.inbound_secrets', 'hub.inbound_directory']) await db.query(`delete from ${table}`)
  expect(await isTaken(first.secret)).toBe(false)
  const answer = await rotate()
  expect(Object.keys(answer.body).sort()).toEqual(['connection_id', 'secret'])
  expect(await isTaken(answer.body.secret)).toBe(true)
})

test('refused: a body, no token, too small a scope, another tenant', async () => {
  expect((await rotate({ body: { a: 1 } })).status).toBe(400)
  expect((await rotate({ token: null })).status).toBe(401)
  expect((await rotate({ scopes: ['connector:admin'] })).status).toBe(403)
  expect((await rotate({ headers: { 'x-service-tenant': 'globex' } })).status).toBe(403)
  expect((await lab.hub.call('globex', 'POST', path)).status).toBe(404)
})
