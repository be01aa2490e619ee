import { afterAll, beforeAll, expect, test } from 'vitest'
import { tokenOfPerson } from '../roster/roster-lab.ts'
import { groupEntry, manyPeople } from '../support/scim-source.ts'
import { type SyncLab, startSyncLab } from './sync-lab.ts'

let lab: SyncLab
beforeAll(async () => {
  lab = await startSyncLab()
  lab.source.users = manyPeople(30)
  lab.source.groups = [groupEntry('Everybody', lab.source.users)]
  await lab.connect('acme', [{ group: 'Everybody', archetype_id: 'analyst' }])
  await lab.sync('acme')
})
afterAll(() => lab.close())

const personAt = async (at: number) => {
  const users = await lab.users('acme', `&email=person-${at}@acme.example`)
  return users.find((user) => user.source === 'directory')!
}

test('who is absent is deactivated: their sessions end at once, their tokens within five seconds', async () => {
  const { user_id: userId } = await personAt(0)
  const token = await tokenOfPerson(lab.hub, 'acme', userId)
  const ask = async () => (await lab.hub.call('acme', 'GET', '/api/v1/telemetry/summary', { token })).status
  expect(await ask()).toBe(200)
  lab.source.users = lab.source.users.slice(1)
  expect(await lab.sync('acme')).toMatchObject({ deactivated: 1 })
  expect(await ask()).toBe(401)
  const superuser = await lab.hub.superuserClient()
  const { rows } = await superuser.query('select ended_at from hub.sessions where user_id = $1', [userId])
  expect(rows).toEqual([{ ended_at: expect.anything() }])
})

test('the last administrator who is absent stays active, and is named', async () => {
  const { user_id: userId } = await personAt(1)
  const superuser = await lab.hub.superuserClient()
  await superuser.query(`update hub.users set role = 'member' where tenant_id = 'acme' and role = 'admin'`)
  await superuser.query(`update hub.users set role = 'admin' where tenant_id = 'acme' and user_id = $1`, [userId])
  await lab.hub.test.proveRows()
  lab.source.users = lab.source.users.filter(({ id }) => id !== lab.source.users[0]!.id)
  const answer = await lab.sync('acme')
  expect(answer).toMatchObject({ deactivated: 0, kept_active: [userId] })
  expect((await personAt(1)).active).toBe(true)
  const events = await lab.events('acme', 'roster.scim_sync_completed')
  expect(events.at(-1)!.details).toMatchObject({ sync_id: answer.sync_id, kept_active: [userId] })
  // Until somebody makes another, each sync says so.
  expect(await lab.sync('acme')).toMatchObject({ deactivated: 0, kept_active: [userId] })
})

test('a group that goes between the list and its members is as good as absent', async () => {
  lab.source.groups = [groupEntry('Everybody', lab.source.users), groupEntry('Fleeting', lab.source.users.slice(0, 3))]
  lab.source.faults.entries = (page, _all, { resource }) =>
    resource === 'Groups' ? page.map(({ members: _, ...group }) => group) : page
  lab.source.faults.answer = () =>
    lab.source.requests.at(-1) === 'GET /Groups/gid-Fleeting' ? { status: 404 } : undefined
  const answer = await lab.sync('acme')
  expect(answer).toMatchObject({ status: 'completed', unmatched: expect.any(Number) })
  expect(lab.source.requests).toContain('GET /Groups/gid-Fleeting')
  const { body } = await lab.hub.call('acme', 'GET', '/api/v1/roster/groups')
  expect(body.items.map((group: { display_name: string }) => group.display_name)).toEqual(['Everybody'])
})
