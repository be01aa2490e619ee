import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { operations } from '../../contract/operations.ts'
import { type HttpLab, startHttpLab } from './http-lab.ts'

let lab: HttpLab
beforeAll(async () => {
  lab = await startHttpLab()
})
afterAll(() => lab.close())

const slugOf = (body: { type: string }) => body.type.split('/').at(-1)
const id = '01890a5d-ac96-774b-bcce-b302099a8057'

/** Mending the first fault of a request shows the next check, so the list is the order of decisions section 1. */
test('a request that is wrong in every way meets the checks in their order', async () => {
  // Of 500 writes a minute this leaves two to a token.
  const limited = await startHttpLab({ config: { limitFactor: 0.004 } })
  onTestFinished(() => limited.close())
  const path = '/api/v1/hub/records?nope=1'
  const everythingWrong = {
    authorization: 'Bearer nobody',
    'x-service-tenant': undefined,
    accept: 'application/vnd.service.v2+json',
    'content-type': 'text/plain',
    'content-encoding': 'br',
  }
  const steps: { mend: Record<string, string | undefined>; expected: [number, string] }[] = [
    { mend: {}, expected: [406, 'version-not-available'] },
    { mend: { accept: '*/*' }, expected: [401, 'authentication-failed'] },
    { mend: { authorization: 'Bearer acme' }, expected: [400, 'validation-failed'] },
    { mend: { 'x-service-tenant': 'globex' }, expected: [403, 'invalid-tenant'] },
    { mend: { 'x-service-tenant': 'acme' }, expected: [403, 'insufficient-scope'] },
    { mend: { authorization: 'Bearer acme.hub-write' }, expected: [415, 'unsupported-media-type'] },
    { mend: { 'content-type': 'application/json' }, expected: [415, 'unsupported-media-type'] },
    { mend: { 'content-encoding': undefined }, expected: [429, 'rate-limited'] },
    { mend: { authorization: 'Bearer acme.hub-write.hub-read' }, expected: [413, 'payload-too-large'] },
  ]
  let headers: Record<string, string | undefined> = everythingWrong
  for (const { mend, expected } of steps) {
    headers = { ...headers, ...mend }
    const { status, body } = await limited.call('POST', path, { headers, body: 'x'.repeat(1024 * 1024 + 1) })
    expect([status, slugOf(body)]).toEqual(expected)
  }
  const malformed = await limited.call('POST', path, { headers, body: '{"title":' })
  expect([malformed.status, slugOf(malformed.body)]).toEqual([400, 'malformed-json'])
  const fresh = { ...headers, authorization: 'Bearer acme.all' }
  const invalid = await limited.call('POST', path, { headers: fresh, body: '{"title":1}' })
  expect(invalid.body.errors.map((error: { pointer: string }) => error.pointer).sort()).toEqual([
    '/kind',
    '/query/nope',
    '/title',
  ])
})

describe('an address', () => {
  test('that does not exist is 404 with and without a token, whatever else is wrong', async () => {
    for (const headers of [{}, { authorization: undefined }, { 'content-type': 'text/plain' }]) {
      const { status, body } = await lab.call('POST', '/api/v1/hub/recordz', { headers, body: 'x' })
      expect([status, slugOf(body)]).toEqual([404, 'not-found'])
    }
  })

  test.each([
    ['PUT', '/api/v1/hub/records', 'GET, HEAD, POST'],
    ['OPTIONS', '/api/v1/hub/records', 'GET, HEAD, POST'],
    ['PROPFIND', '/v1/health', 'GET, HEAD'],
    ['GET', `/api/v1/hub/records/${id}:restore`, 'POST'],
    ['GET', `/api/v1/hub/records/${id}%3Arestore`, 'POST'],
    ['PATCH', `/api/v1/hub/records/${id}`, 'DELETE, GET, HEAD'],
  ])('%s %s is 405 and names the methods', async (method, path, allow) => {
    const { status, headers, body } = await lab.call(method, path, { headers: { authorization: undefined } })
    expect([status, slugOf(body), headers.get('allow')]).toEqual([405, 'method-not-allowed', allow])
  })

  test.each([
    [`/api/v1/hub/records/${id}:restore`, { record_id: id, body: {} }],
    [`/api/v1/hub/records/${id}%3Arestore`, { record_id: id, body: {} }],
    ['/api/v1/skill-entitlement/skills/a:b.c:transition', { skill_id: 'a:b.c' }],
    ['/api/v1/skill-entitlement/skills/a%3ab:transition', { skill_id: 'a:b' }],
    ['/api/v1/skill-entitlement/skills/transition:transition', { skill_id: 'transition' }],
  ])('POST %s reaches its action', async (path, expected) => {
    const { status, body } = await lab.call('POST', path)
    expect({ status, body }).toEqual({ status: 200, body: expected })
    const answers = await lab.call('POST', path.replace(/(:|%3A)[^:%]*$/, ':elsewhere'))
    expect(answers.status).toBe(404)
  })

  test.each(['/api/%zz', '/api/v1/hub/records/%ff', '/%'])('%s cannot be read', async (path) => {
    const { status, headers, body } = await lab.call('GET', path)
    expect([status, slugOf(body), body.errors[0].pointer]).toEqual([400, 'validation-failed', '/path'])
    expect(headers.get('x-service-request-id')).toBe(body.instance)
  })
})

describe('a credential', () => {
  test.each([
    [undefined, 'Bearer realm="hub"'],
    ['Basic YTpi', 'Bearer realm="hub", error="invalid_token"'],
    ['Bearer', 'Bearer realm="hub", error="invalid_token"'],
    ['Bearer a b', 'Bearer realm="hub", error="invalid_token"'],
    ['Bearer nobody', 'Bearer realm="hub", error="invalid_token"'],
  ])('%s is 401 with a challenge (RFC 6750)', async (authorization, challenge) => {
    const { status, headers } = await lab.call('GET', `/api/v1/hub/records/${id}`, { headers: { authorization } })
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toBe(challenge)
  })

  test('of a lesser scope is told which it needs', async () => {
    const { headers, body } = await lab.call('GET', `/api/v1/hub/records/${id}`, {
      headers: { authorization: 'Bearer acme.roster-read' },
    })
    expect(body.required_scopes).toEqual(['hub:read', 'telemetry:read', 'governance:read'])
    expect(headers.get('www-authenticate')).toContain('error="insufficient_scope"')
  })
})

test('a tenant that is unknown, malformed or foreign gets the same answer, and no look-up', async () => {
  lab.lookedUp.length = 0
  const answers = []
  for (const slug of ['globex', 'nobody-has-this', 'Not A Slug!', "x' or 1=1", 'acme, acme', 'ACME']) {
    const { status, text, body, headers } = await lab.call('GET', `/api/v1/hub/records/${id}`, {
      headers: { 'x-service-tenant': slug },
    })
    expect([status, body.tenant_slug]).toEqual([403, slug])
    const names = [...headers.keys()].filter((name) => name !== 'content-length')
    const masked = text.replace(body.instance, 'ID').replace(JSON.stringify(slug), 'SLUG')
    answers.push(JSON.stringify([masked, names]))
  }
  expect(new Set(answers).size).toBe(1)
  expect(lab.lookedUp).toEqual([])
})

test('the lab has routes of the table only', () => {
  expect([...lab.app.hubRoutes.keys()].every((name) => name in operations)).toBe(true)
})

test.each<[string, number]>([
  ['application/vnd.service.v2+json', 406],
  ['Application/VND.Service.v2+JSON', 406],
  ['application/json, application/vnd.service.v3+json;q=0.1', 406],
  ['application/vnd.service.v2+json;q=0', 200],
  ['application/vnd.service.v2+json; Q=0.000, */*', 200],
  ['application/vnd.service.v2+json;q=0.001', 406],
  ['application/vnd.service.v1+json', 200],
  ['text/html', 200],
])('Accept: %s gets %i', async (accept, status) => {
  expect((await lab.call('GET', '/api/v1/hub/records', { headers: { accept } })).status).toBe(status)
})
