import { afterAll, beforeAll, expect, test } from 'vitest'
import { configurePath as path, type SyncLab, startSyncLab } from '../roster-sync/sync-lab.ts'
import { groupEntry, manyPeople } from '../support/scim-source.ts'

let lab: SyncLab
beforeAll(async () => {
  lab = await startSyncLab()
  lab.source.users = manyPeople(3)
  lab.source.groups = [groupEntry('Analysts', lab.source.users)]
})
afterAll(() => lab.close())

const remove = (options = {}) => lab.hub.call('acme', 'DELETE', path, options)

test('refused: no token, too small a scope, another tenant', async () => {
  await lab.connect('acme', [{ group: 'Analysts', archetype_id: 'analyst' }])
  expect((await remove({ token: null })).status).toBe(401)
  expect((await remove({ scopes: ['roster:write'] })).status).toBe(403)
  expect((await remove({ headers: { 'x-service-tenant': 'globex' } })).status).toBe(403)
  expect((await lab.hub.call('globex', 'DELETE', path)).status).toBe(204)
  expect((await lab.hub.call('acme', 'GET', path)).status).toBe(200)
})

test('ends the connection; people and archetypes stay; again it does nothing', async () => {
  await lab.sync('acme')
  const before = (await lab.hub.call('acme', 'GET', path)).body
  const people = await lab.users('acme')
  const answer = await remove()
  expect([answer.status, answer.text]).toEqual([204, ''])
  expect((await lab.hub.call('acme', 'GET', path)).status).toBe(404)
  expect(await lab.users('acme')).toEqual(people)
  expect((await remove()).status).toBe(204)
  const events = await lab.events('acme', 'tenant.config_changed')
  expect(events.filter(({ details }) => details.change === 'scim_removed')).toMatchObject([
    { subject: `connection:${before.connection_id}`, details: { before: { mode: 'pull' }, after: null } },
  ])
  await lab.connect('acme')
  expect((await lab.hub.call('acme', 'GET', path)).body.connection_id).not.toBe(before.connection_id)
  expect(await lab.events('acme', 'connector.added')).toHaveLength(2)
})

test('the token of a directory that pushes is good no longer', async () => {
  const { bearer_token: token } = (await lab.hub.call('acme', 'POST', path, { body: { mode: 'push' } })).body
  const acme = await lab.hub.tenant('acme')
  expect(await lab.hub.modules.scimAccess.connections.admits(acme, token)).toBeDefined()
  await remove()
  expect(await lab.hub.modules.scimAccess.connections.admits(acme, token)).toBeUndefined()
})
