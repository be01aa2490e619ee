import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  connectorsPath,
  eventsOf,
  must,
  type PushBody,
  pushBody,
  startConnectorHub,
} from '../connectors/connector-lab.ts'
import type { Answer, TestHub } from '../support/hub.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startConnectorHub()
})
afterAll(() => hub.stop())

const url = 'http://127.0.0.1:9/skills'
const create = (body: unknown, tenant: 'acme' | 'globex' | 'cmode' = 'acme') =>
  hub.call(tenant, 'POST', connectorsPath, { body })

/** As it is shown from then on. */
const withoutSecret = (body: Answer['body']) => ({ ...body, inbound: { connection_id: body.connector_id } })

test('keeps the connector, shows no secret, and writes it down', async () => {
  const answer = await create(pushBody(url, { platform: 'claude', display_name: 'Claude' }))
  const { connector_id } = answer.body
  expect([answer.status, answer.headers.location]).toEqual([201, `${connectorsPath}/${connector_id}`])
  expect(answer.body).toEqual({
    connector_id: expect.stringMatching(/^con_[A-Za-z0-9]{24}$/),
    platform: 'claude',
    display_name: 'Claude',
    delivery: 'push',
    publish_url: url,
    manifest_url: `${hub.baseUrl}/api/v1/skill-entitlement/distribution/manifest?connector_id=${connector_id}`,
    credentials: ['bearer_token'],
    inbound: { connection_id: connector_id, secret: expect.stringMatching(/^whsec_[A-Za-z0-9]{44}$/) },
    log_name: (await hub.tenant('acme')).logName,
    created_at: expect.stringMatching(/Z$/),
    created_by: await hub.clientId('acme'),
    updated_at: expect.stringMatching(/Z$/),
    health: { status: 'waiting', failures: 0 },
  })
  expect((await must(hub, 'acme', 'GET', String(answer.headers.location))).body).toEqual(withoutSecret(answer.body))
  const [event, ...others] = await eventsOf(hub, 'acme', 'connector.added')
  expect(others).toEqual([])
  expect(event).toMatchObject({
    subject: `connector:${connector_id}`,
    details: { kind: 'llm', connector_id, platform: 'claude', delivery: 'push', credentials: ['bearer_token'] },
  })
  expect(JSON.stringify([answer.body, event, hub.logLines])).not.toContain('a-secret-of-the-lab')
  expect(JSON.stringify([event, hub.logLines])).not.toContain(answer.body.inbound.secret)
})

test('the same again changes nothing and writes nothing', async () => {
  const body = pushBody(url, { display_name: 'Again' })
  const first = await create(body)
  const before = await eventsOf(hub, 'acme', 'connector.added')
  const { credentials: _, ...without } = body
  for (const same of [body, without]) expect((await create(same)).body).toEqual(withoutSecret(first.body))
  expect(await eventsOf(hub, 'acme', 'connector.added')).toEqual(before)
  expect(await eventsOf(hub, 'acme', 'tenant.config_changed')).toEqual([])
})

test('ten at once are one connector', async () => {
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => create(pushBody(url, { display_name: 'Ten' }), 'globex')),
  )
  expect(new Set(answers.map(({ body }) => body.connector_id)).size).toBe(1)
  expect(await eventsOf(hub, 'globex', 'connector.added')).toHaveLength(1)
})

const digest = expect.stringMatching(/^[0-9a-f]{16}$/)

test('another body of the same platform and name changes the connector', async () => {
  const first = await create(pushBody(url, { display_name: 'Changing' }))
  const credentials = { signing_secret: 'another-secret' }
  const second = await create(pushBody(`${url}/2`, { display_name: 'Changing', credentials }))
  expect([second.status, second.body]).toMatchObject([
    201,
    { connector_id: first.body.connector_id, publish_url: `${url}/2`, credentials: ['signing_secret'] },
  ])
  const third = await create({ platform: 'custom:lab', display_name: 'Changing', delivery: 'pull' })
  expect(third.body).toMatchObject({ connector_id: first.body.connector_id, delivery: 'pull' })
  expect(third.body).not.toHaveProperty('publish_url')
  const [event] = await eventsOf(hub, 'acme', 'tenant.config_changed')
  expect(event.details).toMatchObject({
    change: 'connector',
    before: { publish_url: new URL(url).origin, publish_url_digest: digest, credentials: ['bearer_token'] },
    after: { publish_url: new URL(url).origin, publish_url_digest: digest, credentials: ['signing_secret'] },
    credentials_changed: true,
  })
  expect(event.details.before.publish_url_digest).not.toBe(event.details.after.publish_url_digest)
  expect(JSON.stringify(event)).not.toContain('another-secret')
  expect(JSON.stringify(event)).not.toContain(new URL(url).pathname)
})

test('credentials of one origin are not sent to another', async () => {
  await create(pushBody(url, { display_name: 'Origin' }))
  const { credentials: _, ...body } = pushBody('http://127.0.0.1:10/elsewhere', { display_name: 'Origin' })
  const answer = await create(body)
  expect([answer.status, pointersOf(answer)]).toEqual([400, ['/credentials']])
  await create({ platform: 'custom:lab', display_name: 'Origin', delivery: 'pull' })
  const after = await create(body)
  expect([after.status, pointersOf(after)]).toEqual([400, ['/credentials']])
})

test('names of credentials that are not sent are told', async () => {
  const unused = async (body: object) => {
    const answer = await create({ ...pushBody(url, { display_name: 'Unused' }), ...body })
    expect(answer.status).toBe(201)
    return [answer.body.credentials, answer.body.unused_credentials]
  }
  const both = { token: 'x', bearer_token: 'y' }
  expect(await unused({ credentials: both })).toEqual([['bearer_token', 'token'], ['token']])
  expect(await unused({ platform: 'claude', credentials: { anthropic_api_key: 'k', api_key: 'x' } })).toEqual([
    ['anthropic_api_key', 'api_key'],
    ['api_key'],
  ])
  expect(await unused({ credentials: { signing_secret: 'y' } })).toEqual([['signing_secret'], undefined])
  expect(await unused({ delivery: 'pull', publish_url: undefined })).toEqual([['bearer_token'], ['bearer_token']])
})

test('a tenant of Mode C connects platforms too', async () => {
  const answer = await create({ platform: 'copilot', display_name: 'Copilot', delivery: 'pull' }, 'cmode')
  expect([answer.status, answer.body.credentials]).toEqual([201, []])
})

test('the Skills API of Anthropic has an address that need not be named', async () => {
  const body = { platform: 'claude', display_name: 'API', delivery: 'push', credentials: { anthropic_api_key: 'sk-x' } }
  expect((await create(body)).body.publish_url).toBe('https://api.anthropic.com')
  const other = await create({ ...body, platform: 'gemini' })
  expect([other.status, pointersOf(other)]).toEqual([400, ['/credentials/anthropic_api_key']])
})

test.each<[string, object, string[]]>([
  [
    'a platform and an address that are missing',
    { platform: 'custom:A b', publish_url: undefined },
    ['/platform', '/publish_url'],
  ],
  [
    'an address and a credential',
    { publish_url: 'ftp://x', credentials: { bearer_token: 1 } },
    ['/credentials/bearer_token', '/publish_url'],
  ],
  ['an address of no text, once', { publish_url: 5, platform: 'x' }, ['/platform', '/publish_url']],
  [
    'a key of another platform, and a member',
    { platform: 'gemini', credentials: { anthropic_api_key: 'k' }, colour: 'red' },
    ['/colour', '/credentials/anthropic_api_key'],
  ],
])('all that is wrong is told at once: %s', async (_name, change, pointers) => {
  const answer = await create({ ...pushBody(url, { display_name: 'All at once' }), ...change })
  expect([answer.status, pointersOf(answer).sort()]).toEqual([400, pointers])
})

describe('refused', () => {
  const without = (name: keyof PushBody) => ({ [name]: undefined })
  const tooMany = Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`name_${at}`, 'x']))
  test.each<[string, object, string]>([
    ['no platform', without('platform'), '/platform'],
    ['an unknown platform', { platform: 'bard' }, '/platform'],
    ['a custom platform without a name', { platform: 'custom:' }, '/platform'],
    ['no display name', without('display_name'), '/display_name'],
    ['an empty display name', { display_name: '' }, '/display_name'],
    ['a display name with a line break', { display_name: 'a\nb' }, '/display_name'],
    ['no delivery', without('delivery'), '/delivery'],
    ['another delivery', { delivery: 'mail' }, '/delivery'],
    ['push without an address', without('publish_url'), '/publish_url'],
    ['pull with an address', { delivery: 'pull' }, '/publish_url'],
    ['an address inside', { publish_url: 'https://10.0.0.1/x' }, '/publish_url'],
    ['a metadata address', { publish_url: 'http://169.254.169.254/latest' }, '/publish_url'],
    ['localhost', { publish_url: 'https://localhost/x' }, '/publish_url'],
    ['userinfo', { publish_url: 'https://a:b@skills.example/x' }, '/publish_url'],
    ['no URL', { publish_url: 'skills' }, '/publish_url'],
    ['another scheme', { publish_url: 'file:///etc/passwd' }, '/publish_url'],
    ['credentials that are a list', { credentials: [] }, '/credentials'],
    ['credentials that are not flat', { credentials: { a: { b: 'c' } } }, '/credentials/a'],
    ['an empty credential', { credentials: { api_key: '' } }, '/credentials/api_key'],
    ['a credential with a line break', { credentials: { api_key: 'a\r\nX: y' } }, '/credentials/api_key'],
    ['a credential that is too long', { credentials: { api_key: 'x'.repeat(4097) } }, '/credentials/api_key'],
    ['too many credentials', { credentials: tooMany }, '/credentials'],
    ['an odd name of a credential', { credentials: { 'X-Key': 'x' } }, '/credentials/X-Key'],
    ['an unknown member', { colour: 'red' }, '/colour'],
  ])('%s', async (_name, change, pointer) => {
    const answer = await create({ ...pushBody(url, { display_name: 'Refused' }), ...change })
    expect([answer.status, slugOf(answer)]).toEqual([400, 'validation-failed'])
    expect(pointersOf(answer)).toContain(pointer)
    expect(answer.text).not.toContain('a-secret-of-the-lab')
  })
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'POST', path: connectorsPath, body: pushBody(url, { display_name: 'Access' }) }),
  wrongScopes: ['hub:write', 'roster:write'],
})
