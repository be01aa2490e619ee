import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { actor, type DirectoryLab, group, openDirectoryLab, person } from './directory-lab.ts'

let hub: TestHub
let lab: DirectoryLab
beforeAll(async () => {
  hub = await startHub()
  lab = openDirectoryLab(hub)
})
afterAll(() => hub.stop())

let count = 0
let name: string
let kim: string
let lee: string
beforeEach(async () => {
  count += 1
  name = `Group ${count}`
  kim = (await lab.add(person(`kim ${count}`, { attributes: { displayName: 'Kim' } }))).userId
  lee = (await lab.add(person(`lee ${count}`))).userId
  await lab.archetypes('agent', 'lead')
  await lab.map({ [name]: 'agent', [`ext ${count}`]: 'lead' })
})

type Change = Parameters<DirectoryLab['directory']['changeGroup']>[3]
const change = (groupId: string, what: Change, revision?: number) =>
  lab.run((tx, tenant, directory) => directory.changeGroup(tx, tenant, groupId, what, { actor, revision }))
const assignments = async (userId: string) =>
  (await lab.events(`user:${userId}`))
    .filter(({ event_kind: kind }) => kind === 'rbac.archetype_assigned')
    .map(({ details: { before, after, source } }) => [before, after, source])

test('a group is answered with its members, and its members with it', async () => {
  const made = await lab.addGroup(name, [kim, lee, kim], { externalId: 'x', attributes: { a: 1 } })
  expect(made).toEqual({
    groupId: expect.stringMatching(/^grp_[A-Za-z0-9]{24}$/),
    displayName: name,
    externalId: 'x',
    attributes: { a: 1 },
    members: expect.arrayContaining([
      { userId: kim, display: 'Kim' },
      { userId: lee, display: `lee ${count}` },
    ]),
    revision: 1,
    createdAt: expect.any(String),
    updatedAt: made.createdAt,
  })
  expect(made.members).toHaveLength(2)
  const { members: _, ...bare } = made
  expect(await lab.run((tx) => lab.directory.group(tx, made.groupId, false))).toEqual(bare)
  const user = await lab.run((tx) => lab.directory.user(tx, kim))
  expect(user?.groups).toEqual([{ groupId: made.groupId, displayName: name }])
  expect(await lab.run((tx) => lab.directory.group(tx, made.groupId, true), 'globex')).toBeUndefined()
})

test('archetypes follow the groups, one event for each person who has others', async () => {
  const { groupId } = await lab.addGroup(name.toUpperCase(), [kim])
  expect(await lab.archetypesOf(kim)).toEqual(['agent'])
  await change(groupId, { group: group(name, { externalId: `ext ${count}` }) })
  expect(await lab.archetypesOf(kim)).toEqual(['agent', 'lead'])
  await change(groupId, { members: { add: [lee], remove: [kim] } })
  await change(groupId, { group: group(`other ${name}`) })
  expect([await lab.archetypesOf(kim), await lab.archetypesOf(lee)]).toEqual([[], []])
  expect(await assignments(kim)).toEqual([
    [[], ['agent'], 'group'],
    [['agent'], ['agent', 'lead'], 'group'],
    [['agent', 'lead'], [], 'group'],
  ])
  expect(await assignments(lee)).toEqual([
    [[], ['agent', 'lead'], 'group'],
    [['agent', 'lead'], [], 'group'],
  ])
})

test('a group is named by its id too, and who is in two groups keeps what one gives', async () => {
  const first = await lab.addGroup(`first ${name}`, [kim])
  const second = await lab.addGroup(`second ${name}`, [kim])
  await lab.map({ [first.groupId]: 'agent', [second.groupId]: 'agent' })
  await lab.run((tx, tenant) => lab.directory.assignArchetypes(tx, tenant, actor, { after: '', limit: 1000 }))
  expect(await lab.archetypesOf(kim)).toEqual(['agent'])
  await lab.run((tx, tenant) => lab.directory.removeGroup(tx, tenant, first.groupId, { actor }))
  expect(await lab.archetypesOf(kim)).toEqual(['agent'])
  await lab.run((tx, tenant) => lab.directory.removeGroup(tx, tenant, second.groupId, { actor }))
  expect(await lab.archetypesOf(kim)).toEqual([])
  expect(await assignments(kim)).toHaveLength(2)
  expect(await lab.run((tx) => lab.directory.group(tx, second.groupId, true))).toBeUndefined()
})

test('the revision counts what changed, and nothing else', async () => {
  const { groupId } = await lab.addGroup(name, [kim])
  await change(groupId, { members: { all: [kim] } })
  await change(groupId, { members: { add: [kim], remove: [lee] } })
  const before = await change(groupId, { group: group(name) })
  expect(before.revision).toBe(1)
  const events = (await lab.events(`group:${groupId}`)).map(({ details }) => details)
  expect(events).toMatchObject([{ change: 'directory_group_created', members: 1 }])
  const after = await change(groupId, { group: group(name, { attributes: { a: 1 } }), members: { all: [lee] } }, 1)
  expect(after).toMatchObject({ revision: 2, members: [{ userId: lee }] })
  await expect(change(groupId, { members: { all: [] } }, 1)).rejects.toMatchObject({ slug: 'concurrent-modification' })
  expect((await lab.events(`group:${groupId}`)).at(-1)?.details).toMatchObject({
    change: 'directory_group',
    attributes: ['a'],
    members: { added: 1, removed: 1 },
  })
})

test('who is removed leaves the groups, each of which has changed then, and loses the archetypes', async () => {
  const { groupId } = await lab.addGroup(name, [kim, lee])
  await lab.run((tx, tenant) => lab.directory.removeUser(tx, tenant, kim, { actor }))
  const left = await lab.run((tx) => lab.directory.group(tx, groupId, true))
  expect(left).toMatchObject({ revision: 2, members: [{ userId: lee }] })
  expect(await lab.archetypesOf(kim)).toEqual([])
  expect(await assignments(kim)).toEqual([
    [[], ['agent'], 'group'],
    [['agent'], [], 'group'],
  ])
})

test('members who are not of the directory are refused, each with its place', async () => {
  const stranger = (await lab.add(person(name), 'globex')).userId
  const refusal = { slug: 'validation-failed', errors: [{ pointer: '/members/1/value' }] }
  await expect(lab.addGroup(name, [kim, stranger])).rejects.toMatchObject(refusal)
  const { groupId } = await lab.addGroup(name)
  await expect(change(groupId, { members: { all: [kim, 'usr_x'] } })).rejects.toMatchObject(refusal)
  await expect(change(groupId, { members: { add: [kim, 'usr_x'], remove: [] } })).rejects.toMatchObject(refusal)
})

test('a display name is taken, whatever its case; an unknown group is not found', async () => {
  await lab.addGroup(name)
  const taken = { slug: 'concurrent-modification', errors: [{ pointer: '/displayName' }] }
  await expect(lab.addGroup(name.toLowerCase())).rejects.toMatchObject(taken)
  const other = await lab.addGroup(`other ${name}`)
  await expect(change(other.groupId, { group: group(name) })).rejects.toMatchObject(taken)
  await expect(change('grp_none', {})).rejects.toMatchObject({ slug: 'not-found' })
  const removal = lab.run((tx, tenant) => lab.directory.removeGroup(tx, tenant, 'grp_none', { actor }))
  await expect(removal).rejects.toMatchObject({ slug: 'not-found' })
})

test('members added at the same time are all there', async () => {
  const { groupId } = await lab.addGroup(name)
  await Promise.all([kim, lee].map((id) => change(groupId, { members: { add: [id], remove: [] } })))
  const after = await lab.run((tx) => lab.directory.group(tx, groupId, true))
  expect(after?.revision).toBe(3)
  expect(after?.members).toHaveLength(2)
})

test('an archetype that leaves the bundle is taken from everybody, and comes back with it', async () => {
  await lab.addGroup(name, [kim])
  const path = `/api/v1/roster/users/${lee}/archetypes`
  await hub.call('acme', 'PUT', path, { body: { archetype_ids: ['agent', 'lead'] } })
  await lab.archetypes('lead')
  expect([await lab.archetypesOf(kim), await lab.archetypesOf(lee)]).toEqual([[], ['lead']])
  await lab.archetypes('lead', 'agent')
  // What was set by hand stays as it was left.
  expect([await lab.archetypesOf(kim), await lab.archetypesOf(lee)]).toEqual([['agent'], ['lead']])
  expect((await assignments(kim)).map(([, after, source]) => [after, source])).toEqual([
    [['agent'], 'group'],
    [[], 'bundle'],
    [['agent'], 'group'],
  ])
  expect((await assignments(lee)).at(-1)).toEqual([['agent', 'lead'], ['lead'], 'bundle'])
})

test('counts say who is there and whom no archetype was found for', async () => {
  const counts = () => lab.run((tx) => lab.directory.counts(tx))
  const before = await counts()
  await lab.addGroup(name, [kim])
  const { userId } = await lab.add(person(`mo ${count}`, { active: false }))
  const byHand = (
    await hub.call('acme', 'POST', '/api/v1/roster/users', { body: { email: `by-hand-${count}@x.example` } })
  ).body
  expect(await counts()).toEqual({
    users: before.users,
    unmatched: before.unmatched - 1,
    groups: before.groups + 1,
  })
  for (const id of [byHand.user_id, userId]) {
    await hub.call('acme', 'PUT', `/api/v1/roster/users/${id}/archetypes`, { body: { archetype_ids: ['lead'] } })
  }
  expect(await counts()).toEqual({
    users: before.users + 1,
    unmatched: before.unmatched - 1,
    groups: before.groups + 1,
  })
})
