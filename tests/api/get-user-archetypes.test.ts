import { afterAll, beforeAll, expect, test } from 'vitest'
import { allRefused, commonRejections } from '../auth/auth-hub.ts'
import { type DirectoryLab, openDirectoryLab, person } from '../roster/directory-lab.ts'
import {
  askForStrangers,
  type RosterLab,
  startRosterLab,
  strangersAreUnknown,
  usersPath,
} from '../roster/roster-lab.ts'

let lab: RosterLab
let directory: DirectoryLab
beforeAll(async () => {
  lab = await startRosterLab()
  directory = openDirectoryLab(lab.hub)
  await directory.archetypes('agent', 'lead')
  await directory.map({ Agents: 'agent' })
})
afterAll(() => lab.close())

const pathOf = (userId: string) => `${usersPath}/${userId}/archetypes`

test('what groups give is told, and what was set by hand', async () => {
  const { userId } = await directory.add(person('kim'))
  const read = async () => (await lab.call('acme', 'GET', pathOf(userId), { scopes: ['roster:read'] })).body
  expect(await read()).toEqual({ user_id: userId, archetype_ids: [], source: 'group' })
  await directory.addGroup('Agents', [userId])
  expect(await read()).toEqual({ user_id: userId, archetype_ids: ['agent'], source: 'group' })
  await lab.call('acme', 'PUT', pathOf(userId), { body: { archetype_ids: ['lead', 'agent'] } })
  expect(await read()).toEqual({ user_id: userId, archetype_ids: ['agent', 'lead'], source: 'manual' })
})

test('of somebody whom the directory does not keep, too', async () => {
  const { user_id: userId } = await lab.add('acme', 'by-hand@acme.example')
  const { status, body } = await lab.call('acme', 'GET', pathOf(userId))
  expect([status, body]).toEqual([200, { user_id: userId, archetype_ids: [], source: 'group' }])
})

test('users whom the tenant does not have are not found', async () => {
  expect(await askForStrangers(lab, 'GET', '/archetypes')).toEqual(strangersAreUnknown)
})

test('without token, scope or tenant there is nothing to see', async () => {
  const path = pathOf('usr_x')
  expect(await commonRejections(lab, 'GET', path, { scopes: ['hub:read', 'roster:write'] })).toEqual(allRefused)
})
