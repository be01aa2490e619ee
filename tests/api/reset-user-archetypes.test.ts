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
const reset = (userId: string) => lab.call('acme', 'DELETE', pathOf(userId))
const eventsOf = (userId: string) => directory.events(`user:${userId}`)

test('groups decide again at once, and a repetition does nothing', async () => {
  const { userId } = await directory.add(person('kim'))
  await directory.addGroup('Agents', [userId])
  await lab.call('acme', 'PUT', pathOf(userId), { body: { archetype_ids: ['lead'] } })
  const { status, body } = await lab.call('acme', 'DELETE', pathOf(userId), { scopes: ['roster:write'] })
  expect([status, body]).toEqual([200, { user_id: userId, archetype_ids: ['agent'], source: 'group' }])
  const events = await eventsOf(userId)
  expect(events.at(-1)).toMatchObject({
    event_kind: 'rbac.archetype_assigned',
    details: { before: ['lead'], after: ['agent'], source: 'group' },
  })
  expect((await reset(userId)).body).toEqual(body)
  expect(await eventsOf(userId)).toHaveLength(events.length)
})

test('of somebody whom the directory does not keep they are taken', async () => {
  const { user_id: userId } = await lab.add('acme', 'by-hand@acme.example')
  await lab.call('acme', 'PUT', pathOf(userId), { body: { archetype_ids: ['lead'] } })
  expect((await reset(userId)).body).toEqual({ user_id: userId, archetype_ids: [], source: 'group' })
})

test('users whom the tenant does not have are not found', async () => {
  expect(await askForStrangers(lab, 'DELETE', '/archetypes')).toEqual(strangersAreUnknown)
})

test('without token, scope or tenant nothing is reset', async () => {
  const options = { scopes: ['hub:read', 'roster:read'] } as const
  expect(await commonRejections(lab, 'DELETE', pathOf('usr_x'), options)).toEqual(allRefused)
})
