import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { connectScim, errorSchema, groupSchema, listSchema, type ScimClient, userSchema } from './scim-client.ts'

/**
 * What Okta publishes: the steps of its "SCIM 2.0 SPEC Test" and "CRUD Test", and the requests of its SCIM 2.0 reference.
 */
let hub: TestHub
let okta: ScimClient
beforeAll(async () => {
  hub = await startHub()
  okta = await connectScim(hub, 'acme')
  await okta.user('existing@okta.example')
})
afterAll(() => hub.stop())

const person = (userName: string, more: object = {}) => ({
  schemas: [userSchema],
  userName,
  name: { givenName: 'Test', familyName: 'User' },
  emails: [{ primary: true, value: userName, type: 'work' }],
  displayName: 'Test User',
  locale: 'en-US',
  externalId: `00u${Math.random().toString(36).slice(2)}`,
  groups: [],
  password: '1mz050nq',
  active: true,
  ...more,
})

describe('the SPEC test', () => {
  const userName = 'okta.spec@okta.example'
  let id: string

  test('the Users endpoint lists with numbers', async () => {
    const { status, body } = await okta.get('/Users?count=1&startIndex=1')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      schemas: [listSchema],
      itemsPerPage: 1,
      startIndex: 1,
      totalResults: expect.any(Number),
    })
    expect(body.Resources[0]).toMatchObject({
      id: expect.any(String),
      name: { familyName: expect.any(String), givenName: expect.any(String) },
      userName: expect.any(String),
      active: true,
      emails: [{ value: expect.any(String) }],
    })
    const one = await okta.get(`/Users/${body.Resources[0].id}`)
    expect([one.status, one.body]).toEqual([200, body.Resources[0]])
  })

  test('a user name and an id that are not there', async () => {
    const { status, body } = await okta.find('Users', `userName eq "${userName}"`)
    expect([status, body.totalResults, body.schemas]).toEqual([200, 0, [listSchema]])
    const missing = await okta.get('/Users/00919288221112222')
    expect([missing.status, missing.body.status, missing.body.schemas]).toEqual([404, '404', [errorSchema]])
    expect(missing.body.detail).toEqual(expect.any(String))
  })

  test('a user is created, without its password, and verified', async () => {
    const { status, body } = await okta.call('POST', '/Users', {
      body: person(userName),
      headers: { 'content-type': 'application/json', accept: 'application/scim+json; charset=utf-8' },
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({ active: true, userName, name: { familyName: 'User', givenName: 'Test' }, groups: [] })
    expect(body).not.toHaveProperty('password')
    id = body.id
    expect((await okta.get(`/Users/${id}`)).body).toMatchObject({ userName })
  })

  test('the same user again is 409', async () => {
    const { status, body } = await okta.post('/Users', person(userName))
    expect([status, body.schemas, body.status]).toEqual([409, [errorSchema], '409'])
  })

  test('user names are the same in upper case', async () => {
    const { status, body } = await okta.find(
      'Users',
      `userName eq "${userName.toUpperCase()}"`,
      '&startIndex=1&count=100',
    )
    expect([status, body.totalResults, body.Resources[0].userName]).toEqual([200, 1, userName])
  })

  test('Groups lists, and a wrong token is 401', async () => {
    expect((await okta.get('/Groups')).body).toMatchObject({ schemas: [listSchema], Resources: [] })
    const { status, body } = await okta.call('GET', '/Users', { headers: { authorization: 'non-token' } })
    expect([status, body.status, body.schemas]).toEqual([401, '401', [errorSchema]])
    expect(body.detail).toEqual(expect.any(String))
  })
})

describe('the CRUD test', () => {
  test('created, replaced, deactivated, reactivated, deactivated', async () => {
    const { body: made } = await okta.post('/Users', person('okta.crud@okta.example'))
    const path = `/Users/${made.id}`
    const renamed = await okta.put(path, { ...made, name: { ...made.name, givenName: 'Another', middleName: '' } })
    expect(renamed.status).toBe(200)
    expect(renamed.body).toMatchObject({
      id: made.id,
      name: { givenName: 'Another', middleName: '', familyName: 'User' },
    })
    for (const active of [false, true, false]) {
      const { status, body } = await okta.patch(path, [{ op: 'replace', value: { active } }])
      expect([status, body.active]).toEqual([200, active])
      expect((await okta.get(path)).body.active).toBe(active)
    }
    const back = await okta.put(path, { ...renamed.body, active: true })
    expect([back.status, back.body.active]).toEqual([200, true])
  })

  test('PUT takes away what it leaves out, but neither who somebody is nor whether they are active', async () => {
    const { body: made } = await okta.post('/Users', person('okta.put@okta.example', { nickName: 'N' }))
    await okta.patch(`/Users/${made.id}`, [{ op: 'replace', value: { active: false } }])
    const { body } = await okta.put(`/Users/${made.id}`, {
      schemas: [userSchema],
      id: made.id,
      userName: made.userName,
    })
    expect(body).toMatchObject({ externalId: made.externalId, active: false })
    for (const name of ['nickName', 'emails', 'name', 'displayName']) expect(body).not.toHaveProperty(name)
  })

  test('all pages together are everybody once, in one order', async () => {
    for (let at = 0; at < 7; at++) await okta.user(`okta.page${at}@okta.example`)
    const ids: string[] = []
    for (let startIndex = 1; ; startIndex += 3) {
      const { body } = await okta.get(`/Users?startIndex=${startIndex}&count=3`)
      ids.push(...body.Resources.map(({ id }: { id: string }) => id))
      if (ids.length >= body.totalResults) break
    }
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.length).toBeGreaterThan(7)
  })
})

describe('group push', () => {
  test('an empty group, its name with its id in the value, and its members by PATCH and PUT', async () => {
    const [a, b] = [await okta.user('okta.member1'), await okta.user('okta.member2')]
    const made = await okta.post('/Groups', { schemas: [groupSchema], displayName: 'Test SCIMv2', members: [] })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ displayName: 'Test SCIMv2', members: [], meta: { resourceType: 'Group' } })
    const path = `/Groups/${made.body.id}`
    const member = ({ id, userName }: { id: string; userName: string }) => ({ value: id, display: userName })
    const members = async () => (await okta.get(path)).body.members.map(({ value }: { value: string }) => value).sort()

    const renamed = await okta.patch(path, [
      { op: 'replace', value: { id: made.body.id, displayName: 'Test SCIMv20' } },
    ])
    expect([renamed.status, renamed.body.displayName]).toEqual([200, 'Test SCIMv20'])
    await okta.patch(path, [{ op: 'add', path: 'members', value: [member(a)] }])
    expect(await members()).toEqual([a.id])
    const both = await okta.patch(path, [
      { op: 'remove', path: `members[value eq "${a.id}"]` },
      { op: 'add', path: 'members', value: [member(b)] },
    ])
    expect(both.status).toBe(200)
    expect(await members()).toEqual([b.id])
    await okta.patch(path, [{ op: 'replace', path: 'members', value: [member(a), member(b)] }])
    expect(await members()).toEqual([a.id, b.id].sort())
    const put = await okta.put(path, {
      schemas: [groupSchema],
      id: made.body.id,
      displayName: 'Put',
      members: [member(b)],
    })
    expect([put.status, put.body.displayName]).toEqual([200, 'Put'])
    expect(await members()).toEqual([b.id])
    const emptied = await okta.put(path, { schemas: [groupSchema], displayName: 'Put', members: [] })
    expect(emptied.body.members).toEqual([])
    expect((await okta.find('Groups', 'displayName eq "put"', '&startIndex=1&count=100')).body.totalResults).toBe(1)
    expect((await okta.call('DELETE', path)).status).toBe(204)
  })
})
