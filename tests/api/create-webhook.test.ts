import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { webhooksMax } from '../../contract/limits.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'
import { secretsOf, webhookBody, webhookEventsOf, webhooksPath } from './webhook-cases.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const create = (body: unknown, tenant: 'acme' | 'globex' | 'cmode' = 'acme') =>
  hub.call(tenant, 'POST', webhooksPath, { body })
const rule = (change: object = {}) => ({
  ...{ metric: 'error_rate', group_by: 'skill', above: 0.2, window_minutes: 60 },
  ...change,
})

test('adds the endpoint, shows its secret once, and writes it down without', async () => {
  const settings = {
    url: 'https://hooks.acme.example/services/in-the-path?token=in-the-query',
    events: ['user.*', 'skill.latency_exceeded', 'governance.hub.*'],
    description: 'Alerts',
    filters: { skill_ids: ['contract-review'], archetype_ids: ['analyst'] },
    thresholds: { latency_ms: 20_000, cost_usd: 0.5 },
    alerts: [rule({ recovers_at: 0.05, min_invocations: 5 })],
  }
  const answer = await create(settings)
  const { webhook_id, secret } = answer.body
  expect([answer.status, answer.headers.location]).toEqual([201, `${webhooksPath}/${webhook_id}`])
  expect(answer.body).toEqual({
    ...settings,
    webhook_id: expect.stringMatching(/^whk_[A-Za-z0-9]{24}$/),
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9]{44}$/),
    enabled: true,
    created_at: expect.stringMatching(/\.\d{6}Z$/),
    created_by: await hub.clientId('acme'),
    updated_at: answer.body.created_at,
    health: { status: 'waiting', failures: 0, pending: 0, dead: 0 },
  })
  const { secret: _, ...shown } = answer.body
  expect((await hub.call('acme', 'GET', `${webhooksPath}/${webhook_id}`)).body).toEqual(shown)
  expect(await secretsOf(hub, 'acme', webhook_id)).toEqual([secret])

  const [event, ...others] = await webhookEventsOf(hub, 'acme')
  expect(others).toEqual([])
  const { url: __, ...rest } = settings
  expect(event).toMatchObject({
    event_kind: 'tenant.config_changed',
    subject: `webhook:${webhook_id}`,
    details: {
      change: 'webhook_added',
      before: null,
      after: {
        ...{ ...rest, enabled: true },
        ...{ url: 'https://hooks.acme.example', url_digest: expect.stringMatching(/^[0-9a-f]{16}$/) },
      },
      actor: await hub.clientId('acme'),
    },
  })
  expect(JSON.stringify(event)).not.toMatch(/in-the-(path|query)/)
  const superuser = await hub.superuserClient()
  const { rows } = await superuser.query('select w::text as text from hub.webhooks w')
  expect(JSON.stringify([event, hub.logLines, rows])).not.toContain(secret)
  expect(JSON.stringify([event, hub.logLines])).not.toContain('in-the-query')
  expect(rows[0].text).not.toContain(Buffer.from(secret).toString('hex'))
})

test('what is left out is not there; two of the same are two', async () => {
  const answers = [await create(webhookBody({ description: '' }), 'globex'), await create(webhookBody(), 'globex')]
  expect(new Set(answers.map(({ body }) => body.webhook_id)).size).toBe(2)
  expect(new Set(answers.map(({ body }) => body.secret)).size).toBe(2)
  for (const { body } of answers) {
    const names = [
      'created_at',
      'created_by',
      'enabled',
      'events',
      'health',
      'secret',
      'updated_at',
      'url',
      'webhook_id',
    ]
    expect(Object.keys(body).sort()).toEqual(names)
  }
})

test('a tenant of Mode C has endpoints too, and rules alone are enough', async () => {
  const answer = await create(webhookBody({ events: [], alerts: [rule()] }), 'cmode')
  expect([answer.status, answer.body.events, answer.body.alerts]).toEqual([201, [], [rule()]])
})

test('the endpoints of a tenant are so many and no more, also at once', async () => {
  const { items } = (await hub.call('globex', 'GET', `${webhooksPath}?limit=1000`)).body
  const left = webhooksMax - items.length
  const answers = await Promise.all(Array.from({ length: left + 3 }, () => create(webhookBody(), 'globex')))
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(left).fill(201), 400, 400, 400])
  const refused = answers.find(({ status }) => status === 400)!
  expect([slugOf(refused), pointersOf(refused)]).toEqual(['validation-failed', ['']])
  const words = `exceeds the ${webhooksMax} endpoints of a tenant; remove one first`
  expect([refused.body.errors, refused.body.detail]).toEqual([[{ pointer: '', detail: words }], `The body ${words}`])
})

test.each<[string, object, string[]]>([
  ['an address inside and an unknown member', { url: 'https://10.0.0.1/', colour: 'red' }, ['/colour', '/url']],
  ['an unknown event and no address', { url: undefined, events: ['user.*', 'user.born'] }, ['/events/1', '/url']],
  [
    'a rule that contradicts itself, and a threshold',
    { alerts: [rule({ recovers_at: 0.9 })], thresholds: { latency_ms: 'long' } },
    ['/alerts/0/recovers_at', '/thresholds/latency_ms'],
  ],
  [
    'a list of everything',
    { events: ['x', 5], alerts: [{ metric: 'cost' }] },
    ['/alerts/0/above', '/alerts/0/group_by', '/alerts/0/metric', '/alerts/0/window_minutes', '/events/0', '/events/1'],
  ],
])('all that is wrong is told at once: %s', async (_name, change, pointers) => {
  const answer = await create(webhookBody(change))
  expect([answer.status, pointersOf(answer).sort()]).toEqual([400, pointers])
})

describe('refused', () => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => `governance.custom.k${at}`)
  test.each<[string, object, string]>([
    ['no address', { url: undefined }, '/url'],
    ['no URL', { url: 'hooks' }, '/url'],
    ['another scheme', { url: 'ftp://hooks.example/' }, '/url'],
    ['a fragment', { url: 'https://hooks.example/#part' }, '/url'],
    ['a fragment of nothing', { url: 'https://hooks.example/a?b#' }, '/url'],
    ['userinfo', { url: 'https://a:b@hooks.example/' }, '/url'],
    ['a metadata address', { url: 'http://169.254.169.254/latest' }, '/url'],
    ['an address inside', { url: 'https://[::ffff:10.0.0.1]/' }, '/url'],
    ['localhost', { url: 'http://localhost:3000/' }, '/url'],
    ['an address that is too long', { url: `https://hooks.example/${'x'.repeat(2048)}` }, '/url'],
    ['no events', { events: undefined }, '/events'],
    ['events that are none, without rules', { events: [] }, '/events'],
    ['events that are no list', { events: 'user.*' }, '/events'],
    ['an event twice', { events: ['user.*', 'user.*'] }, '/events'],
    ['too many events', { events: names(101) }, '/events'],
    ['an unknown event', { events: ['user.*', 'record.created'] }, '/events/1'],
    ['every event', { events: ['*'] }, '/events/0'],
    ['an alert as an event', { events: ['skill.alert_opened'] }, '/events/0'],
    ['the test as an event', { events: ['webhook.test'] }, '/events/0'],
    ['a governance event that nobody writes', { events: ['governance.auth.logn'] }, '/events/0'],
    ['a family that there is not', { events: ['governance.custom.x', 'governance.conector.*'] }, '/events/1'],
    ['part of a name', { events: ['governance.hu*'] }, '/events/0'],
    ['a description that is too long', { description: 'x'.repeat(501) }, '/description'],
    ['a description with a line break', { description: 'a\nb' }, '/description'],
    ['a description that is null', { description: null }, '/description'],
    ['an unknown filter', { filters: { user_ids: ['user:kim'] } }, '/filters/user_ids'],
    ['a filter of nothing', { filters: { skill_ids: [] } }, '/filters/skill_ids'],
    ['a filter that is no id', { filters: { archetype_ids: ['a b'] } }, '/filters/archetype_ids/0'],
    ['an id twice', { filters: { skill_ids: ['a', 'a'] } }, '/filters/skill_ids'],
    ['a negative threshold', { thresholds: { cost_usd: -1 } }, '/thresholds/cost_usd'],
    ['a threshold beyond what there is', { thresholds: { latency_ms: 600_001 } }, '/thresholds/latency_ms'],
    ['an unknown threshold', { thresholds: { tokens: 1 } }, '/thresholds/tokens'],
    ['another metric', { alerts: [rule({ metric: 'tokens' })] }, '/alerts/0/metric'],
    ['another group', { alerts: [rule({ group_by: 'platform' })] }, '/alerts/0/group_by'],
    ['a rate beyond one', { alerts: [rule({ above: 1.1 })] }, '/alerts/0/above'],
    ['a negative value', { alerts: [rule({ above: -1 })] }, '/alerts/0/above'],
    ['a recovery above', { alerts: [rule({ recovers_at: 0.3 })] }, '/alerts/0/recovers_at'],
    ['a window of no quarters', { alerts: [rule({ window_minutes: 20 })] }, '/alerts/0/window_minutes'],
    ['no window', { alerts: [rule({ window_minutes: 0 })] }, '/alerts/0/window_minutes'],
    ['a window beyond a day', { alerts: [rule({ window_minutes: 1455 })] }, '/alerts/0/window_minutes'],
    ['no invocations', { alerts: [rule({ min_invocations: 0 })] }, '/alerts/0/min_invocations'],
    ['the same rule twice, in other words', { alerts: [rule(), rule({ recovers_at: 0.2 })] }, '/alerts/1'],
    ['too many rules', { alerts: Array.from({ length: 51 }, (_, at) => rule({ above: at / 100 })) }, '/alerts'],
    ['a status of its own', { enabled: true }, '/enabled'],
    ['a secret of its own', { secret: 'whsec_mine' }, '/secret'],
  ])('%s', async (_name, change, pointer) => {
    const answer = await create(webhookBody(change))
    expect([answer.status, slugOf(answer)]).toEqual([400, 'validation-failed'])
    expect(pointersOf(answer)).toEqual([pointer])
  })

  test.each([
    [{ description: null }, 'must be a string without control characters'],
    [{ description: 'x'.repeat(501) }, 'must have at most 500 characters'],
    [{ events: ['governance.auth.logn'] }, expect.stringContaining('Name governance.auth.access_refused, ')],
  ])('%j: the answer says what it must be', async (change, detail) => {
    expect((await create(webhookBody(change))).body.errors).toMatchObject([{ detail }])
  })
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'POST', path: webhooksPath, body: webhookBody() }),
  wrongScopes: ['connector:admin', 'roster:write', 'hub:write'],
})
