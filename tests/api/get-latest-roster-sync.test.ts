import { afterAll, beforeAll, expect, test } from 'vitest'
import { configurePath, type SyncLab, startSyncLab, syncPath } from '../roster-sync/sync-lab.ts'

let lab: SyncLab
beforeAll(async () => {
  lab = await startSyncLab()
  await lab.hub.call('acme', 'POST', configurePath, { body: { mode: 'push' } })
})
afterAll(() => lab.close())

test('the newest sync, and none before the first', async () => {
  const none = await lab.hub.call('acme', 'GET', syncPath)
  expect([none.status, none.body.detail]).toEqual([404, expect.stringContaining('POST /api/v1/roster/scim:sync')])
  await lab.sync('acme')
  const second = await lab.sync('acme')
  const latest = await lab.hub.call('acme', 'GET', syncPath)
  expect([latest.status, latest.body]).toEqual([200, second])
  expect((await lab.hub.call('globex', 'GET', syncPath)).status).toBe(404)
})

test('refused: no token, too small a scope, another tenant, a parameter', async () => {
  expect((await lab.hub.call('acme', 'GET', syncPath, { token: null })).status).toBe(401)
  expect((await lab.hub.call('acme', 'GET', syncPath, { scopes: ['roster:write'] })).status).toBe(403)
  expect((await lab.hub.call('acme', 'GET', syncPath, { headers: { 'x-service-tenant': 'globex' } })).status).toBe(403)
  expect((await lab.hub.call('acme', 'GET', `${syncPath}?a=b`)).status).toBe(400)
})
