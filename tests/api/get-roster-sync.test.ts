import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SyncLab, startSyncLab, syncsPath } from '../roster-sync/sync-lab.ts'
import { manyPeople } from '../support/scim-source.ts'

let lab: SyncLab
beforeAll(async () => {
  lab = await startSyncLab()
  lab.source.users = manyPeople(300)
  await lab.connect('acme')
})
afterAll(() => lab.close())

const get = (syncId: string, options = {}) => lab.hub.call('acme', 'GET', `${syncsPath}/${syncId}`, options)

test('shows how far it is while it runs, and what it did in the end', async () => {
  lab.source.pageMax = 50
  lab.source.faults.slowMs = 60
  const syncId = await lab.start('acme')
  const seen: number[] = []
  for (let answer = await get(syncId); answer.body.status !== 'completed'; answer = await get(syncId)) {
    expect(['queued', 'running']).toContain(answer.body.status)
    const { done, total = 300 } = answer.body.progress
    expect(done).toBeLessThanOrEqual(total)
    seen.push(done)
  }
  expect(new Set(seen).size).toBeGreaterThan(2)
  expect(seen).toEqual(seen.toSorted((a, b) => a - b))
  expect((await get(syncId)).body).toMatchObject({ added: 300, progress: { done: 300, total: 300 } })
})

test('refused: no token, too small a scope, another tenant, no such sync', async () => {
  const { sync_id: syncId } = await lab.sync('acme')
  expect((await get(syncId, { token: null })).status).toBe(401)
  expect((await get(syncId, { scopes: ['roster:write'] })).status).toBe(403)
  expect((await get(syncId, { headers: { 'x-service-tenant': 'globex' } })).status).toBe(403)
  const foreign = await lab.hub.call('globex', 'GET', `${syncsPath}/${syncId}`)
  const unknown = await lab.hub.call('globex', 'GET', `${syncsPath}/sync_nobody`)
  expect([foreign.status, foreign.body.detail]).toEqual([404, unknown.body.detail])
})
