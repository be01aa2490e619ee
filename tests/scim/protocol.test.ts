import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import {
  connectScim,
  errorSchema,
  groupSchema,
  listSchema,
  patchSchema,
  type ScimClient,
  scimClient,
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

describe('who is let in', () => {
  test('one 401 for no token, a wrong one, another tenant’s, an unknown tenant and one without SCIM', async () => {
    const globex = await connectScim(hub, 'globex')
    const answers = [
      await scim.call('GET', '/Users', { token: null }),
      await scim.call('GET', '/Users', { token: 'wrong' }),
      await scim.call('GET', '/Users', { token: globex.token }),
      await scim.call('GET', '/nonsense', { token: 'wrong' }),
      await scim.call('POST', '/Users', { token: 'wrong', body: '{', headers: { 'content-type': 'text/plain' } }),
      await scim.call('GET', '/Users', { token: await hub.token('acme') }),
      await scim.call('GET', '/Users', { headers: { authorization: `Basic ${btoa('a:b')}` } }),
      await scimClient(hub, 'cmode', scim.token).get('/Users'),
      await hub.call('acme', 'GET', '/scim/v2/nobody/Users', {
        token: scim.token,
        headers: { accept: 'application/scim+json' },
      }),
      await hub.call('acme', 'GET', `/scim/v2/${'x'.repeat(500)}`, {
        token: scim.token,
        headers: { accept: 'application/scim+json' },
      }),
    ]
    for (const { status, body, headers } of answers) {
      expect(status).toBe(401)
      expect(body).toEqual({ schemas: [errorSchema], status: '401', detail: expect.any(String) })
      expect(body.detail).toBe(answers[0]?.body.detail)
      expect(headers['content-type']).toBe('application/scim+json')
      expect(String(headers['www-authenticate'])).toMatch(/^Bearer /)
      expect(headers['x-service-request-id']).toEqual(expect.any(String))
    }
  })

  test('answers carry the headers of every answer, and the limits of the class', async () => {
    const { headers, status } = await scim.get('/Users')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/scim+json')
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['cache-control']).toBe('no-store')
    expect(headers['ratelimit-policy']).toContain('"token";q=500000')
  })
})

test('every path and method that the OpenAPI document describes is served', async () => {
  const { body: document } = await hub.call('acme', 'GET', '/v1/openapi.json', { token: null })
  const user = await scim.user('described@acme.example')
  const group = await scim.group('Described')
  const ids: Record<string, string> = {
    Users: user.id,
    Groups: group.id,
    ResourceTypes: 'User',
    Schemas: userSchema,
  }
  const bodies: Record<string, object> = {
    'POST Users': { schemas: [userSchema], userName: 'posted@acme.example' },
    'PUT Users': { schemas: [userSchema], userName: 'described@acme.example' },
    'POST Groups': { schemas: [groupSchema], displayName: 'Posted' },
    'PUT Groups': { schemas: [groupSchema], displayName: 'Described' },
  }
  const described = Object.entries<Record<string, { responses: Record<string, { content?: object }> }>>(document.paths)
    .filter(([path]) => path.startsWith('/scim/v2/{tenant}/'))
    .flatMap(([path, item]) => Object.entries(item).map(([method, { responses }]) => ({ path, method, responses })))
    // A resource is deleted last.
    .sort((a, b) => Number(a.method === 'delete') - Number(b.method === 'delete'))
  expect(described.length).toBeGreaterThanOrEqual(19)
  for (const { path, method, responses } of described) {
    const [endpoint = '', last] = path.replace('/scim/v2/{tenant}/', '').split('/')
    const served = `/${endpoint}${last === undefined ? '' : `/${last.replace('{id}', ids[endpoint] ?? '')}`}`
    const verb = method.toUpperCase()
    const operations = [{ op: 'replace', path: 'displayName', value: 'Changed' }]
    const body =
      last === '.search'
        ? {}
        : verb === 'PATCH'
          ? { schemas: [patchSchema], Operations: operations }
          : bodies[`${verb} ${endpoint}`]
    const answer = await scim.call(verb, served, body === undefined ? {} : { body })
    const [success = ''] = Object.keys(responses).filter((status) => status.startsWith('2'))
    expect([verb, path, answer.status], answer.text).toEqual([verb, path, Number(success)])
  }
  // The document leaves no method out.
  for (const path of new Set(described.map((each) => each.path))) {
    const [endpoint = '', last] = path.replace('/scim/v2/{tenant}/', '').split('/')
    const served = `/${endpoint}${last === undefined ? '' : `/${last.replace('{id}', 'none')}`}`
    const { status, headers } = await scim.call(methodMissingAt(document.paths[path]), served)
    expect([path, status]).toEqual([path, 405])
    expect(String(headers.allow).split(', ').sort()).toEqual(
      Object.keys(document.paths[path])
        .map((method) => method.toUpperCase())
        .sort(),
    )
  }
})

/** Returns a method that the item of a path does not describe. */
function methodMissingAt(item: object): string {
  return ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].find((method) => !(method.toLowerCase() in item))!
}

describe('what the server says of itself', () => {
  test('ServiceProviderConfig', async () => {
    const { body } = await scim.get('/ServiceProviderConfig')
    expect(body).toMatchObject({
      patch: { supported: true },
      bulk: { supported: false },
      filter: { supported: true, maxResults: 1000 },
      changePassword: { supported: false },
      sort: { supported: true },
      etag: { supported: true },
    })
    expect(body.authenticationSchemes).toHaveLength(1)
    expect((await scim.post('/Bulk', {})).status).toBe(404)
  })

  test('ResourceTypes and Schemas, together and one by one', async () => {
    const types = await scim.get('/ResourceTypes')
    expect(types.body).toMatchObject({ schemas: [listSchema], totalResults: 2 })
    expect(types.body.Resources.map(({ name }: { name: string }) => name)).toEqual(['User', 'Group'])
    expect((await scim.get('/ResourceTypes/User')).body).toEqual(types.body.Resources[0])
    const schemas = await scim.get('/Schemas')
    expect(schemas.body.totalResults).toBe(3)
    expect((await scim.get(`/Schemas/${userSchema}`)).body).toEqual(schemas.body.Resources[0])
    expect((await scim.get('/Schemas/urn:nobody')).status).toBe(404)
    expect((await scim.get('/Schemas?filter=id%20pr')).status).toBe(403)
    for (const schema of schemas.body.Resources) {
      for (const attribute of schema.attributes) {
        expect(attribute).toMatchObject({
          type: expect.any(String),
          multiValued: expect.any(Boolean),
          returned: expect.any(String),
        })
      }
    }
  })

  test('who reads plain JSON gets a number as status, and the plural of the types', async () => {
    const plain = { accept: 'application/json, text/plain, */*' }
    expect((await scim.get('/Users/none', plain)).body.status).toBe(404)
    expect((await scim.get('/ResourceTypes/User', plain)).body.name).toBe('Users')
    expect((await scim.get('/Users/none', { accept: 'application/json, application/scim+json;q=0' })).body.status).toBe(
      404,
    )
    for (const accept of [undefined, 'application/json;q=0']) {
      expect((await scim.get('/Users/none', { accept })).body.status).toBe('404')
    }
  })

  test('addresses and methods that are not there', async () => {
    for (const path of ['', '/', '/users', '/Me', '/Users/a/b', '/.search']) {
      const { status, body } = await scim.get(path)
      expect([path, status, body.schemas]).toEqual([path, 404, [errorSchema]])
    }
    const refused = await scim.call('DELETE', '/Users')
    expect([refused.status, refused.headers.allow, refused.body.status]).toEqual([405, 'GET, POST', '405'])
    expect((await scim.call('PATCH', '/Schemas', { body: {} })).status).toBe(405)
    expect((await scim.get('/Users/')).status).toBe(200)
  })
})

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

test('governance events name the connection, and no address of a person', async () => {
  const { id } = await scim.user('told')
  await scim.call('DELETE', `/Users/${id}`)
  const { body } = await hub.call('acme', 'GET', '/api/v1/hub/records?record_type=governance_event&limit=1000')
  const text = JSON.stringify(body)
  expect(text).toContain('"actor":"scim:scim_')
  expect(text).not.toContain('told@people.example')
})
