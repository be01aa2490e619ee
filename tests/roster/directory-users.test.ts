import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { actor, type DirectoryLab, openDirectoryLab, person } from './directory-lab.ts'
import { tokenOfPerson } from './roster-lab.ts'

let hub: TestHub
let lab: DirectoryLab
beforeAll(async () => {
  hub = await startHub()
  lab = openDirectoryLab(hub)
})
afterAll(() => hub.stop())

let count = 0
let name: string
beforeEach(() => {
  count += 1
  name = `kim-${count}@acme.example`
})

const replace = (userId: string, write: ReturnType<typeof person>, revision?: number) =>
  lab.run((tx, tenant, directory) => directory.replaceUser(tx, tenant, userId, write, { actor, revision }))
const remove = (userId: string, revision?: number) =>
  lab.run((tx, tenant, directory) => directory.removeUser(tx, tenant, userId, { actor, revision }))
const addByHand = async (email: string, role = 'member') =>
  (await hub.call('acme', 'POST', '/api/v1/roster/users', { body: { email, role } })).body
const changes = async (userId: string) => (await lab.events(`user:${userId}`)).map(({ details }) => details.change)

test('somebody new becomes a member with the id of the resource', async () => {
  const attributes = {
    displayName: 'Kim Lee',
    emails: [{ value: 'other@acme.example' }, { value: `Primary-${name}`, primary: true }],
  }
  const user = await lab.add(person('kim', { externalId: 'e1', attributes }))
  expect(user).toEqual({
    userId: expect.stringMatching(/^usr_[A-Za-z0-9]{24}$/),
    userName: 'kim',
    externalId: 'e1',
    active: true,
    wantedActive: true,
    attributes,
    groups: [],
    revision: 1,
    createdAt: expect.stringMatching(/Z$/),
    updatedAt: user.createdAt,
  })
  expect(await lab.row(user.userId)).toMatchObject({
    email: `Primary-${name}`,
    email_key: `primary-${name}`,
    display_name: 'Kim Lee',
    role: 'member',
    deactivated_at: null,
  })
  expect(await lab.run((tx) => lab.directory.user(tx, user.userId))).toEqual(user)
  expect(await changes(user.userId)).toEqual(['user_created'])
})

test.each([
  [{ emails: [{ value: 'first@x.example' }, { value: 'second@x.example' }] }, 'first@x.example'],
  [{ emails: [{ value: 'no address' }, { value: 7 }, 'x'] }, ''],
  [{ emails: 'first@y.example' }, ''],
  [{}, ''],
])('of %j the address is %j', async (attributes, email) => {
  const user = await lab.add(person(`login ${count}`, { attributes: attributes as never }))
  expect((await lab.row(user.userId)).email).toBe(email)
})

test('the active person with the address is taken up, and keeps the role', async () => {
  const byHand = await addByHand(name, 'analyst')
  const user = await lab.add(person(name.toUpperCase(), { attributes: { displayName: 'Kim' } }))
  expect(user.userId).toBe(byHand.user_id)
  expect(await lab.row(user.userId)).toMatchObject({ role: 'analyst', display_name: 'Kim', email: name })
  expect(await changes(user.userId)).toEqual(['user_created', 'directory_user_linked'])
  // Their address is theirs: a second entry with it gets none.
  const second = await lab.add(person(`second ${count}`, { attributes: { emails: [{ value: name }] } }))
  expect(second.userId).not.toBe(user.userId)
  expect((await lab.row(second.userId)).email).toBe('')
})

test('a user name is taken whatever its case, and free in another tenant', async () => {
  await lab.add(person(name))
  await expect(lab.add(person(name.toUpperCase()))).rejects.toMatchObject({
    slug: 'concurrent-modification',
    errors: [{ pointer: '/userName' }],
  })
  await lab.add(person(name), 'globex')
  const other = await lab.add(person(`other ${name}`))
  await expect(replace(other.userId, person(name))).rejects.toMatchObject({ slug: 'concurrent-modification' })
})

test('a replacement counts once, and only where something differs', async () => {
  const write = person(name, { attributes: { title: 'Agent', name: { givenName: 'Kim', familyName: 'Lee' } } })
  const user = await lab.add(write)
  const same = await replace(user.userId, {
    ...write,
    attributes: { name: { familyName: 'Lee', givenName: 'Kim' }, title: 'Agent' },
  })
  expect(same).toEqual(user)
  const other = await replace(user.userId, { ...write, externalId: 'x', attributes: { title: 'Lead' } })
  expect(other).toMatchObject({ revision: 2, externalId: 'x', attributes: { title: 'Lead' } })
  expect((await lab.events(`user:${user.userId}`)).map(({ details }) => details)).toMatchObject([
    { change: 'user_created' },
    { change: 'directory_user', attributes: ['externalId', 'name', 'title'] },
  ])
})

test('a stale revision is refused, and an unknown id', async () => {
  const user = await lab.add(person(name))
  await replace(user.userId, person(name, { attributes: { title: 'a' } }), 1)
  const stale = { slug: 'concurrent-modification', errors: undefined }
  await expect(replace(user.userId, person(name), 1)).rejects.toMatchObject(stale)
  await expect(remove(user.userId, 1)).rejects.toMatchObject(stale)
  await expect(replace('usr_none', person(name))).rejects.toMatchObject({ slug: 'not-found' })
  await expect(remove('usr_none')).rejects.toMatchObject({ slug: 'not-found' })
  expect(await lab.run((tx) => lab.directory.user(tx, user.userId), 'globex')).toBeUndefined()
})

test('a new address follows, unless it is somebody else’s, and no event has it', async () => {
  const user = await lab.add(person(name))
  await replace(user.userId, person(`new-${name}`))
  expect((await lab.row(user.userId)).email).toBe(`new-${name}`)
  const taken = await addByHand(`taken-${name}`)
  await replace(user.userId, person(`taken-${name}`))
  expect((await lab.row(user.userId)).email).toBe('')
  expect((await lab.row(taken.user_id)).email).toBe(`taken-${name}`)
  expect(JSON.stringify(await lab.events(`user:${user.userId}`))).not.toMatch(/acme\.example/)
})

test('who is inactive has no way in: sessions and tokens end at once', async () => {
  const user = await lab.add(person(name))
  const token = await tokenOfPerson(hub, 'acme', user.userId)
  const health = () => hub.call('acme', 'GET', '/api/v1/telemetry/prices', { token })
  expect((await health()).status).toBe(200)
  await replace(user.userId, person(name, { active: false }))
  expect((await health()).status).toBe(401)
  const superuser = await hub.superuserClient()
  const { rows } = await superuser.query('select 1 from hub.sessions where user_id = $1 and ended_at is null', [
    user.userId,
  ])
  expect(rows).toEqual([])
  await replace(user.userId, person(name))
  expect((await lab.row(user.userId)).deactivated_at).toBeNull()
  expect((await health()).status).toBe(401)
  expect(await changes(user.userId)).toEqual(expect.arrayContaining(['user_deactivated', 'user_reactivated']))
})

test('who is made inactive never was active', async () => {
  const user = await lab.add(person(name, { active: false }))
  expect((await lab.row(user.userId)).deactivated_at).not.toBeNull()
  await addByHand(name)
  await replace(user.userId, person(name))
  expect(await lab.row(user.userId)).toMatchObject({ email: '', deactivated_at: null })
})

test('the last administrator stays', async () => {
  const admin = await addByHand(`admin-${name}`, 'admin')
  const user = await lab.add(person(`admin-${name}`))
  expect(user.userId).toBe(admin.user_id)
  const inactive = person(`admin-${name}`, { active: false })
  await expect(replace(user.userId, inactive)).rejects.toMatchObject({
    slug: 'concurrent-modification',
    errors: [{ pointer: '/active' }],
  })
  await expect(remove(user.userId)).rejects.toMatchObject({ slug: 'concurrent-modification' })
  const outcome = await lab.run((tx, tenant) => lab.directory.putUsers(tx, tenant, [inactive], 'sync-a', actor))
  expect(outcome).toEqual({ added: 0, updated: 0, deactivated: 0, keptActive: [user.userId] })
  expect(await lab.run((tx) => lab.directory.user(tx, user.userId))).toMatchObject({ active: true, revision: 1 })
  await addByHand(`second-admin-${name}`, 'admin')
  await replace(user.userId, inactive)
  expect((await lab.row(user.userId)).deactivated_at).not.toBeNull()
})

test('of who is removed the id is left, and the same address does not come back in by itself', async () => {
  const user = await lab.add(person(name, { externalId: 'gone', attributes: { displayName: 'Kim' } }))
  await remove(user.userId)
  expect(await lab.row(user.userId)).toMatchObject({ email: '', display_name: null })
  expect((await lab.row(user.userId)).email_key).toMatch(/^former:[\w-]{43}$/)
  expect(await lab.run((tx) => lab.directory.user(tx, user.userId))).toBeUndefined()
  const tenant = await hub.tenant('acme')
  const signIn = hub.test.database.withTenant('acme', (tx) => hub.modules.roster.signInUsers.ensure(tx, tenant, name))
  await expect(signIn).rejects.toMatchObject({ extensions: { reason: 'deactivated' } })
  const again = await lab.add(person(name))
  expect(again.userId).not.toBe(user.userId)
  expect((await changes(user.userId)).slice(-2).sort()).toEqual(['directory_user_removed', 'user_deactivated'])
})

test('of many changes at once none is lost', async () => {
  const user = await lab.add(person(name))
  const titles = Array.from({ length: 8 }, (_, i) => `title ${i}`)
  await Promise.all(titles.map((title) => replace(user.userId, person(name, { attributes: { title } }))))
  expect(await lab.run((tx) => lab.directory.user(tx, user.userId))).toMatchObject({ revision: 9 })
  const made = await Promise.allSettled(titles.map(() => lab.add(person(`race ${name}`))))
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test.each([
  [{ userName: 'a\0b' }, '/userName'],
  [{ userName: 'x'.repeat(513) }, '/userName'],
  [{ externalId: '\ud800' }, '/externalId'],
  [{ externalId: '漢'.repeat(513) }, '/externalId'],
  [{ attributes: { name: { givenName: ['a\0'] } } }, '/name'],
  [{ attributes: { title: '\udc00' } }, '/title'],
])('%# what the database cannot keep is refused with its place', async (rest, pointer) => {
  const refusal = { slug: 'validation-failed', errors: [{ pointer }] }
  const write = person(name, rest)
  await expect(lab.add(write)).rejects.toMatchObject(refusal)
  const pull = lab.run((tx, tenant) => lab.directory.putUsers(tx, tenant, [write], 'sync-b', actor))
  await expect(pull).rejects.toMatchObject(refusal)
})

test('names as long as they may be are kept', async () => {
  const longest = `${'漢'.repeat(509)}${String(count).padStart(3, '0')}`
  const user = await lab.add(person(longest, { externalId: longest }))
  expect(user).toMatchObject({ userName: longest, externalId: longest })
  expect((await lab.addGroup(longest, [], { externalId: longest })).displayName).toBe(longest)
})
