import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { accessCases, slugOf } from './connector-cases.ts'
import { addWebhook, must, secretsOf, webhookEventsOf, webhooksPath } from './webhook-cases.ts'

let hub: TestHub
let id: string
let first: string
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())
beforeEach(async () => {
  const made = await addWebhook(hub)
  id = made.webhook_id
  first = made.secret
})

const rotate = (body?: unknown) => hub.call('acme', 'POST', `${webhooksPath}/${id}:rotate-secret`, { body })

test('shows the new secret once; the one before is good for a day beside it', async () => {
  const beforeMs = Date.now()
  const answer = await rotate()
  const { secret, former_secret_until: until } = answer.body
  expect([answer.status, secret]).toEqual([200, expect.stringMatching(/^whsec_[A-Za-z0-9]{44}$/)])
  expect(secret).not.toBe(first)
  expect(Date.parse(until) - beforeMs).toBeGreaterThanOrEqual(86_400_000)
  expect(Date.parse(until) - Date.now()).toBeLessThanOrEqual(86_400_000)
  expect(await secretsOf(hub, 'acme', id)).toEqual([secret, first])

  const shown = await must(hub, 'acme', 'GET', `${webhooksPath}/${id}`)
  expect(shown.body.former_secret_until).toBe(until)
  expect(shown.text).not.toContain('whsec_')
  const event = (await webhookEventsOf(hub, 'acme', `webhook:${id}`)).at(-1)
  expect(event).toMatchObject({
    event_kind: 'tenant.config_changed',
    details: { change: 'webhook_secret_rotated', after: { former_secret_until: until } },
  })
  expect(JSON.stringify([event, hub.logLines])).not.toMatch(/whsec_/)
})

test('rotated again within the day, the oldest ends at once', async () => {
  const second = (await rotate()).body.secret
  const third = (await rotate({})).body.secret
  expect(await secretsOf(hub, 'acme', id)).toEqual([third, second])
})

test('of ten at once each has its turn: two secrets are good in the end', async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => rotate()))
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
  const shown: string[] = answers.map(({ body }) => body.secret)
  expect(new Set(shown).size).toBe(10)
  const good = await secretsOf(hub, 'acme', id)
  expect(good).toHaveLength(2)
  expect(shown).toEqual(expect.arrayContaining(good!))
  expect(await webhookEventsOf(hub, 'acme', `webhook:${id}`)).toHaveLength(11)
})

test('after the day the one before is good no more, and not shown', async () => {
  const { secret } = (await rotate()).body
  const superuser = await hub.superuserClient()
  const text = `update hub.webhooks set former_secret_until = now() - interval '1 second' where webhook_id = $1`
  await superuser.query(text, [id])
  expect(await secretsOf(hub, 'acme', id)).toEqual([secret])
  const { body } = await must(hub, 'acme', 'GET', `${webhooksPath}/${id}`)
  expect(body).not.toHaveProperty('former_secret_until')
})

test('also while it is disabled', async () => {
  await must(hub, 'acme', 'PATCH', `${webhooksPath}/${id}`, { body: { enabled: false } })
  const answer = await rotate()
  expect([answer.status, answer.body.enabled]).toEqual([200, false])
})

test('a secret of the caller is 400, an unknown endpoint 404', async () => {
  expect((await rotate({ secret: 'whsec_mine' })).status).toBe(400)
  await must(hub, 'acme', 'DELETE', `${webhooksPath}/${id}`)
  expect(slugOf(await rotate())).toBe('not-found')
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'POST', path: `${webhooksPath}/${id}:rotate-secret` }),
  wrongScopes: ['connector:admin'],
  otherTenant: 404,
})
