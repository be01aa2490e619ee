import { afterAll, beforeAll, expect, test } from 'vitest'
import { configurePath, type SyncLab, startSyncLab } from '../roster-sync/sync-lab.ts'

const path = '/api/v1/identity/scim:rotate-token'
let lab: SyncLab
beforeAll(async () => {
  lab = await startSyncLab()
})
afterAll(() => lab.close())

const rotate = (options = {}) => lab.hub.call('acme', 'POST', path, options)
const admits = async (token: string) =>
  (await lab.hub.modules.scimAccess.connections.admits(await lab.hub.tenant('acme'), token)) !== undefined

test('without SCIM there is no token, and a directory that is read gives its own', async () => {
  expect((await rotate()).status).toBe(404)
  await lab.connect('acme')
  const answer = await rotate()
  expect([answer.status, answer.body.detail]).toEqual([409, expect.stringContaining('scim/configure')])
})

test('a new token; the one before stays good for a day, the one before that ends', async () => {
  const first = (await lab.hub.call('acme', 'POST', configurePath, { body: { mode: 'push' } })).body
  const second = await rotate()
  expect([second.status, second.body]).toMatchObject([
    200,
    { connection_id: first.connection_id, bearer_token: expect.stringMatching(/^scim[A-Za-z0-9]{44}$/) },
  ])
  const hoursLeft = (Date.parse(second.body.former_token_until) - Date.now()) / 3_600_000
  expect(hoursLeft).toBeGreaterThan(23.9)
  expect(hoursLeft).toBeLessThanOrEqual(24)
  expect(await admits(first.bearer_token)).toBe(true)
  expect(await admits(second.body.bearer_token)).toBe(true)
  const third = await rotate()
  expect(await Promise.all([first, second.body, third.body].map((each) => admits(each.bearer_token)))).toEqual([
    false,
    true,
    true,
  ])
  const superuser = await lab.hub.superuserClient()
  await superuser.query(`update hub.scim_configurations set former_token_until = now() - interval '1 second'`)
  await lab.hub.test.proveRows()
  // Another change lets this process look again.
  await lab.hub.call('acme', 'POST', configurePath, { body: { mode: 'push', group_archetype_map: [] } })
  const fourth = await rotate()
  await superuser.query(`update hub.scim_configurations set former_token_until = now() - interval '1 second'`)
  await lab.hub.test.proveRows()
  expect(await admits(fourth.body.bearer_token)).toBe(true)
  expect(await admits(third.body.bearer_token)).toBe(false)
  const events = (await lab.events('acme', 'tenant.config_changed')).filter(
    ({ details }) => details.change === 'scim_token_rotated',
  )
  expect(events).toHaveLength(3)
  expect(JSON.stringify([events, lab.hub.logLines])).not.toContain(third.body.bearer_token)
})

test('refused: a body, no token, too small a scope, another tenant', async () => {
  expect((await rotate({ body: { a: 1 } })).status).toBe(400)
  expect((await rotate({ token: null })).status).toBe(401)
  expect((await rotate({ scopes: ['connector:admin'] })).status).toBe(403)
  expect((await rotate({ headers: { 'x-service-tenant': 'globex' } })).status).toBe(403)
})
