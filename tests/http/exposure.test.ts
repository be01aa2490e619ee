import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OperationId, operations } from '../../contract/operations.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { startHttpLab } from './http-lab.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
const filled = (path: string) =>
  path
    .replace('{session_id}', `ses_${'A'.repeat(24)}`)
    .replaceAll(/\{[a-z_]+\}/g, '01890a5d-ac96-774b-bcce-b302099a8057')
const byPath = Map.groupBy(Object.entries(operations), ([, operation]) => operation.path)

/** What is open to everyone. */
const publicOperations = [
  'getHealth',
  'getOpenApi',
  'getTokenKeys',
  'getProvenanceKeys',
  'getOAuthMetadata',
  'getProtectedResource',
  'getMcpResource',
]

/** What asks for a credential of its own, and what it answers to a request without one, or without anything at all. */
const ownCredential: Partial<Record<OperationId, number>> = {
  issueServiceToken: 400,
  startLogin: 400,
  completeLogin: 400,
  issueUserToken: 401,
  logOut: 401,
  getMe: 401,
  listSessions: 401,
  endSession: 401,
  requestMagicLink: 400,
  mockLogIn: 400,
  registerClient: 400,
  authorizeClient: 400,
  decideAuthorization: 401,
  downloadExport: 403,
  receiveInbound: 401,
  createTenant: 401,
  listTenants: 401,
  getTenantAsOperator: 401,
  updateTenant: 401,
  createWelcomeLink: 401,
}

test('every operation of the table answers, and asks for the credential that the table says', async () => {
  expect([...hub.app.hubRoutes.keys()].sort()).toEqual(Object.keys(operations).sort())
  for (const [id, { method, path, access }] of Object.entries(operations)) {
    const { status, body, headers } = await hub.call('acme', method, filled(path), { token: null })
    const ofItsOwn = ownCredential[id as OperationId]
    const expected = access.kind === 'token' ? 401 : access.kind === 'own' ? ofItsOwn : 200
    expect([id, status], JSON.stringify(body)).toEqual([id, expected])
    // A session, above all, is nothing that anybody gets for nothing.
    const given = [headers['set-cookie'] ?? []].flat().filter((line) => !/=; Max-Age=0;/.test(String(line)))
    expect([id, given]).toEqual([id, []])
  }
})

/** Ids of skills may have colons, so this is also the address of a skill whose id ends as the verb does. */
const addressOfAnotherSkill = '/api/v1/skill-entitlement/skills/{skill_id}:transition'

test('no address of the table takes another method, whoever asks', async () => {
  for (const [path, entries] of byPath) {
    const taken: string[] = entries.map(([, operation]) => operation.method)
    if (path === addressOfAnotherSkill) taken.push('GET')
    for (const method of methods.filter((each) => !taken.includes(each))) {
      const { status, headers } = await hub.call('acme', method, filled(path))
      expect([method, path, status]).toEqual([method, path, 405])
      expect(
        String(headers.allow)
          .split(', ')
          .filter((each) => each !== 'HEAD')
          .sort(),
      ).toEqual(taken.sort())
    }
  }
})

test('addresses near those of the table do not exist', async () => {
  const forms = [...byPath.keys()].map((path) => new RegExp(`^${path.replaceAll(/\{[a-z_]+\}/g, '[^/]+')}$`))
  for (const path of byPath.keys()) {
    for (const near of [`${path}/`, `${path}x`, `/${path}`, path.toUpperCase(), `${path}/x/y`, `${path}:nothing`]) {
      const { status } = await hub.call('acme', 'POST', filled(near))
      // A parameter takes any text, so what follows it may be part of it; of connections nobody learns which there are.
      const isConnection = path.endsWith('{connection_id}')
      expect(isConnection ? [401, 404] : [400, 404, 405], near).toContain(status)
      const isAnother = forms.some((form) => form.test(filled(near)))
      if (!path.endsWith('}') && !isAnother) expect([near, status]).toEqual([near, 404])
    }
  }
})

test('HEAD answers as GET does, without a body', async () => {
  const headers = {
    host: 'localhost',
    authorization: `Bearer ${await hub.token('acme')}`,
    'x-service-tenant': 'acme',
  }
  const get = await hub.app.inject({ method: 'GET', url: '/api/v1/hub/records', headers })
  const head = await hub.app.inject({ method: 'HEAD', url: '/api/v1/hub/records', headers })
  expect([head.statusCode, head.payload]).toEqual([200, ''])
  for (const name of ['content-type', 'content-length']) expect(head.headers[name]).toBe(get.headers[name])
})

describe('the server', () => {
  test('takes no route that nothing would guard', async () => {
    const lab = await startHttpLab()
    await lab.close()
    const { createHttpServer } = await import('../../server/http/http-server.ts')
    const app = createHttpServer({
      config: { environment: 'development', trustedProxies: [], limitFactor: 1 },
      baseUrl: () => '',
      logger: lab.app.log,
      access: {
        authenticate: () => Promise.reject(new Error()),
        findTenant: async () => undefined,
        tenantAt: async () => undefined,
      },
      limiter: { take: () => Promise.reject(new Error()), refund: async () => {} },
      limitsOf: async () => ({}),
    })
    expect(() => app.get('/api/v1/secrets', async () => 'x')).toThrow('without addRoute')
    expect(() => app.get('/referenced', async () => 'x')).toThrow('without addRoute')
  })

  test('has the pages that are meant for everyone, and no more', async () => {
    const pages = [
      '/',
      '/docs',
      '/docs/',
      '/reference',
      '/reference/json',
      '/errors',
      '/errors/',
      '/errors/not-found',
      '/sign-in',
      '/session',
    ]
    for (const path of pages)
      expect((await hub.call('acme', 'GET', path, { token: null })).status, path).toBeLessThan(400)
    for (const path of [
      '/docs/.vitepress/config.ts',
      '/documentation',
      '/metrics',
      '/admin',
      '/welcome/acme/none',
      '/sign-in/link/acme/none',
      '/invitation/acme/none',
      '/reference/static/../../package.json',
      '/.env',
    ]) {
      expect((await hub.call('acme', 'GET', path, { token: null })).status, path).toBe(404)
    }
  })
})

test('every other operation takes a token', () => {
  const ofKind = (kind: string) =>
    (Object.keys(operations) as OperationId[]).filter((id) => operations[id].access.kind === kind)
  expect(ofKind('public')).toEqual(publicOperations)
  expect(ofKind('own')).toEqual(Object.keys(ownCredential))
})

test('what acts with cookies is for the own pages only', () => {
  const writing = Object.entries(operations).filter(
    ([, { method, path }]) => method !== 'GET' && path.startsWith('/api/v1/auth/'),
  )
  expect(writing.length).toBeGreaterThan(4)
  for (const [id, operation] of writing) expect([id, 'sameSiteOnly' in operation]).toEqual([id, true])
})
