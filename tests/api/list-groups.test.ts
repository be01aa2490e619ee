import { afterAll, beforeAll, expect, test } from 'vitest'
import { allRefused, commonRejections } from '../auth/auth-hub.ts'
import { type DirectoryLab, openDirectoryLab, person } from '../roster/directory-lab.ts'
import { pointerOf, type RosterLab, startRosterLab } from '../roster/roster-lab.ts'

const path = '/api/v1/roster/groups'
let lab: RosterLab
let directory: DirectoryLab
beforeAll(async () => {
  lab = await startRosterLab()
  directory = openDirectoryLab(lab.hub)
})
afterAll(() => lab.close())

const list = (query = '', tenant = 'acme') => lab.call(tenant, 'GET', `${path}${query}`)

test('a tenant without a directory has none', async () => {
  expect((await list('', 'globex')).body).toEqual({ items: [], next_cursor: null })
})

test('a group has its members counted, and what the mapping gives them', async () => {
  await directory.archetypes('agent', 'lead')
  await directory.map({ sales: 'lead', 'ext-1': 'agent', nobody: 'agent' })
  const { userId } = await directory.add(person('kim'))
  const { groupId } = await directory.addGroup('Sales', [userId], { externalId: 'ext-1' })
  await directory.addGroup('Support')
  const { status, body } = await lab.call('acme', 'GET', path, { scopes: ['roster:read'] })
  expect(status).toBe(200)
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  expect(body).toEqual({
    items: [
      {
        group_id: groupId,
        display_name: 'Sales',
        external_id: 'ext-1',
        member_count: 1,
        archetype_ids: ['agent', 'lead'],
        created_at: time,
        updated_at: time,
      },
      {
        group_id: expect.stringMatching(/^grp_/),
        display_name: 'Support',
        member_count: 0,
        archetype_ids: [],
        created_at: time,
        updated_at: time,
      },
    ],
    next_cursor: null,
  })
  expect((await list('', 'globex')).body.items).toEqual([])
})

test('pages meet every group once, and a cursor is of this list and tenant', async () => {
  const { body: first } = await list('?limit=1')
  const { body: second } = await list(`?limit=1&cursor=${first.next_cursor}`)
  expect([...first.items, ...second.items].map(({ display_name: name }) => name)).toEqual(['Sales', 'Support'])
  expect(second.next_cursor).toBeNull()
  for (const answer of [
    await list(`?cursor=${first.next_cursor}`, 'globex'),
    await lab.call('acme', 'GET', `/api/v1/roster/users?cursor=${first.next_cursor}`),
    await list('?cursor=x'),
  ]) {
    expect([answer.status, answer.body.type]).toEqual([400, `${lab.url}/errors/invalid-cursor`])
  }
})

test.each([
  ['limit=0', '/query/limit'],
  ['limit=1001', '/query/limit'],
  ['limit=1&limit=2', '/query/limit'],
  ['name=x', '/query/name'],
])('%s is refused with a pointer', async (query, pointer) => {
  const { status, body } = await list(`?${query}`)
  expect([status, body.errors.map(pointerOf)]).toEqual([400, [pointer]])
})

test('without token, scope or tenant there is nothing to see', async () => {
  expect(await commonRejections(lab, 'GET', path, { scopes: ['hub:read', 'roster:write'] })).toEqual(allRefused)
})
