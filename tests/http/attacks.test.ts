import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { operations } from '../../contract/operations.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { addProvider, type Connection, signatureOf } from '../inbound/inbound-lab.ts'
import { type Answer, startHub, type TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { operatorToken, tenantsPath } from '../tenants/operator-lab.ts'
import { webhookBodies } from './webhook-bodies.ts'

/**
 * The attacks of the threat list, by their numbers, against the whole service. Proven elsewhere:
 *  1 tenant header swapped: tenant-isolation.test.ts, order-of-checks.test.ts
 *  1 to 5 in full: attacks-tokens.test.ts; forged tokens also auth/token-attacks.test.ts and auth/wycheproof.test.ts
 *  4 in another process: auth/revocation-across-hubs.test.ts
 *  6 a cursor of another tenant or query: tenant-isolation.test.ts, api/query-records.test.ts; any bit: auth/cursor.test.ts
 *  8 addresses inside: outbound/addresses.test.ts, outbound/connecting.test.ts; 8 and 9 when configured: api/configure-sso.test.ts
 * 10 another tenant's idempotency key: tenant-isolation.test.ts
 * 16 a cookie that is there twice: auth/sessions-attacks.test.ts
 * 17, 18 return_to and callbacks of no login: auth/oidc-attacks.test.ts
 */

const records = '/api/v1/hub/records'
const queries: string[] = []
let hub: TestHub
let provider: Connection
let secretOfAccount: { client_id: string; client_secret: string }

beforeAll(async () => {
  hub = await startHub({ onQuery: (text) => queries.push(text), settings: { HUB_OPERATOR_TOKEN: operatorToken } })
  await prepareTelemetry(hub, 'acme')
  provider = await addProvider(hub)
  const account = { name: 'victim', scopes: ['hub:read'] }
  secretOfAccount = await hub.modules.auth.serviceAccounts.create(await hub.tenant('acme'), account, {
    operator: 'test',
  })
})
afterAll(() => hub.stop())

const slugOf = (answer: Answer) => String(answer.body?.type).split('/').at(-1)
describe('13 JSON that two parsers may read differently', () => {
  const withBodies = Object.entries({
    writeRecord: { record_type: 'artifact', title: 'x', content: { a: 1 } },
    releaseRecord: { reason: 'x' },
    createExport: { format: 'csv' },
    cancelExport: {},
    placeHold: { name: 'x', reason: 'x', filter: {} },
    releaseHold: { reason: 'x' },
    replaceRetentionRules: { rules: [] },
    provisionHub: { retention_days: 30 },
    rotateContentKey: {},
    destroyContentKeys: { confirm: 'acme', reason: 'x' },
    ingestEvent: event({ metadata: { a: 1 } }),
    ingestBatch: { events: [event({ metadata: { a: 1 } })] },
    createConnector: { platform: 'claude', display_name: 'x', delivery: 'pull', credentials: { api_key: 'x' } },
    updateConnector: { display_name: 'x' },
    rotateConnectorCredentials: { credentials: { api_key: 'x' } },
    testConnector: {},
    republishSkills: {},
    createUser: { email: 'kim@acme.example' },
    requestMagicLink: { email: 'kim@acme.example', tenant: 'acme' },
    mockLogIn: { email: 'kim@acme.example', tenant: 'acme' },
    issueUserToken: { grant_type: 'refresh_token', refresh_token: 'x' },
    logOut: { everywhere: true },
    replaceUserRole: { role: 'member' },
    deactivateUser: {},
    reactivateUser: {},
    createServiceAccount: { name: 'x', scopes: ['hub:read'] },
    updateServiceAccount: { scopes: ['hub:read'] },
    rotateServiceAccountSecret: {},
    replaceUserArchetypes: { archetype_ids: ['analyst'] },
    replaceArchetypes: { archetypes: [{ archetype_id: 'analyst' }] },
    configureSso: {
      issuer: 'https://a.example',
      client_id: 'c',
      client_secret: 's',
      allowed_email_domains: ['a.example'],
    },
    testSso: {},
    configureScim: { mode: 'push', group_archetype_map: [{ group: 'a', archetype_id: 'analyst' }] },
    rotateScimToken: {},
    testScim: {},
    syncRoster: {},
    confirmRosterSync: {},
    cancelRosterSync: {},
    transitionSkill: { state: 'published' },
    replaceCowork: { name: 'x', skills: [], archetype_ids: [] },
    applyCowork: { dry_run: true },
    replaceArchetypeGrants: { skill_ids: [] },
    checkEntitlements: { checks: [{ user_id: 'user:kim', skill_id: 'sum-up' }] },
    replacePrices: {
      prices: [
        { llm_model: 'm', input_usd_per_mtok: 1, output_usd_per_mtok: 1, effective_from: '2026-01-01T00:00:00Z' },
      ],
    },
    rateTelemetryAgain: { from: '2026-01-01T00:00:00Z' },
    restoreRecord: {},
    verifyRecord: {},
    replaceTenant: { display_name: 'Acme' },
    createTenant: { slug: 'initech', mode: 'A', admin_email: 'a@initech.example' },
    updateTenant: { limits: { roster: { per_token: 1, per_tenant: 1 } } },
    createWelcomeLink: {},
    ...webhookBodies,
  })

  test.each(withBodies)('is refused by %s', async (operationId, body) => {
    const { method, path } = operations[operationId as keyof typeof operations]
    const address = path
      .replace(/\{(record|delivery)_id\}/, randomUUID())
      .replace('{skill_id}', 'sum-up')
      .replace('{cowork_id}', 'pack')
      .replace('{archetype_id}', 'analyst')
      .replace('{user_id}', 'usr_1')
      .replace('{client_id}', 'saOne')
      .replace('{connector_id}', 'con_1')
      .replace('{webhook_id}', 'whk_1')
      .replace('{connection_id}', provider.connectionId)
      .replace('{slug}', 'acme')
    const text = JSON.stringify(body)
    const [deepest = '{'] = text.match(/.*\{/) ?? []
    const hostile = [
      text.replace('{', '{"__proto__":{"isAdmin":true},'),
      text.replace('{', '{"\\u005f_proto__":{"isAdmin":true},'),
      `${deepest}"__proto__":{"isAdmin":true}${text.slice(deepest.length) === '}' ? '' : ','}${text.slice(deepest.length)}`,
      text.replace('{', '{"x":1,"x":1,'),
      text.replace('{', '{"x":1,"\\u0078":2,'),
    ].map((each) => each.replace(',}', '}'))
    for (const each of hostile) {
      // Some look at a cookie or a signature instead of the token, and without one at nothing else.
      const answer = await hub.call('acme', method, address, {
        body: each,
        headers: { cookie: 'service_session=a', 'x-service-signature': signatureOf(each, provider.secret) },
        ...(path.startsWith(tenantsPath) && { token: operatorToken }),
      })
      expect([answer.status, ['malformed-json', 'validation-failed'].includes(slugOf(answer) ?? '')], each).toEqual([
        400,
        true,
      ])
    }
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined()
  })

  test('means every operation that takes JSON', async () => {
    const document = (await hub.call('acme', 'GET', '/v1/openapi.json')).body
    const takesJson = Object.values(document.paths).flatMap((item) =>
      Object.values(item as Record<string, { operationId: string; requestBody?: { content: object } }>)
        .filter(({ requestBody }) => 'application/json' in (requestBody?.content ?? {}))
        .map(({ operationId }) => operationId),
    )
    const tried = withBodies.map(([operationId]) => operationId)
    expect([...new Set(tried)].sort()).toEqual(takesJson.sort())
  })
})

test('14 a gzip bomb is 413, by its inflated size, and costs little', async () => {
  const bomb = gzipSync(Buffer.alloc(128 * 1024 * 1024, ' '))
  const headers = { 'content-encoding': 'gzip' }
  const memoryBefore = process.memoryUsage().rss
  for (const path of ['/api/v1/telemetry/events:batch', '/api/v1/telemetry/events', records]) {
    const began = performance.now()
    const answer = await hub.call('acme', 'POST', path, { body: bomb, headers })
    expect([answer.status, slugOf(answer)]).toEqual([413, 'payload-too-large'])
    expect(performance.now() - began).toBeLessThan(3000)
  }
  expect(process.memoryUsage().rss - memoryBefore).toBeLessThan(100 * 1024 * 1024)
})

describe('15 timing of secrets', () => {
  const ask = async (client_id: string, client_secret: string, basic: boolean) => {
    const before = queries.length
    const response = await fetch(`${hub.baseUrl}/api/v1/oauth/token`, {
      method: 'POST',
      headers: basic ? { authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` } : {},
      body: new URLSearchParams({ grant_type: 'client_credentials', ...(!basic && { client_id, client_secret }) }),
    })
    const { instance, ...body } = (await response.json()) as Record<string, unknown>
    const headers = Object.fromEntries(response.headers)
    for (const name of ['date', 'x-service-request-id']) delete headers[name]
    // Not what goes on in the background, such as telling the tenant of a wrong secret.
    const sql = queries.slice(before).filter((text) => /client_directory|service_account/.test(text))
    return { status: response.status, headers, body, sql, instance: typeof instance }
  }

  test.each([false, true])('an unknown client is not told from a wrong secret (Basic: %s)', async (basic) => {
    const { client_id: known, client_secret: secret } = secretOfAccount
    const made = () => hub.modules.auth.serviceAccounts.create
    const other = await made()(
      await hub.tenant('globex'),
      { name: `other ${basic}`, scopes: ['hub:read'] },
      { operator: 'x' },
    )
    const unknown = `sa${'Z'.repeat(24)}`
    // Each client for the first time, so that none is in memory yet; then again, when one is. No is only ever said
    // after a look into the database: whether an account is in use would show otherwise.
    for (const round of [1, 2]) {
      const wrong = await ask(other.client_id, 'hubsWrong', basic)
      const stranger = await ask(`${unknown.slice(0, -1)}${basic ? 1 : 2}`, secret, basic)
      expect(stranger, `round ${round}`).toEqual(wrong)
      expect(wrong.status).toBe(401)
      expect(wrong.sql).toHaveLength(2)
    }
    const near = `${secret.slice(0, -1)}${secret.endsWith('a') ? 'b' : 'a'}`
    expect((await ask(known, near, basic)).status).toBe(401)
    expect((await ask(known, secret, basic)).status).toBe(200)
  })

  test('whatever is authenticated is compared in constant time', () => {
    const source = (file: string) => readFileSync(join(import.meta.dirname, '../../server', file), 'utf8')
    for (const file of [
      'modules/auth/service-accounts/client-secrets.ts',
      'http/cursor.ts',
      'modules/exports/download-url.ts',
      'modules/inbound/inbound-signature.ts',
    ]) {
      expect(source(file)).toMatch(/timingSafeEqual\(/)
      // Neither digests nor their text forms by the operators and methods that stop at the first difference.
      expect(source(file)).not.toMatch(
        /\.equals\(|\.compare\(|(hash|mac|digest|secret)\w* ?===|=== ?(hash|mac|digest|secret)/i,
      )
    }
    expect(source('modules/auth/tokens/client-authentication.ts')).toMatch(/matchesAny\(/)
  })
})

test('19 a body may not set what the server sets', async () => {
  const forged = {
    ...{ record_id: randomUUID(), tenant_id: 'acme', created_at: '2020-01-01T00:00:00Z', created_by: 'service:hub' },
    ...{
      provenance_hash: `sha256:${'0'.repeat(64)}`,
      provenance_cosign: 'omhc1.x',
      schema_version: '1.0',
      is_purged: false,
    },
    ...{ cost_usd_computed: 0, price_source: 'mine', verification: {}, seal_id: randomUUID(), salt: '' },
  }
  const bodies: [string, object][] = [
    [records, { record_type: 'artifact', title: 'x' }],
    [records, { record_type: 'output', skill_id: 'sum-up' }],
    [records, { record_type: 'governance_event', event_kind: 'custom.x' }],
    ['/api/v1/telemetry/events', event()],
  ]
  for (const [path, body] of bodies) {
    for (const [name, value] of Object.entries(forged)) {
      const answer = await hub.call('acme', 'POST', path, { body: { ...body, [name]: value } })
      expect([answer.status, answer.body.errors[0].pointer], name).toEqual([400, `/${name}`])
    }
  }
  const events = Object.entries(forged).map(([name, value]) => ({ ...event(), [name]: value }))
  const batch = await hub.call('acme', 'POST', '/api/v1/telemetry/events:batch', { body: { events } })
  expect([batch.body.accepted, batch.body.failed]).toEqual([0, events.length])
  for (const kind of ['hub.tamper_detected', 'tenant.live', 'Custom.x', 'custom', ' custom.x', 'custom.\n']) {
    const body = { record_type: 'governance_event', event_kind: kind }
    expect((await hub.call('acme', 'POST', records, { body })).status, kind).toBe(400)
  }
})

test('19 an export is of the caller’s tenant, whatever its filter says', async () => {
  const order = (filter: object) => hub.call('acme', 'POST', `${records}:export`, { body: { filter } })
  for (const tenant_id of ['globex', 'nobody-has-this', 'ACME', 'acme ']) {
    const answer = await order({ tenant_id })
    expect([answer.status, slugOf(answer), answer.body.tenant_slug]).toEqual([403, 'invalid-tenant', tenant_id])
  }
  for (const forged of [{ tenant_id: ['globex'] }, { tenant_id: null }, { tenant: 'globex' }, { $or: [] }]) {
    expect((await order(forged)).status, JSON.stringify(forged)).toBe(400)
  }
  const own = await order({ tenant_id: 'acme' })
  expect(own.status).toBe(202)
})

describe('7 exports', () => {
  const exports = '/api/v1/hub/exports'
  let jobId: string
  let address: URL

  beforeAll(async () => {
    jobId = (await hub.call('acme', 'POST', `${records}:export`, { body: {} })).body.job_id
    address = await vi.waitFor(
      async () => new URL((await hub.call('acme', 'GET', `${exports}/${jobId}`)).body.download_url),
      { timeout: 15_000 },
    )
  }, 30_000)

  test('of another tenant, and guessed ones, are not there', async () => {
    for (const path of [`${exports}/${jobId}x`, `${exports}/exp_${'A'.repeat(24)}`]) {
      for (const [method, target] of [
        ['GET', path],
        ['POST', `${path}:cancel`],
      ] as const) {
        expect((await hub.call('acme', method, target)).status, target).toBe(404)
      }
    }
    const foreign = await hub.call('globex', 'GET', `${exports}/${jobId}`)
    const unknown = await hub.call('globex', 'GET', `${exports}/exp_${'A'.repeat(24)}`)
    expect({ ...foreign.body, instance: '' }).toEqual({ ...unknown.body, instance: '' })
    expect((await hub.call('globex', 'GET', exports)).body.items).toEqual([])
    expect((await hub.call('globex', 'POST', `${exports}/${jobId}:cancel`)).status).toBe(404)
  })

  test('are downloaded by the address as it was given, and no other', async () => {
    const download = (change: (url: URL) => void = () => {}) => {
      const url = new URL(address)
      change(url)
      return hub.call('globex', 'GET', url.pathname + url.search, { token: null })
    }
    expect((await download()).status).toBe(200)
    const changes: ((url: URL) => void)[] = [
      (url) => url.searchParams.set('tenant', 'globex'),
      (url) => url.searchParams.set('expires', '4102444800'),
      (url) => url.searchParams.set('signature', '0'.repeat(43)),
      (url) => url.searchParams.delete('signature'),
      (url) => {
        url.pathname = url.pathname.replace(/[^/]+$/, `${jobId}.jsonl.manifest.json`)
      },
      (url) => {
        url.pathname = url.pathname.replaceAll(jobId, `exp_${'A'.repeat(24)}`)
      },
      (url) => {
        url.pathname = url.pathname.replace(/[^/]+$/, '..%2F..%2F..%2Fmaster.key')
      },
    ]
    for (const change of changes) {
      const answer = await download(change)
      expect([answer.status, slugOf(answer)], change.toString()).toEqual([403, 'invalid-download-url'])
    }
    const superuser = await hub.superuserClient()
    await superuser.query("update hub.exports set expires_at = now() - interval '1 second' where job_id = $1", [jobId])
    const late = await download()
    expect([late.status, slugOf(late)]).toEqual([403, 'invalid-download-url'])
  })
})

describe('20 the log', () => {
  /** As bytes on a connection, for no HTTP library sends such headers. */
  function raw(text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(hub.baseUrl).port), '127.0.0.1')
      let answer = ''
      socket.on('data', (chunk) => {
        answer += chunk
      })
      socket.on('end', () => resolve(answer)).on('error', reject)
      socket.write(text, 'latin1')
    })
  }
  const host = () => `Host: ${new URL(hub.baseUrl).host}\r\nConnection: close`

  test('cannot be forged by request id or reason', async () => {
    hub.logLines.length = 0
    const forged = '\r\n{"level":60,"msg":"forged"}\u001b[31m\u0007\u2028'
    const { record_id } = (
      await hub.call('acme', 'POST', records, { body: { record_type: 'artifact', title: forged } })
    ).body
    const answer = await hub.call('acme', 'DELETE', `${records}/${record_id}?reason=${encodeURIComponent(forged)}`)
    expect([200, 400]).toContain(answer.status)
    for (const id of ['a\x1b[31mb', 'a\x07b', '01890a5d-ac96-774b-bcce-b302099a8057\tX', 'a\x0bb', 'a\rb', 'a\nb']) {
      const text = await raw(`GET /v1/health HTTP/1.1\r\n${host()}\r\nX-Service-Request-ID: ${id}\r\n\r\n`)
      expect(text).toMatch(/^HTTP\/1\.1 (200|400) /)
      expect(text).toMatch(/\r\nx-service-request-id: [0-9a-f-]{36}\r\n/i)
    }
    await raw(`GET /v1/health?x=%0d%0a%1b[31m HTTP/1.1\r\n${host()}\r\nUser-Agent: \x1b[31m\r\n\r\n`)
    expect(hub.logLines.length).toBeGreaterThan(2)
    for (const line of hub.logLines) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
      expect(line).toMatch(/^[^\x00-\x1f\x7f\u2028\u2029]+\n$/)
      expect(JSON.parse(line)).toMatchObject({ level: expect.any(Number), msg: expect.not.stringMatching(/forged/) })
    }
  })

  test('says nothing of headers of 64 KiB but that they were refused', async () => {
    const answer = await raw(`GET /v1/health HTTP/1.1\r\n${host()}\r\nX-Long: ${'v'.repeat(65_536)}\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 431 /)
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))
    expect(body).toMatchObject({ type: `${hub.baseUrl}/errors/headers-too-large`, status: 431 })
    expect(answer).toContain(`x-service-request-id: ${body.instance}`)
    expect(hub.logLines.join('')).not.toContain('vvvv')
  })

  test('never holds a token, a secret or content', async () => {
    const { client_id, client_secret } = secretOfAccount
    const credentials = { grant_type: 'client_credentials', client_id, client_secret }
    const ask = (headers: Record<string, string>, fields: Record<string, string>) =>
      fetch(`${hub.baseUrl}/api/v1/oauth/token`, { method: 'POST', headers, body: new URLSearchParams(fields) })
    const { access_token: token } = (await (await ask({}, credentials)).json()) as { access_token: string }
    await ask({ authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` }, { grant_type: 'client_credentials' })
    await ask({ authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` }, credentials)
    await ask({}, { ...credentials, scope: client_secret })
    await ask({}, { ...credentials, grant_type: client_secret })
    await fetch(`${hub.baseUrl}/api/v1/oauth/token?client_secret=${client_secret}`, { method: 'POST' })
    await fetch(`${hub.baseUrl}/${token}`, { headers: { cookie: `service_session=${token}` } })
    await hub.call('acme', 'GET', `${records}?cursor=${token}`, { token })
    await hub.call('globex', 'GET', records, { token })
    await hub.call('acme', 'GET', records, { token: `${token}x` })
    await hub.call('acme', 'POST', records, { body: { record_type: 'artifact', title: 'Confidential-7' } })
    await hub.call('acme', 'POST', records, { body: `{"title":"Confidential-7"` })
    const { welcome } = await hub.modules.tenants.administration.welcomeLink('acme')
    const link = new URL(welcome.url).pathname
    expect((await hub.call('acme', 'GET', link, { token: null })).status).toBe(200)
    const log = hub.logLines.join('')
    expect(hub.logLines.length).toBeGreaterThan(12)
    for (const secret of [client_secret, token, token.split('.')[2]!, 'Confidential-7', link.split('/').at(-1)!]) {
      expect(log).not.toContain(secret)
    }
  })
})
