import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'
import { addWebhook, must, setProgress, webhookEventsOf, webhooksPath } from './webhook-cases.ts'

const origin = 'https://hooks.acme.example'
const settings = {
  url: 'https://hooks.acme.example/hub',
  events: ['user.*'],
  description: 'Alerts',
  filters: { skill_ids: ['sum-up'] },
  thresholds: { latency_ms: 1000 },
  alerts: [{ metric: 'error_rate', group_by: 'skill', above: 0.2, window_minutes: 60 }],
}

let hub: TestHub
let id: string
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())
beforeEach(async () => {
  id = (await addWebhook(hub, 'acme', settings)).webhook_id
})

const update = (body: unknown) => hub.call('acme', 'PATCH', `${webhooksPath}/${id}`, { body })
const get = async () => (await must(hub, 'acme', 'GET', `${webhooksPath}/${id}`)).body
const events = () => webhookEventsOf(hub, 'acme', `webhook:${id}`)
const disable = async (reason: 'gone' | 'failing') => {
  const tenant = await hub.tenant('acme')
  await hub.test.database.withTenant('acme', (tx) => hub.modules.webhooks.endpoints.disable(tx, tenant, id, reason))
}
const failed = { failures: 4, failing_since: '2026-07-01T09:30:00Z', attempted_at: '2026-07-01T10:30:00Z' }

test('changes what is named, leaves the rest, and writes it down', async () => {
  const before = await get()
  const answer = await update({ events: ['governance.*'], description: 'For the SIEM' })
  const after = { ...before, events: ['governance.*'], description: 'For the SIEM', updated_at: expect.any(String) }
  expect([answer.status, answer.body]).toEqual([200, after])
  expect(answer.body.updated_at > before.updated_at).toBe(true)
  expect(await get()).toEqual(answer.body)
  expect((await events()).at(-1)).toMatchObject({
    event_kind: 'tenant.config_changed',
    details: {
      change: 'webhook',
      before: { events: ['user.*'], description: 'Alerts' },
      after: { events: ['governance.*'], description: 'For the SIEM' },
      url_changed: false,
    },
  })
})

test('each part can be replaced whole, or emptied', async () => {
  const next = {
    filters: { archetype_ids: ['analyst'] },
    thresholds: { cost_usd: 2 },
    alerts: [{ metric: 'cost_usd_per_hour', group_by: 'user', above: 10, window_minutes: 15 }],
  }
  expect((await update(next)).body).toMatchObject(next)
  expect((await update(next)).body.filters).toEqual({ archetype_ids: ['analyst'] })
  const { body } = await update({ description: '', filters: {}, thresholds: {}, alerts: [] })
  for (const name of ['description', 'filters', 'thresholds', 'alerts']) expect(body).not.toHaveProperty(name)
})

test('the same, or nothing, changes nothing and writes nothing', async () => {
  const before = [await get(), await events()]
  for (const body of [{}, settings, { enabled: true }]) expect((await update(body)).status).toBe(200)
  expect([await get(), await events()]).toEqual(before)
})

test('disabling by hand, and enabling, which forgets failures', async () => {
  await setProgress(hub, id, failed)
  const off = (await update({ enabled: false })).body
  expect(off).toMatchObject({
    enabled: false,
    disabled_reason: 'by_hand',
    disabled_at: expect.stringMatching(/Z$/),
    health: { status: 'disabled', failures: 4 },
  })
  expect((await update({ enabled: false })).body).toEqual(off)
  const on = (await update({ enabled: true })).body
  expect(on).toMatchObject({ enabled: true, health: { status: 'waiting', failures: 0 } })
  for (const name of ['disabled_at', 'disabled_reason']) expect(on).not.toHaveProperty(name)
  for (const name of ['failing_since', 'last_attempt_at']) expect(on.health).not.toHaveProperty(name)
  expect((await events()).map(({ details }: { details: { after: object } }) => details.after)).toMatchObject([
    { enabled: true },
    { enabled: false, disabled_reason: 'by_hand' },
    { enabled: true },
  ])
})

test('another address while it fails forgets the failures, another description does not', async () => {
  await setProgress(hub, id, failed)
  expect((await update({ description: 'x' })).body.health).toMatchObject({ status: 'failing', failures: 4 })
  expect((await update({ url: `${settings.url}?v=2` })).body.health).toMatchObject({ status: 'waiting', failures: 0 })
  const { details } = (await events()).at(-1)
  expect(details).toMatchObject({ before: { url: origin }, after: { url: origin }, url_changed: true })
  const [was, is] = [details.before.url_digest, details.after.url_digest]
  expect(was).not.toBe(is)
  // And back: the same address has the same digest.
  await update({ url: settings.url })
  expect((await events()).at(-1).details.after.url_digest).toBe(was)
  await update({ url: `${origin}/` })
  expect((await events()).at(-1).details.after).not.toHaveProperty('url_digest')
})

describe('what the Hub disables by itself', () => {
  test.each(['gone', 'failing'] as const)('%s: with an event, once', async (reason) => {
    await setProgress(hub, id, failed)
    for (let round = 0; round < 2; round += 1) await disable(reason)
    expect(await get()).toMatchObject({ enabled: false, disabled_reason: reason, health: { status: 'disabled' } })
    const told = (await events()).filter(({ event_kind }: { event_kind: string }) => event_kind === 'webhook.disabled')
    expect(told).toMatchObject([
      {
        created_by: 'service:hub',
        details: {
          reason,
          ...{ url: origin, url_digest: expect.stringMatching(/^[0-9a-f]{16}$/) },
          failures: 4,
          failing_since: '2026-07-01T09:30:00.000000Z',
          actor: 'service:webhooks',
        },
      },
    ])
  })

  test('stays so until it is enabled: disabling it by hand keeps the reason', async () => {
    await disable('gone')
    expect((await update({ enabled: false })).body.disabled_reason).toBe('gone')
    expect((await update({ enabled: true })).body.enabled).toBe(true)
    await disable('failing')
    expect((await get()).disabled_reason).toBe('failing')
  })

  test('not where it was removed, or disabled by hand', async () => {
    await update({ enabled: false })
    await disable('failing')
    expect((await get()).disabled_reason).toBe('by_hand')
    await must(hub, 'acme', 'DELETE', `${webhooksPath}/${id}`)
    await disable('gone')
    expect((await events()).map(({ event_kind }: { event_kind: string }) => event_kind)).not.toContain(
      'webhook.disabled',
    )
  })
})

test('other parts of the Hub are told once it has committed, and only of changes', async () => {
  const told: string[] = []
  const { watches } = hub.modules.webhooks
  const original = watches.changed
  watches.changed = (tenantId) => void told.push(tenantId)
  try {
    await update({})
    expect(told).toEqual([])
    await update({ enabled: false })
    expect(told).toEqual(['acme'])
    await must(hub, 'acme', 'POST', `${webhooksPath}/${id}:rotate-secret`)
    await must(hub, 'acme', 'DELETE', `${webhooksPath}/${id}`)
    expect(told).toEqual(['acme', 'acme', 'acme'])
  } finally {
    watches.changed = original
  }
})

test.each<[string, object, string[]]>([
  ['null', { description: null }, ['/description']],
  ['an address inside', { url: 'http://[::1]/' }, ['/url']],
  ['an unknown event', { events: ['user.born'] }, ['/events/0']],
  ['a rate beyond one', { alerts: [{ ...settings.alerts[0], above: 2 }] }, ['/alerts/0/above']],
  ['no text', { enabled: 'no', url: 'x' }, ['/enabled', '/url']],
  ['a secret', { secret: 'whsec_x' }, ['/secret']],
  ['nothing to tell', { events: [], alerts: [] }, ['/events']],
])('%s is 400', async (_name, body, pointers) => {
  const answer = await update(body)
  expect([answer.status, slugOf(answer), pointersOf(answer).sort()]).toEqual([400, 'validation-failed', pointers])
})

test('taking the rules from one without events is 400 too', async () => {
  expect((await update({ events: [] })).status).toBe(200)
  const answer = await update({ alerts: [] })
  expect([answer.status, pointersOf(answer)]).toEqual([400, ['/events']])
})

test('one that is not there, or was removed, is 404', async () => {
  await must(hub, 'acme', 'DELETE', `${webhooksPath}/${id}`)
  expect(slugOf(await update({ enabled: false }))).toBe('not-found')
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'PATCH', path: `${webhooksPath}/${id}`, body: { enabled: false } }),
  wrongScopes: ['connector:admin', 'hub:write'],
  otherTenant: 404,
})
