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

describe('authentication', () => {
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

describe('discovery', () => {
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

test('governance events name the connection, and no address of a person', async () => {
  const { id } = await scim.user('told')
  await scim.call('DELETE', `/Users/${id}`)
  const { body } = await hub.call('acme', 'GET', '/api/v1/hub/records?record_type=governance_event&limit=1000')
  const text = JSON.stringify(body)
  expect(text).toContain('"actor":"scim:scim_')
  expect(text).not.toContain('told@people.example')
})
