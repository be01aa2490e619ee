import { afterAll, beforeAll, expect, test } from 'vitest'
import { groupEntry, manyPeople } from '../support/scim-source.ts'
import { configurePath, type SyncLab, startSyncLab, syncsPath } from './sync-lab.ts'
import { waitingSync } from './waiting-sync.ts'

let lab: SyncLab
beforeAll(async () => {
  lab = await startSyncLab()
  lab.source.users = manyPeople(300)
  lab.source.groups = [groupEntry('Analysts', lab.source.users)]
  await lab.connect('acme', [{ group: 'Analysts', archetype_id: 'analyst' }])
  await lab.sync('acme')
})
afterAll(() => lab.close())

const due = () =>
  lab.hub.modules.roster.sync.jobs
    .find(({ name }) => name === 'roster-syncs-due')
    ?.handler({ data: {}, signal: new AbortController().signal })
const latest = async () => (await lab.hub.call('acme', 'GET', `${syncsPath}?limit=1`)).body.items[0]
const age = async (minutes: number) => {
  const superuser = await lab.hub.superuserClient()
  await superuser.query(`update hub.roster_syncs set created_at = created_at - make_interval(mins => $1)`, [minutes])
}

test('another map assigns archetypes anew: the first people at once, the rest soon', async () => {
  await lab.hub.call('acme', 'PUT', '/api/v1/roster/archetypes', {
    body: { archetypes: [{ archetype_id: 'analyst' }, { archetype_id: 'writer' }] },
  })
  const pull = { mode: 'pull', base_url: lab.source.baseUrl, bearer_token: lab.source.token }
  const map = [{ group: 'Analysts', archetype_id: 'writer' }]
  await lab.hub.call('acme', 'POST', configurePath, { body: { ...pull, group_archetype_map: map } })
  expect((await lab.users('acme', '&archetype_id=writer')).length).toBeGreaterThanOrEqual(200)
  await expect.poll(async () => (await lab.users('acme', '&archetype_id=writer')).length).toBe(300)
  expect(await lab.users('acme', '&archetype_id=analyst')).toEqual([])
})

test('a directory that was read half an hour ago is read again by itself, and not before', async () => {
  const { sync_id: before } = await latest()
  await due()
  expect((await latest()).sync_id).toBe(before)
  await age(30)
  await due()
  const { sync_id: after, created_by } = await latest()
  expect([after === before, created_by]).toEqual([false, 'service:hub'])
  await lab.reaches('acme', after, 'completed')
  expect((await lab.hub.call('globex', 'GET', syncsPath)).body.items).toEqual([])
})

test('one that waits for somebody keeps the next away for a day, and lapses', async () => {
  const waiting = await waitingSync(lab.hub, 'acme')
  const superuser = await lab.hub.superuserClient()
  await superuser.query(`update hub.roster_syncs set created_at = now() where sync_id = $1`, [waiting])
  await age(60)
  await due()
  expect((await lab.hub.call('acme', 'GET', `${syncsPath}/${waiting}`)).body.status).toBe('awaiting_confirmation')
  await age(24 * 60)
  await due()
  expect((await lab.hub.call('acme', 'GET', `${syncsPath}/${waiting}`)).body.status).toBe('cancelled')
  await lab.reaches('acme', (await latest()).sync_id, 'completed')
})

test('somebody whom the directory has as inactive is deactivated, and reactivated with it', async () => {
  const [first, ...others] = manyPeople(300)
  lab.source.users = [{ ...first, active: false }, ...others]
  expect(await lab.sync('acme')).toMatchObject({ added: 0, updated: 0, deactivated: 1 })
  expect(await lab.users('acme', '&active=true')).toHaveLength(299)
  lab.source.users = manyPeople(300)
  expect(await lab.sync('acme')).toMatchObject({ updated: 1, deactivated: 0 })
})

test('when the directory was in step last', async () => {
  const { finished_at } = await latest()
  const { lastSynced } = lab.hub.modules.roster.sync
  const at = await lab.hub.test.database.withTenant('acme', (tx) => lastSynced.lastSyncedAt(tx))
  expect(at).toBe(finished_at)
  expect(await lab.hub.test.database.withTenant('globex', (tx) => lastSynced.lastSyncedAt(tx))).toBeUndefined()
})

test('a sync of a tenant that is suspended waits, and is not forgotten', async () => {
  const superuser = await lab.hub.superuserClient()
  const syncId = await waitingSync(lab.hub, 'cmode')
  await superuser.query(`update hub.roster_syncs set status = 'queued' where sync_id = $1`, [syncId])
  await superuser.query(`update hub.tenants set suspended_at = now() where slug = 'cmode'`)
  await expect.poll(() => lab.hub.modules.tenants.directory.find('cmode')).toBeUndefined()
  const job = lab.hub.modules.roster.sync.jobs.find(({ name }) => name === 'roster-sync')!
  await job.handler({ data: { tenant: 'cmode', sync_id: syncId }, signal: new AbortController().signal })
  const { rows } = await superuser.query(
    `select start_after > now() + interval '4 minutes' as later from hub_jobs.job where data ->> 'sync_id' = $1`,
    [syncId],
  )
  expect(rows).toEqual([{ later: true }])
  const state = await superuser.query('select status from hub.roster_syncs where sync_id = $1', [syncId])
  expect(state.rows).toEqual([{ status: 'queued' }])
})
