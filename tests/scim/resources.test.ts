import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import {
  connectScim,
  errorSchema,
  groupSchema,
  listSchema,
  patchSchema,
  type ScimClient,
  userSchema,
} from './scim-client.ts'

let hub: TestHub
let scim: ScimClient
beforeAll(async () => {
  hub = await startHub()
  scim = await connectScim(hub, 'acme')
})
afterAll(() => hub.stop())

const unknownId = 'usr_AAAAAAAAAAAAAAAAAAAAAAAA'

describe('versions', () => {
  test('a resource has an address and a weak entity tag, which If-None-Match and If-Match take', async () => {
    const made = await scim.post('/Users', { schemas: [userSchema], userName: 'etag@people.example' })
    const { id, meta } = made.body
    expect(made.headers.location).toBe(`${hub.baseUrl}/scim/v2/acme/Users/${id}`)
    expect(meta).toMatchObject({ resourceType: 'User', location: made.headers.location, version: made.headers.etag })
    const etag = String(made.headers.etag)
    expect(etag).toMatch(/^W\/"\d+"$/)

    const known = await scim.get(`/Users/${id}`, { 'if-none-match': etag })
    expect([known.status, known.text, known.headers.etag]).toEqual([304, '', etag])
    expect((await scim.get(`/Users/${id}`, { 'if-none-match': 'W/"999"' })).status).toBe(200)
    expect((await scim.get(`/Users/${id}`, { 'if-none-match': 'nonsense' })).body.scimType).toBe('invalidSyntax')

    const change = (title: string) => ({
      schemas: [patchSchema],
      Operations: [{ op: 'replace', path: 'title', value: title }],
    })
    const changed = await scim.call('PATCH', `/Users/${id}`, { body: change('A'), headers: { 'if-match': etag } })
    expect(changed.status).toBe(200)
    expect(changed.headers.etag).not.toBe(etag)
    for (const [method, body] of [
      ['PATCH', change('B')],
      ['PUT', { userName: 'etag@people.example' }],
      ['DELETE', undefined],
    ] as const) {
      const stale = await scim.call(method, `/Users/${id}`, { ...(body && { body }), headers: { 'if-match': etag } })
      expect([method, stale.status, stale.body.status]).toEqual([method, 412, '412'])
    }
    const same = await scim.call('PATCH', `/Users/${id}`, { body: change('A'), headers: { 'if-match': '*' } })
    expect([same.status, same.headers.etag]).toEqual([200, changed.headers.etag])
    const gone = await scim.call('DELETE', `/Users/${id}`, { headers: { 'if-match': String(changed.headers.etag) } })
    expect([gone.status, gone.text]).toEqual([204, ''])
    expect((await scim.get(`/Users/${id}`)).status).toBe(404)
  })

  test('groups have them too', async () => {
    const group = await scim.group('Tagged')
    const stale = await scim.call('DELETE', `/Groups/${group.id}`, { headers: { 'if-match': 'W/"999"' } })
    expect(stale.status).toBe(412)
    expect(
      (await scim.call('DELETE', `/Groups/${group.id}`, { headers: { 'if-match': group.meta.version } })).status,
    ).toBe(204)
  })

  test('those who change the same person at once all succeed', async () => {
    const { id } = await scim.user('busy')
    const attributes = ['title', 'nickName', 'userType', 'locale', 'timezone']
    const answers = await Promise.all(
      attributes.map((path) => scim.patch(`/Users/${id}`, [{ op: 'replace', path, value: path }])),
    )
    expect(answers.map(({ status }) => status)).toEqual(attributes.map(() => 200))
    expect((await scim.get(`/Users/${id}`)).body).toMatchObject(
      Object.fromEntries(attributes.map((name) => [name, name])),
    )
    const many = Array.from({ length: 30 }, (_, at) => [{ op: 'replace', path: 'title', value: `t${at}` }])
    const statuses = (await Promise.all(many.map((each) => scim.patch(`/Users/${id}`, each)))).map(
      (each) => each.status,
    )
    expect(statuses).toEqual(many.map(() => 200))
  })
})

describe('lists', () => {
  beforeAll(async () => {
    for (const name of ['list-c', 'list-a', 'list-b'])
      await scim.user(name, { title: `Title ${name}`, userType: 'listed' })
  })
  const names = (body: { Resources: { userName: string }[] }) => body.Resources.map(({ userName }) => userName)

  test('filter, order and pages', async () => {
    const all = await scim.find('Users', 'userType eq "Listed"', '&sortBy=userName')
    expect(all.body).toMatchObject({ schemas: [listSchema], totalResults: 3, startIndex: 1, itemsPerPage: 3 })
    expect(names(all.body)).toEqual(['list-a', 'list-b', 'list-c'])
    const down = await scim.find(
      'Users',
      'userType eq "listed"',
      '&sortBy=USERNAME&sortOrder=descending&startIndex=2&count=1',
    )
    expect(down.body).toMatchObject({ totalResults: 3, startIndex: 2, itemsPerPage: 1 })
    expect(names(down.body)).toEqual(['list-b'])
    const none = await scim.find('Users', 'userType eq "listed"', '&count=0')
    expect(none.body).toMatchObject({ totalResults: 3, itemsPerPage: 0, Resources: [] })
    const odd = await scim.find('Users', 'userType eq "listed"', '&startIndex=-5&count=-1')
    expect(odd.body).toMatchObject({ startIndex: 1, itemsPerPage: 0 })
    const beyond = await scim.find('Users', 'userType eq "listed"', '&startIndex=20')
    expect(beyond.body).toMatchObject({ totalResults: 3, startIndex: 20, Resources: [] })
  })

  test('attributes and excludedAttributes', async () => {
    const { id } = await scim.user('projected', { nickName: 'P' })
    const only = await scim.get(`/Users/${id}?attributes=userName,name.givenName,emails.value`)
    expect(only.body).toEqual({
      schemas: [userSchema],
      id,
      userName: 'projected',
      name: { givenName: 'Test' },
      emails: [{ value: 'projected@people.example' }],
    })
    const without = await scim.get(`/Users/${id}?excludedAttributes=id,emails,name.familyName,groups`)
    expect(without.body).toMatchObject({ id, name: { givenName: 'Test' }, nickName: 'P' })
    expect(without.body).not.toHaveProperty('emails')
    expect(without.body).not.toHaveProperty('groups')
    const made = await scim.call('POST', '/Users?attributes=userName', { body: { userName: 'projected-2' } })
    expect(Object.keys(made.body).sort()).toEqual(['id', 'schemas', 'userName'])
    const list = await scim.find('Users', 'userName eq "projected"', '&attributes=nickName,nonsense')
    expect(list.body.Resources).toEqual([{ schemas: [userSchema], id, nickName: 'P' }])
  })

  test('.search does the same', async () => {
    const { status, body } = await scim.post('/Users/.search', {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
      filter: 'userType eq "listed"',
      sortBy: 'userName',
      attributes: ['userName'],
      startIndex: 2,
      count: 5,
    })
    expect([status, names(body)]).toEqual([200, ['list-b', 'list-c']])
    expect((await scim.get('/Users/.search')).status).toBe(405)
    expect((await scim.post('/Users/.search', { filter: 7 })).body.scimType).toBe('invalidValue')
  })

  test.each([
    ['filter=nonsense', 'invalidFilter'],
    ['filter=a&filter=b', 'invalidValue'],
    ['filter=%ff', 'invalidValue'],
    ['count=many', 'invalidValue'],
    ['startIndex=1.5', 'invalidValue'],
    ['startIndex=1&startIndex=2', 'invalidValue'],
    ['sortOrder=sideways', 'invalidValue'],
    ['sortBy=nonsense', 'invalidPath'],
    ['sortBy=name', 'invalidPath'],
  ])('%s → 400 %s', async (query, scimType) => {
    const { status, body } = await scim.get(`/Users?${query}`)
    expect([status, body.scimType, body.status, body.schemas]).toEqual([400, scimType, '400', [errorSchema]])
  })
})

describe('bodies', () => {
  test('application/json is taken as well, other media types are not', async () => {
    const body = { userName: 'json' }
    expect(
      (await scim.call('POST', '/Users', { body, headers: { 'content-type': 'application/json; charset=utf-8' } }))
        .status,
    ).toBe(201)
    const text = await scim.call('POST', '/Users', { body, headers: { 'content-type': 'text/plain' } })
    expect([text.status, text.body.schemas]).toEqual([415, [errorSchema]])
    const large = await scim.call('POST', '/Users', {
      body: JSON.stringify({ userName: 'large', title: 'x'.repeat(4_200_000) }),
    })
    expect([large.status, large.body.status]).toEqual([413, '413'])
  })

  test.each<[string, string, string]>([
    ['not JSON', '{"userName":', 'invalidSyntax'],
    ['a repeated member', '{"userName":"a","userName":"b"}', 'invalidSyntax'],
    ['an attribute in two spellings', '{"userName":"a","username":"b"}', 'invalidSyntax'],
    ['__proto__', '{"userName":"a","__proto__":{"active":false}}', 'invalidSyntax'],
    ['NUL', '{"userName":"a\\u0000"}', 'invalidValue'],
    ['depth', `{"userName":${'['.repeat(70)}${']'.repeat(70)}}`, 'invalidValue'],
    ['a list', '[]', 'invalidSyntax'],
    ['no body at all', '', 'invalidSyntax'],
    ['no userName', '{"schemas":[]}', 'invalidSyntax'],
    ['an empty userName', '{"userName":" "}', 'invalidValue'],
    ['a long userName', JSON.stringify({ userName: 'x'.repeat(513) }), 'invalidValue'],
    ['a long externalId', JSON.stringify({ userName: 'x', externalId: 'x'.repeat(513) }), 'invalidValue'],
    ['other schemas', '{"schemas":["urn:nobody"],"userName":"a"}', 'invalidSyntax'],
    ['schemas that are none', '{"schemas":"urn","userName":"a"}', 'invalidSyntax'],
    [
      'two primary addresses',
      '{"userName":"a","emails":[{"value":"a@b.example","primary":true},{"value":"c@b.example","primary":true}]}',
      'invalidValue',
    ],
    ['a number', '{"userName":7}', 'invalidValue'],
    ['active that is neither', '{"userName":"a","active":"maybe"}', 'invalidValue'],
  ])('%s → 400', async (_what, body, scimType) => {
    const answer = await scim.call('POST', '/Users', { body })
    expect([answer.status, answer.body?.scimType, answer.body?.schemas]).toEqual([400, scimType, [errorSchema]])
  })

  test('a password is never kept, unknown attributes are left out, and the core schema may be named', async () => {
    const made = await scim.post('/Users', {
      schemas: [userSchema, 'urn:acme:1.0:User'],
      id: 'usr_mine',
      password: 'hunter2-hunter2',
      colour: 'red',
      'urn:acme:1.0:User': { colour: 'red' },
      groups: [{ value: 'grp_1' }],
      meta: { created: '2001-01-01T00:00:00Z' },
      [userSchema]: { userName: 'below', TITLE: 'Lead' },
    })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ userName: 'below', title: 'Lead', groups: [], active: true })
    expect(made.body.id).not.toBe('usr_mine')
    for (const name of ['password', 'colour', 'urn:acme:1.0:User']) expect(made.body).not.toHaveProperty(name)
    const client = await hub.superuserClient()
    const { rows } = await client.query('select attributes::text from hub.directory_users where tenant_id = $1', [
      'acme',
    ])
    expect(JSON.stringify(rows)).not.toContain('hunter2')
    expect(hub.logLines.join()).not.toContain('hunter2')
    expect(hub.logLines.join()).not.toContain(scim.token)
  })

  test('names are unique, whatever their case', async () => {
    const { id } = await scim.user('taken')
    const again = await scim.post('/Users', { userName: 'TAKEN' })
    expect([again.status, again.body.scimType, again.body.status]).toEqual([409, 'uniqueness', '409'])
    const other = await scim.user('other')
    const renamed = await scim.patch(`/Users/${other.id}`, [{ op: 'replace', path: 'userName', value: 'taken' }])
    expect([renamed.status, renamed.body.scimType]).toEqual([409, 'uniqueness'])
    const group = await scim.group('Taken')
    expect((await scim.post('/Groups', { schemas: [groupSchema], displayName: 'taken' })).body.scimType).toBe(
      'uniqueness',
    )
    expect((await scim.post('/Groups', { schemas: [groupSchema] })).body.scimType).toBe('invalidSyntax')
    const stranger = await scim.patch(`/Groups/${group.id}`, [
      { op: 'add', path: 'members', value: [{ value: unknownId }] },
    ])
    expect([stranger.status, stranger.body.scimType]).toEqual([400, 'invalidValue'])
    expect((await scim.get(`/Users/${id}`)).status).toBe(200)
  })

  test('what is not there is 404 in every way', async () => {
    for (const kind of ['Users', 'Groups']) {
      const path = `/${kind}/${kind === 'Users' ? unknownId : 'grp_AAAAAAAAAAAAAAAAAAAAAAAA'}`
      const name = kind === 'Users' ? 'userName' : 'displayName'
      const answers = [
        await scim.get(path),
        await scim.put(path, { [name]: 'nobody' }),
        await scim.patch(path, [{ op: 'replace', path: name, value: 'nobody' }]),
        await scim.call('DELETE', path),
      ]
      for (const { status, body } of answers)
        expect([status, body.status, body.schemas]).toEqual([404, '404', [errorSchema]])
    }
  })
})
