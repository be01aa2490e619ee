import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Directory } from '../../server/modules/roster/directory/directory-types.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { actor, type DirectoryLab, group, openDirectoryLab, person } from './directory-lab.ts'

let hub: TestHub
let lab: DirectoryLab
beforeAll(async () => {
  hub = await startHub()
  lab = openDirectoryLab(hub)
  await lab.archetypes('agent')
})
afterAll(() => hub.stop())

type Users = Parameters<Directory['putUsers']>[2]
type Groups = Parameters<Directory['putGroups']>[2]
const put = (syncId: string, ...users: Users) =>
  lab.run((tx, tenant) => lab.directory.putUsers(tx, tenant, users, syncId, actor))
const putGroups = (syncId: string, ...groups: Groups) =>
  lab.run((tx, tenant) => lab.directory.putGroups(tx, tenant, groups, syncId, actor))
const deactivate = (syncId: string, limit = 100) =>
  lab.run((tx, tenant) => lab.directory.deactivateUnseen(tx, tenant, syncId, actor, limit))
const all = async () => (await lab.run((tx) => lab.directory.users(tx, { offset: 0, count: 100 }))).items
const idOf = async (userName: string) => (await all()).find((user) => user.userName === userName)?.userId
const noChange = { added: 0, updated: 0, deactivated: 0 }

test('people are known by external id, then by user name; what did not change counts for nothing', async () => {
  const [ann, bob] = [person('ann', { externalId: '1' }), person('bob', { externalId: '2' })]
  expect(await put('s1', ann, bob)).toEqual({ ...noChange, added: 2 })
  const ids = [await idOf('ann'), await idOf('bob')]
  expect(await put('s2', ann, bob)).toEqual(noChange)
  expect(await put('s2', person('anna', { externalId: '1' }), person('BOB', { externalId: '22' }))).toEqual({
    ...noChange,
    updated: 2,
  })
  expect([await idOf('anna'), await idOf('BOB')]).toEqual(ids)
  expect(await put('s3', person('anna', { externalId: '1', active: false }))).toEqual({
    ...noChange,
    updated: 1,
    deactivated: 1,
  })
})

test('names and addresses that changed hands do so in one page, and over two', async () => {
  const cy = person('cy@x.example', { externalId: 'c' })
  const di = person('di@x.example', { externalId: 'd' })
  await put('t1', cy, di)
  const [cyId, diId] = [await idOf(cy.userName), await idOf(di.userName)]
  await put('t2', { ...cy, userName: di.userName }, { ...di, userName: cy.userName })
  expect([await idOf(di.userName), await idOf(cy.userName)]).toEqual([cyId, diId])
  expect((await lab.row(cyId!)).email).toBe(di.userName)
  // The former owner comes with a later page, under another name.
  await put('t3', { ...cy, userName: 'cy@x.example' })
  expect(await idOf('cy@x.example')).toBe(cyId)
  await put('t3', { ...di, userName: 'dia@x.example' })
  expect(await idOf('dia@x.example')).toBe(diId)
  expect((await lab.row(diId!)).email).toBe('dia@x.example')
})

test('of entries about the same person the last counts', async () => {
  const outcome = await put(
    'u1',
    person('ed', { externalId: 'e', attributes: { title: 'a' } }),
    person('ed', { externalId: 'e', attributes: { title: 'b' } }),
    person('Ed', { externalId: 'other' }),
  )
  expect(outcome.added).toBe(1)
  expect((await all()).filter(({ userName }) => /^ed$/i.test(userName))).toMatchObject([{ externalId: 'other' }])
})

test('groups come with their members by external id; archetypes follow at the end', async () => {
  await lab.map({ Agents: 'agent' })
  await put('v1', person('flo', { externalId: 'f' }), person('gil', { externalId: 'g' }))
  const agents = { ...group('Agents', { externalId: 'G' }), memberExternalIds: ['f', 'g', 'nobody', 'f'] }
  const empty = { ...group('Empty'), memberExternalIds: [] }
  expect(await putGroups('v1', agents, empty)).toEqual({ added: 2, updated: 0 })
  expect(await putGroups('v1', agents, empty)).toEqual({ added: 0, updated: 0 })
  const settle = (after: string, limit: number) =>
    lab.run((tx, tenant) => lab.directory.assignArchetypes(tx, tenant, actor, { after, limit }))
  let assigned = 0
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page = await settle(after, 2)
    assigned += page.assigned
    after = page.next
  }
  expect(assigned).toBe(2)
  const [flo, gil] = [await idOf('flo'), await idOf('gil')]
  expect([await lab.archetypesOf(flo!), await lab.archetypesOf(gil!)]).toEqual([['agent'], ['agent']])
  const renamed = { ...group('Old agents', { externalId: 'G' }), memberExternalIds: ['g'] }
  expect(await putGroups('v2', renamed, { ...group('agents'), memberExternalIds: ['f'] })).toEqual({
    added: 1,
    updated: 1,
  })
  expect((await settle('', 100)).assigned).toBe(1)
  expect([await lab.archetypesOf(flo!), await lab.archetypesOf(gil!)]).toEqual([['agent'], []])
})

test('who was not met is counted, then deactivated a part at a time; groups go last', async () => {
  const active = (await all()).filter((user) => user.active).length
  await put('w1', person('hal', { externalId: 'h' }))
  const counts = () => lab.run((tx) => lab.directory.countUnseen(tx, 'w1'))
  expect(await counts()).toEqual({ unseen: active, active: active + 1 })
  expect(await deactivate('w1', 2)).toEqual({ deactivated: 2, keptActive: [] })
  expect(await counts()).toEqual({ unseen: active - 2, active: active - 1 })
  const groups = () => lab.run((tx) => lab.directory.counts(tx)).then((found) => found.groups)
  expect(await groups()).toBe(3)
  expect(await deactivate('w1')).toEqual({ deactivated: active - 2, keptActive: [] })
  expect(await deactivate('w1')).toEqual({ deactivated: 0, keptActive: [] })
  expect(await groups()).toBe(0)
  expect(await counts()).toEqual({ unseen: 0, active: 1 })
  expect((await all()).filter((user) => user.active).map(({ userName }) => userName)).toEqual(['hal'])
})

test('the last administrator outlives a directory that knows nobody', async () => {
  const hal = await idOf('hal')
  const superuser = await hub.superuserClient()
  await superuser.query(`update hub.users set role = 'admin' where user_id = $1`, [hal])
  await hub.test.proveRows()
  expect(await deactivate('x1')).toEqual({ deactivated: 0, keptActive: [hal] })
  expect(await lab.run((tx) => lab.directory.countUnseen(tx, 'x1'))).toEqual({ unseen: 1, active: 1 })
  expect((await lab.row(hal!)).deactivated_at).toBeNull()
})

test('an empty page changes nothing', async () => {
  expect(await put('y1')).toEqual({ added: 0, updated: 0 })
  expect(await putGroups('y1')).toEqual({ added: 0, updated: 0 })
})

test('no event of the directory names anybody', async () => {
  const superuser = await hub.superuserClient()
  const { rows } = await superuser.query<{ canonical: string }>(
    `select canonical from hub.records where tenant_id = 'acme' and event_kind is not null and created_by = 'service:hub'`,
  )
  const events = rows.map((row) => row.canonical).filter((text) => /directory|archetype_assigned/.test(text))
  expect(events.length).toBeGreaterThan(20)
  expect(events.join('\n')).not.toMatch(/x\.example|anna|hal\b|Agents/)
})

test('a user name that is used again is somebody else’s: who left does not come back as them', async () => {
  await put('z1', person('eve@x.example', { externalId: 'e-1' }))
  const former = await idOf('eve@x.example')
  const superuser = await hub.superuserClient()
  await superuser.query(`update hub.users set role = 'auditor' where user_id = $1`, [former])
  await hub.test.proveRows()
  await put('z2', person('eve@x.example', { externalId: 'e-1', active: false }))
  await put('z3', person('eve@x.example', { externalId: 'e-2' }))
  const hired = await idOf('eve@x.example')
  expect(hired).not.toBe(former)
  expect(await lab.row(hired!)).toMatchObject({ role: 'member', email: 'eve@x.example', deactivated_at: null })
  expect((await lab.row(former!)).deactivated_at).not.toBeNull()
  await put('z4', person('eve@x.example', { externalId: 'e-2' }))
  expect(await idOf('eve@x.example')).toBe(hired)
})
