import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BodyBounds, bodyBounds } from '../../contract/limits.ts'
import { type Operation, operations } from '../../contract/operations.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { addProvider, type Connection, signatureOf } from '../inbound/inbound-lab.ts'
import { type Answer, startHub, type TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { operatorToken, tenantsPath } from '../tenants/operator-lab.ts'
import { webhookBodies } from './webhook-bodies.ts'

/** JSON that two parsers read differently, of the threat list; the others are in attacks.test.ts. */

let hub: TestHub
let provider: Connection
beforeAll(async () => {
  hub = await startHub({ settings: { HUB_OPERATOR_TOKEN: operatorToken } })
  await prepareTelemetry(hub, 'acme')
  provider = await addProvider(hub)
})
afterAll(() => hub.stop())

/** Some operations look at a cookie or a signature instead of the token, and without one at nothing else. */
function send(operationId: string, body: string): Promise<Answer> {
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
    .replace('{view_id}', 'view_1')
    .replace('{budget_id}', 'bud_1')
    .replace('{connection_id}', provider.connectionId)
    .replace('{slug}', 'acme')
  return hub.call('acme', method, address, {
    body,
    headers: { cookie: 'service_session=a', 'x-service-signature': signatureOf(body, provider.secret) },
    ...(path.startsWith(tenantsPath) && { token: operatorToken }),
  })
}

function boundsOf(operationId: string): BodyBounds {
  const operation: Operation = operations[operationId as keyof typeof operations]
  if (operation.body === undefined) throw new Error(`${operationId} takes no body`)
  return bodyBounds[operation.body]
}

const slugOf = (answer: Answer) => String(answer.body?.type).split('/').at(-1)

describe('13 JSON that two parsers may read differently', () => {
  const withBodies = Object.entries({
    writeRecord: { record_type: 'artifact', title: 'x', content: { a: 1 } },
    releaseRecord: { reason: 'x' },
    createExport: { format: 'csv' },
    createEvidencePack: { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z', note: 'x' },
    cancelExport: {},
    placeHold: { name: 'x', reason: 'x', all: true },
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
    registerClient: { redirect_uris: ['http://127.0.0.1/callback'], a: { a: 1 } },
    issueUserToken: { grant_type: 'refresh_token', refresh_token: 'x' },
    logOut: { everywhere: true },
    replaceUserRole: { role: 'member' },
    deactivateUser: {},
    reactivateUser: {},
    inviteUser: { delivery: 'link' },
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
    replaceOtlpMapping: { default_skill_id: 'sum-up' },
    rateTelemetryAgain: { from: '2026-01-01T00:00:00Z' },
    restoreRecord: {},
    verifyRecord: {},
    callMcp: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { a: 1 } },
    replaceTenant: { display_name: 'Acme' },
    createTenant: { slug: 'initech', mode: 'A', admin_email: 'a@initech.example' },
    updateTenant: { limits: { roster: { per_token: 1, per_tenant: 1 } } },
    createWelcomeLink: {},
    ...webhookBodies,
    createBudget: { name: 'x', period: 'day', amount_usd: 1, filter: { skill_id: 'sum-up' } },
    updateBudget: { filter: { skill_id: 'sum-up' } },
    markNotificationsRead: { record_id: '01a21e1a-5c83-7dbe-af98-4c85f9ded620' },
    createView: { page: 'records', name: 'x', query: 'skill_id=sum-up' },
    updateView: { shared: true },
  })

  test.each(withBodies)('is refused by %s', async (operationId, body) => {
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
      const answer = await send(operationId, each)
      expect([answer.status, ['malformed-json', 'validation-failed'].includes(slugOf(answer) ?? '')], each).toEqual([
        400,
        true,
      ])
    }
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined()
  })

  test.each(withBodies)('beyond the bound of values is refused by %s before it is parsed', async (operationId) => {
    const { values } = boundsOf(operationId)
    const withValues = (count: number) => `{"x":[${'0,'.repeat(count - 3)}0]}`
    const answer = await send(operationId, withValues(values + 1))
    expect([answer.status, slugOf(answer)]).toEqual([413, 'payload-too-large'])
    expect(answer.body.detail).toContain(`${values}`)
    expect((await send(operationId, withValues(values))).status).toBe(400)
  })

  test.each(withBodies)('with a long name is answered without it by %s', async (operationId, body) => {
    const name = '~'.repeat(5000)
    const answer = await send(operationId, JSON.stringify({ ...body, [name]: { [name]: '\u0000' } }))
    expect(answer.status).toBe(400)
    expect(answer.text.length).toBeLessThan(4096)
  })

  test.each(withBodies)('with a longer name than it takes is refused by %s', async (operationId) => {
    const { nameBytes } = boundsOf(operationId)
    const answer = await send(operationId, `{"${'x'.repeat(nameBytes + 1)}":0}`)
    expect([answer.status, slugOf(answer)]).toEqual([413, 'payload-too-large'])
    expect(answer.body.detail).toContain(`${nameBytes} bytes in the name of a member`)
    expect(answer.text.length).toBeLessThan(2000)
    expect((await send(operationId, `{"${'x'.repeat(nameBytes)}":0}`)).status).toBe(400)
  })

  test('with a text that an event alone could not have is refused as a batch', async () => {
    const { textBytes } = bodyBounds.batch
    const batchWith = (length: number) => JSON.stringify({ events: [event({ metadata: { a: 'x'.repeat(length) } })] })
    const answer = await send('ingestBatch', batchWith(textBytes + 1))
    expect([answer.status, slugOf(answer)]).toEqual([413, 'payload-too-large'])
    const refused = await send('ingestBatch', batchWith(textBytes))
    expect([refused.status, refused.body.failed]).toEqual([201, 1])
  })

  test('with long names is not answered with all of them', async () => {
    const strangers = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`${at}`.padEnd(1000, 'x'), 1]))
    const answer = await send('ingestBatch', JSON.stringify({ events: [event(strangers as never), event()] }))
    expect([answer.status, answer.body.accepted, answer.body.failed]).toEqual([201, 1, 1])
    expect(answer.body.errors[0].detail).toMatch(/is not a known property; and 5 more$/)
    expect(answer.body.errors[0].detail.length).toBeLessThan(17_000)
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
