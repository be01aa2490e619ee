import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { userAttributes } from '../../server/modules/roster/directory/directory-attributes.ts'
import { filterSql } from '../../server/modules/roster/directory/directory-filter.ts'
import type { DirectoryFilter } from '../../server/modules/roster/directory/directory-types.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { compare, type DirectoryLab, openDirectoryLab, person } from './directory-lab.ts'

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const inEnterprise = (rest: string) => [enterprise.toLowerCase(), ...rest.split('.')]

let hub: TestHub
let lab: DirectoryLab
let ids: Record<string, string>
let groupIds: Record<string, string>
beforeAll(async () => {
  hub = await startHub()
  lab = openDirectoryLab(hub)
  const people = [
    person('Ann', {
      externalId: 'E1',
      attributes: {
        displayName: '100% Ann_O\'Neil "A"',
        title: 'Agent',
        name: { familyName: 'Ärger', givenName: 'Ann' },
        emails: [
          { value: 'ann@work.example', type: 'work', primary: true },
          { value: 'ann@home.example', type: 'home' },
        ],
        [enterprise]: { department: 'Sales', manager: { value: 'boss' } },
      },
    }),
    person('bob', { externalId: 'e1', active: false, attributes: { title: '', name: {}, emails: [] } }),
    person('Cy\\d', {
      attributes: { title: 'lead', emails: [{ value: 'cyd@home.example', type: 'home', primary: false }] },
    }),
  ]
  ids = {}
  for (const write of people) ids[write.userName[0]!.toLowerCase()] = (await lab.add(write)).userId
  await lab.add(person('Ann'), 'globex')
  groupIds = {
    s: (await lab.addGroup('Sales', [ids.a!, ids.b!], { externalId: 'G1' })).groupId,
    t: (await lab.addGroup('tech Team', [ids.a!])).groupId,
  }
})
afterAll(() => hub.stop())

const findUsers = async (filter: DirectoryFilter, rest: object = {}) => {
  const { total, items } = await lab.run((tx) => lab.directory.users(tx, { filter, offset: 0, count: 10, ...rest }))
  expect(items.length).toBe(total)
  return items.map(({ userName }) => userName[0]!.toLowerCase()).join('')
}
const findGroups = async (filter: DirectoryFilter) => {
  const query = { filter, offset: 0, count: 10, withMembers: false }
  const { items } = await lab.run((tx) => lab.directory.groups(tx, query))
  return items.map(({ displayName }) => displayName[0]!.toLowerCase()).join('')
}

describe('a comparison finds', () => {
  test.each([
    ['username', 'eq', 'aNN', 'a'],
    ['username', 'ne', 'aNN', 'bc'],
    ['username', 'co', 'N', 'a'],
    ['username', 'sw', 'cy\\', 'c'],
    ['username', 'ew', 'OB', 'b'],
    ['username', 'gt', 'ann', 'bc'],
    ['username', 'ge', 'ann', 'abc'],
    ['username', 'lt', 'BOB', 'a'],
    ['username', 'le', 'BOB', 'ab'],
    ['externalid', 'eq', 'E1', 'a'],
    ['externalid', 'co', 'e', 'b'],
    ['externalid', 'ne', 'E1', 'bc'],
    ['externalid', 'eq', null, 'c'],
    ['externalid', 'ne', null, 'ab'],
    ['displayname', 'eq', '100% ANN_o\'neil "a"', 'a'],
    ['displayname', 'sw', '100%', 'a'],
    ['displayname', 'sw', '1%', ''],
    ['displayname', 'co', '_', 'a'],
    ['displayname', 'co', '%a%', ''],
    ['displayname', 'co', "'", 'a'],
    ['title', 'eq', 'LEAD', 'c'],
    ['title', 'ne', 'lead', 'ab'],
    ['title', 'eq', 'a\0', ''],
    ['title', 'gt', 'agent', 'c'],
    ['title', 'eq', 7, ''],
    ['title', 'eq', true, ''],
    ['name.familyname', 'sw', 'är', 'a'],
    ['name', 'eq', 'Ann', ''],
    ['active', 'eq', true, 'ac'],
    ['active', 'eq', 'True', 'ac'],
    ['active', 'eq', false, 'b'],
    ['active', 'ne', true, 'b'],
    ['active', 'gt', true, ''],
    ['active', 'eq', 'yes', ''],
    ['emails', 'co', '@HOME', 'ac'],
    ['emails.value', 'eq', 'ANN@work.example', 'a'],
    ['emails.type', 'eq', 'work', 'a'],
    ['emails.type', 'ne', 'work', 'bc'],
    ['emails.primary', 'eq', true, 'a'],
    ['emails.nothing', 'eq', 'x', ''],
    ['groups.display', 'eq', 'SALES', 'ab'],
    ['meta.created', 'gt', '2020-01-01T00:00:00Z', 'abc'],
    ['meta.lastmodified', 'lt', '2020-01-01T00:00:00+01:00', ''],
    ['meta.created', 'gt', 'yesterday', ''],
    ['meta.created', 'co', '2', ''],
    ['meta.resourcetype', 'eq', 'User', 'abc'],
    ['shoesize', 'eq', 'x', ''],
    ['shoesize', 'ne', 'x', 'abc'],
    ['__proto__', 'eq', 'x', ''],
    ['constructor.name', 'eq', 'Object', ''],
    ["title') or true --", 'eq', 'x', ''],
    ['title', 'eq', "' or true --", ''],
    ['title', 'eq', '$1', ''],
  ])('%s %s %j: %j', async (path, operator, value, expected) => {
    expect(await findUsers(compare(path, operator, value))).toBe(expected)
  })

  test('ids, and what extensions say', async () => {
    expect(await findUsers(compare('id', 'eq', ids.b))).toBe('b')
    expect(await findUsers(compare('id', 'eq', ids.b!.toUpperCase()))).toBe('')
    expect(await findUsers(compare('groups', 'eq', groupIds.t))).toBe('a')
    expect(await findUsers({ ...compare('x', 'eq', 'sales'), path: inEnterprise('department') } as never)).toBe('a')
    expect(await findUsers({ ...compare('x', 'sw', 'BO'), path: inEnterprise('manager.value') } as never)).toBe('a')
  })
})

test('whether there is a value', async () => {
  const found: Record<string, string> = {}
  for (const path of [
    'title',
    'name',
    'emails',
    'emails.type',
    'externalid',
    'active',
    'groups',
    'shoesize',
    'meta.created',
  ]) {
    found[path] = await findUsers({ kind: 'present', path: path.split('.') })
  }
  expect(found).toEqual({
    title: 'ac',
    name: 'a',
    emails: 'ac',
    'emails.type': 'ac',
    externalid: 'ab',
    active: 'abc',
    groups: 'ab',
    shoesize: '',
    'meta.created': 'abc',
  })
})

test('terms are joined, turned round, and asked of one value', async () => {
  const agent = compare('title', 'eq', 'agent')
  const bob = compare('username', 'eq', 'bob')
  expect(await findUsers({ kind: 'or', terms: [agent, bob] })).toBe('ab')
  expect(await findUsers({ kind: 'and', terms: [agent, bob] })).toBe('')
  expect(await findUsers({ kind: 'not', term: agent })).toBe('bc')
  expect(await findUsers({ kind: 'not', term: { kind: 'or', terms: [agent, bob] } })).toBe('c')
  const some = (...terms: DirectoryFilter[]): DirectoryFilter => ({
    kind: 'some',
    path: ['emails'],
    filter: { kind: 'and', terms },
  })
  const home = compare('type', 'eq', 'home')
  expect(await findUsers(some(home, compare('value', 'sw', 'ann')))).toBe('a')
  expect(await findUsers(some(home, compare('primary', 'eq', true)))).toBe('')
  expect(await findUsers(some({ kind: 'not', term: home }))).toBe('a')
  expect(await findUsers({ kind: 'some', path: ['title'], filter: agent })).toBe('')
  expect(await findUsers({ kind: 'some', path: ['groups'], filter: compare('display', 'sw', 'TEC') })).toBe('a')
})

test('groups are found by name, by ids, and by who is in them', async () => {
  expect(await findGroups(compare('displayname', 'eq', 'sALES'))).toBe('s')
  expect(await findGroups(compare('displayname', 'co', 'TEAM'))).toBe('t')
  expect(await findGroups(compare('id', 'eq', groupIds.t))).toBe('t')
  expect(await findGroups(compare('externalid', 'eq', 'G1'))).toBe('s')
  expect(await findGroups(compare('externalid', 'eq', 'g1'))).toBe('')
  expect(await findGroups(compare('members', 'eq', ids.b))).toBe('s')
  expect(await findGroups(compare('members.value', 'eq', ids.a))).toBe('st')
  expect(await findGroups({ kind: 'some', path: ['members'], filter: compare('value', 'eq', ids.c) })).toBe('')
  expect(await findGroups({ kind: 'not', term: { kind: 'present', path: ['members'] } })).toBe('')
})

test('sorting goes by value, without regard to case, and puts what has none last', async () => {
  const sorted = async (path: string, descending = false) => {
    const query = { sort: { path: path.split('.'), descending }, offset: 0, count: 10 }
    const { items } = await lab.run((tx) => lab.directory.users(tx, query))
    return items.map(({ userName }) => userName[0]!.toLowerCase()).join('')
  }
  expect(await sorted('username')).toBe('abc')
  expect(await sorted('username', true)).toBe('cba')
  expect(await sorted('title', true)).toBe('cab')
  expect(await sorted('emails')).toBe('acb')
  expect(await sorted('emails.value', true)).toBe('bca')
  expect(await sorted('externalid', true)).toBe('cba')
  expect(await sorted('active')).toBe('bac')
  expect(await sorted('meta.created', true)).toBe('cba')
  expect(await sorted('shoesize')).toBe('abc')
  expect(await sorted('name')).toBe('abc')
})

test('pages are cut as they are asked for, and the total is of all', async () => {
  const page = (offset: number, count: number) => lab.run((tx) => lab.directory.users(tx, { offset, count }))
  expect(await page(0, 0)).toEqual({ total: 3, items: [] })
  expect((await page(1, 1)).items.map(({ userName }) => userName)).toEqual(['bob'])
  expect(await page(3, 5)).toEqual({ total: 3, items: [] })
  expect((await page(0, 1)).items[0]!.groups).toHaveLength(2)
})

test.each([
  ['username', 'user_name_key'],
  ['externalid', 'external_id'],
  ['id', 'user_id'],
])('equality of %s is answered by an index', async (path, column) => {
  const superuser = await hub.superuserClient()
  await superuser.query(
    `insert into hub.directory_users
     select 'cmode', 'u' || n, 'n' || n, 'n' || n, 'e' || n, true, '{}', 1, now(), now() from generate_series(1, 2000) n
     on conflict do nothing`,
  )
  await superuser.query('analyze hub.directory_users')
  const values: unknown[] = ['cmode']
  const condition = filterSql(userAttributes, compare(path, 'eq', 'x'), values)
  const { rows } = await superuser.query(
    `explain select from hub.directory_users d where d.tenant_id = $1 and ${condition}`,
    values,
  )
  expect(JSON.stringify(rows)).toMatch(new RegExp(`Index Cond: [^"]*${column} = `))
})
