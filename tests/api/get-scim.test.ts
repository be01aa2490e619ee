import { afterAll, beforeAll, expect, test } from 'vitest'
import { configurePath as path, type SyncLab, startSyncLab } from '../roster-sync/sync-lab.ts'

let lab: SyncLab
beforeAll(async () => {
  lab = await startSyncLab()
})
afterAll(() => lab.close())

test('what is configured, without the token; another tenant has nothing', async () => {
  await lab.connect('acme', [{ group: 'Analysts', archetype_id: 'analyst' }])
  const answer = await lab.hub.call('acme', 'GET', path)
  expect([answer.status, answer.body]).toMatchObject([200, { mode: 'pull', base_url: lab.source.baseUrl }])
  expect(answer.body).not.toHaveProperty('bearer_token')
  expect(answer.text).not.toContain(lab.source.token)
  const other = await lab.hub.call('globex', 'GET', path)
  expect([other.status, other.body.detail]).toEqual([404, expect.stringContaining(`POST ${path}`)])
})

test('when the directory called last', async () => {
  const beganMs = Date.now()
  await lab.hub.call('cmode', 'POST', path, { body: { mode: 'push' } })
  const cmode = await lab.hub.tenant('cmode')
  lab.hub.modules.scimAccess.connections.noteRequest(cmode)
  lab.hub.modules.scimAccess.connections.noteRequest(cmode)
  await lab.hub.modules.scimAccess.connections.settled()
  const { last_request_at: at } = (await lab.hub.call('cmode', 'GET', path)).body
  expect(Date.parse(at)).toBeGreaterThanOrEqual(beganMs)
  const { lastSynced } = lab.hub.modules.roster.sync
  expect(await lab.hub.test.database.withTenant('cmode', (tx) => lastSynced.lastSyncedAt(tx))).toBe(at)
})

test('refused: no token, too small a scope, another tenant, a parameter', async () => {
  expect((await lab.hub.call('acme', 'GET', path, { token: null })).status).toBe(401)
  for (const scopes of [['connector:admin'], ['roster:write'], ['roster:read']] as const)
    expect((await lab.hub.call('acme', 'GET', path, { scopes })).status).toBe(403)
  expect((await lab.hub.call('acme', 'GET', path, { headers: { 'x-service-tenant': 'globex' } })).status).toBe(403)
  expect((await lab.hub.call('acme', 'GET', `${path}?secret=1`)).status).toBe(400)
})
