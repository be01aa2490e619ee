import { afterAll, beforeAll, expect, test } from 'vitest'
import { allRefused, commonRejections } from '../auth/auth-hub.ts'
import { type DirectoryLab, openDirectoryLab, person } from '../roster/directory-lab.ts'
import { pointerOf, type RosterLab, startRosterLab } from '../roster/roster-lab.ts'

let lab: RosterLab
let directory: DirectoryLab
let path: string
let groupId: string
const ids: string[] = []
beforeAll(async () => {
  lab = await startRosterLab()
  directory = openDirectoryLab(lab.hub)
  ids.push((await directory.add(person('kim@acme.example', { attributes: { displayName: 'Kim' } }))).userId)
  ids.push((await directory.add(person('lee', { active: false }))).userId)
  groupId = (await directory.addGroup('Sales', ids)).groupId
  path = `/api/v1/roster/groups/${groupId}/members`
})
afterAll(() => lab.close())

const list = (query = '', tenant = 'acme') => lab.call(tenant, 'GET', `${path}${query}`)

test('members are answered by id, with who is active', async () => {
  const { status, body } = await lab.call('acme', 'GET', path, { scopes: ['roster:read'] })
  expect(status).toBe(200)
  expect(body.next_cursor).toBeNull()
  expect(body.items).toEqual(
    [
      { user_id: ids[0], user_name: 'kim@acme.example', email: 'kim@acme.example', display_name: 'Kim', active: true },
      { user_id: ids[1], user_name: 'lee', email: '', active: false },
    ].sort((a, b) => (a.user_id! < b.user_id! ? -1 : 1)),
  )
})

test('pages meet every member once; a cursor is of this group', async () => {
  const { body: first } = await list('?limit=1')
  const { body: second } = await list(`?limit=1&cursor=${first.next_cursor}`)
  expect([...first.items, ...second.items].map((item) => item.user_id)).toEqual([...ids].sort())
  expect(second.next_cursor).toBeNull()
  const other = (await directory.addGroup('Other')).groupId
  const answer = await lab.call('acme', 'GET', `/api/v1/roster/groups/${other}/members?cursor=${first.next_cursor}`)
  expect([answer.status, answer.body.type]).toEqual([400, `${lab.url}/errors/invalid-cursor`])
})

test('a group that the tenant does not have is not found', async () => {
  const unknown = await lab.call('acme', 'GET', '/api/v1/roster/groups/grp_none/members')
  const foreign = await list('', 'globex')
  for (const { status, body } of [unknown, foreign]) {
    expect([status, body.type]).toEqual([404, `${lab.url}/errors/not-found`])
  }
})

test.each([
  ['limit=0', '/query/limit'],
  ['limit=x', '/query/limit'],
  ['active=true', '/query/active'],
])('%s is refused with a pointer', async (query, pointer) => {
  const { status, body } = await list(`?${query}`)
  expect([status, body.errors.map(pointerOf)]).toEqual([400, [pointer]])
})

test('an id that is too long is refused', async () => {
  const { status, body } = await lab.call('acme', 'GET', `/api/v1/roster/groups/${'x'.repeat(65)}/members`)
  expect([status, body.errors.map(pointerOf)]).toEqual([400, ['/path/group_id']])
})

test('without token, scope or tenant there is nothing to see', async () => {
  expect(await commonRejections(lab, 'GET', path, { scopes: ['hub:read', 'roster:write'] })).toEqual(allRefused)
})
