import { afterAll, beforeAll, expect, test } from 'vitest'
import { allRefused, commonRejections } from '../auth/auth-hub.ts'
import { type DirectoryLab, openDirectoryLab, person } from '../roster/directory-lab.ts'
import {
  askForStrangers,
  pointerOf,
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
const put = (userId: string, body: unknown) => lab.call('acme', 'PUT', pathOf(userId), { body })
let cases = 0
const eventsOf = (userId: string) => directory.events(`user:${userId}`)

test('what is set by hand beats the groups, and a repetition does nothing', async () => {
  const { userId } = await directory.add(person('kim'))
  const set = await lab.call('acme', 'PUT', pathOf(userId), {
    body: { archetype_ids: ['lead'] },
    scopes: ['roster:write'],
  })
  expect([set.status, set.body]).toEqual([200, { user_id: userId, archetype_ids: ['lead'], source: 'manual' }])
  const events = await eventsOf(userId)
  expect(events.at(-1)).toMatchObject({
    event_kind: 'rbac.archetype_assigned',
    details: {
      before: [],
      after: ['lead'],
      source: 'manual',
      actor: expect.any(String),
      request_id: expect.any(String),
    },
  })
  await put(userId, { archetype_ids: ['lead'] })
  expect(await eventsOf(userId)).toHaveLength(events.length)
  await directory.addGroup('Agents', [userId])
  expect(await directory.archetypesOf(userId)).toEqual(['lead'])
  expect((await put(userId, { archetype_ids: [] })).body.archetype_ids).toEqual([])
  expect((await lab.get('acme', userId)).matched).toBe(false)
})

test('the same archetypes, from now on by hand, are a change of the configuration', async () => {
  const { userId } = await directory.add(person('lee'))
  await put(userId, { archetype_ids: [] })
  expect((await eventsOf(userId)).at(-1)).toMatchObject({
    event_kind: 'tenant.config_changed',
    details: { change: 'user_archetypes_source', before: 'group', after: 'manual' },
  })
})

test.each([
  [{ archetype_ids: ['agent', 'nobody', 'other'] }, ['/archetype_ids/1', '/archetype_ids/2']],
  [{ archetype_ids: ['agent', 'agent'] }, ['/archetype_ids']],
  [{ archetype_ids: ['a b'] }, ['/archetype_ids/0']],
  [{ archetype_ids: 'agent' }, ['/archetype_ids']],
  [{ archetype_ids: [null] }, ['/archetype_ids/0']],
  [{ archetype_ids: Array.from({ length: 1_001 }, (_, i) => `a${i}`) }, ['/archetype_ids']],
  [{}, ['/archetype_ids']],
  [{ archetype_ids: [], source: 'group' }, ['/source']],
])('%# is refused with pointers, and changes nothing', async (body, pointers) => {
  cases += 1
  const { user_id: userId } = await lab.add('acme', `case-${cases}@acme.example`)
  const answer = await put(userId, body)
  expect([answer.status, answer.body.errors.map(pointerOf)]).toEqual([400, pointers])
  expect((await lab.get('acme', userId)).archetype_ids).toEqual([])
})

test('users whom the tenant does not have are not found', async () => {
  expect(await askForStrangers(lab, 'PUT', '/archetypes', { archetype_ids: ['agent'] })).toEqual(strangersAreUnknown)
})

test('without token, scope or tenant nothing is set', async () => {
  const options = { body: { archetype_ids: ['agent'] }, scopes: ['hub:read', 'roster:read'] } as const
  expect(await commonRejections(lab, 'PUT', pathOf('usr_x'), options)).toEqual(allRefused)
})
