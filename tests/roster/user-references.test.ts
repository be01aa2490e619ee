import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { type DirectoryLab, openDirectoryLab, person } from './directory-lab.ts'

let hub: TestHub
let lab: DirectoryLab
beforeAll(async () => {
  hub = await startHub()
  lab = openDirectoryLab(hub)
  await lab.archetypes('agent', 'lead')
  await lab.map({ Agents: 'agent' })
})
afterAll(() => hub.stop())

const resolve = (references: string[], slug?: 'globex') =>
  lab.run((tx) => hub.modules.roster.references.resolveUsers(tx, references), slug)

test('a person is meant by address, external id and id', async () => {
  const { userId } = await lab.add(person('Kim@acme.example', { externalId: 'Ext-1' }))
  await lab.addGroup('Agents', [userId])
  const references = ['user:KIM@acme.example', 'user:Ext-1', userId, `user:${userId}`]
  const unknown = ['user:ext-1', 'user:nobody@acme.example', 'usr_none', 'user:', '', 'user:a\0b', "user:' or true --"]
  const found = await resolve([...references, ...unknown])
  const kim = { userId, active: true, archetypeIds: ['agent'] }
  expect(found).toEqual(new Map(references.map((reference) => [reference, kim])))
  expect(await resolve(references, 'globex')).toEqual(new Map())
  expect(await resolve([])).toEqual(new Map())
})

test('the active person is meant where a name is of several, and an address goes before an external id', async () => {
  const former = await lab.add(person('lee', { externalId: 'dup', active: false }))
  expect((await resolve(['user:dup'])).get('user:dup')).toMatchObject({ userId: former.userId, active: false })
  const current = await lab.add(person('lee 2', { externalId: 'dup' }))
  expect((await resolve(['user:dup'])).get('user:dup')).toMatchObject({ userId: current.userId, active: true })
  const owner = await lab.add(person('mo@acme.example'))
  await lab.add(person('other', { externalId: 'mo@acme.example' }))
  const found = await resolve(['user:mo@acme.example'])
  expect(found.get('user:mo@acme.example')).toEqual({ userId: owner.userId, active: true, archetypeIds: [] })
})

test('who was removed is meant by id alone', async () => {
  const { userId } = await lab.add(person('gone@acme.example', { externalId: 'gone' }))
  await lab.run((tx, tenant) => lab.directory.removeUser(tx, tenant, userId, { actor: { service: 'test' } }))
  const found = await resolve(['user:gone@acme.example', 'user:gone', userId])
  expect([...found.keys()]).toEqual([userId])
  expect(found.get(userId)).toEqual({ userId, active: false, archetypeIds: [] })
})

test('who left is meant by their own address and id, whatever others have as external id', async () => {
  const unknownId = `usr_${'x'.repeat(24)}`
  const victim = await lab.add(person('victim@acme.example', { active: false }))
  await lab.add(person('taker 1', { externalId: 'victim@acme.example' }))
  await lab.add(person('taker 2', { externalId: victim.userId }))
  await lab.add(person('taker 3', { externalId: unknownId }))
  const references = ['user:victim@acme.example', `user:${victim.userId}`, victim.userId, `user:${unknownId}`]
  const found = await resolve(references)
  const odd = await lab.add(person('usr_odd@acme.example'))
  expect((await resolve(['user:usr_odd@acme.example'])).get('user:usr_odd@acme.example')).toMatchObject({
    userId: odd.userId,
  })
  const meant = { userId: victim.userId, active: false, archetypeIds: [] }
  expect(found).toEqual(new Map(references.slice(0, 3).map((reference) => [reference, meant])))
})

test('an external id that is an address means nobody but who has it as user name, also when its owner was removed', async () => {
  const gone = await lab.add(person('left@acme.example'))
  await lab.run((tx, tenant) => lab.directory.removeUser(tx, tenant, gone.userId, { actor: { service: 'test' } }))
  await lab.add(person('heir', { externalId: 'left@acme.example' }))
  expect(await resolve(['user:left@acme.example'])).toEqual(new Map())

  const emails = [{ value: 'sam@mail.example', type: 'work', primary: true }]
  const sam = await lab.add(person('Sam@acme.example', { externalId: 'sam@acme.example', attributes: { emails } }))
  const found = await resolve(['user:sam@acme.example', 'user:sam@mail.example'])
  expect([...found.values()].map(({ userId }) => userId)).toEqual([sam.userId, sam.userId])
})
