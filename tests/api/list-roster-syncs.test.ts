import { afterAll, beforeAll, expect, test } from 'vitest'
import { configurePath, type SyncLab, startSyncLab, syncPath, syncsPath } from '../roster-sync/sync-lab.ts'

let lab: SyncLab
const ids: string[] = []
beforeAll(async () => {
  lab = await startSyncLab()
  await lab.hub.call('acme', 'POST', configurePath, { body: { mode: 'push' } })
  for (let round = 0; round < 3; round += 1) ids.unshift((await lab.sync('acme')).sync_id)
})
afterAll(() => lab.close())

const idsOf = (items: { sync_id: string }[]) => items.map((item) => item.sync_id)

test('the newest first, page by page', async () => {
  const all = await lab.hub.call('acme', 'GET', syncsPath)
  expect([all.status, idsOf(all.body.items), all.body.next_cursor]).toEqual([200, ids, null])
  const first = await lab.hub.call('acme', 'GET', `${syncsPath}?limit=2`)
  const second = await lab.hub.call('acme', 'GET', `${syncsPath}?limit=2&cursor=${first.body.next_cursor}`)
  expect([idsOf(first.body.items), idsOf(second.body.items), second.body.next_cursor]).toEqual([
    ids.slice(0, 2),
    ids.slice(2),
    null,
  ])
})

test('another tenant has none of them, and cannot use the cursor', async () => {
  expect((await lab.hub.call('globex', 'GET', syncsPath)).body).toEqual({ items: [], next_cursor: null })
  const { body } = await lab.hub.call('acme', 'GET', `${syncsPath}?limit=1`)
  const foreign = await lab.hub.call('globex', 'GET', `${syncsPath}?cursor=${body.next_cursor}`)
  expect([foreign.status, foreign.body.type]).toEqual([400, `${lab.hub.baseUrl}/errors/invalid-cursor`])
})

test('those that ended long ago are forgotten', async () => {
  const superuser = await lab.hub.superuserClient()
  await superuser.query(`update hub.roster_syncs set finished_at = now() - interval '31 days' where sync_id = $1`, [
    ids.at(-1),
  ])
  const [chore] = lab.hub.modules.roster.sync.chores
  expect(await lab.hub.test.database.withTenant('acme', (tx) => chore!.run(tx))).toBe(false)
  expect(idsOf((await lab.hub.call('acme', 'GET', syncsPath)).body.items)).toEqual(ids.slice(0, 2))
})

test('refused: no token, too small a scope, another tenant, bad parameters', async () => {
  for (const path of [syncsPath, syncPath]) {
    expect((await lab.hub.call('acme', 'GET', path, { token: null })).status).toBe(401)
    expect((await lab.hub.call('acme', 'GET', path, { scopes: ['roster:write'] })).status).toBe(403)
    expect((await lab.hub.call('acme', 'GET', path, { headers: { 'x-service-tenant': 'globex' } })).status).toBe(403)
    expect((await lab.hub.call('acme', 'GET', `${path}?colour=red`)).status).toBe(400)
  }
  for (const query of ['limit=0', 'limit=1001', 'limit=x', 'cursor=x'])
    expect((await lab.hub.call('acme', 'GET', `${syncsPath}?${query}`)).status).toBe(400)
})
