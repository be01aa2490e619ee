import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { type PublishReceiver, startPublishReceiver } from '../support/publish-receiver.ts'
import { type FakeScimSource, startScimSource } from '../support/scim-source.ts'
import { type ModeB, modeB, provisionPath } from './mode-b-lab.ts'

const connectors = '/api/v1/llm/connectors'
const webhooks = '/api/v1/webhooks'
const configure = '/api/v1/identity/scim/configure'
let hub: TestHub
let b: ModeB
let source: FakeScimSource
let receiver: PublishReceiver
let connectorId: string
let webhookId: string
let pull: Record<string, unknown>
let connector: Record<string, unknown>

/** Secrets are set under a key, which is destroyed, and another one is made. */
beforeAll(async () => {
  hub = await startHub({ settings: { HUB_OUTBOUND_ALLOW: '127.0.0.1' } })
  source = await startScimSource()
  receiver = await startPublishReceiver()
  b = await modeB(hub, 'lost')
  await b.ready()
  const credentials = { bearer_token: 'a-token-of-the-receiver' }
  connector = { platform: 'custom:x', display_name: 'X', delivery: 'push', publish_url: receiver.url, credentials }
  connectorId = (await must('POST', connectors, connector)).connector_id
  const endpoint = { url: receiver.url, events: ['user.*'] }
  webhookId = (await must('POST', webhooks, endpoint)).webhook_id
  if ((await secretsOfWebhook())?.length !== 1) throw new Error('its secret does not open under the key')
  pull = { mode: 'pull', base_url: source.baseUrl, bearer_token: source.token, group_archetype_map: [] }
  await must('POST', configure, pull)
  await must('POST', '/api/v1/hub/cmek:destroy', { confirm: 'lost', reason: 'over' })
  await must('POST', provisionPath, { cmek: { provider: 'local', key_ref: 'k2' } })
})
afterAll(async () => {
  await hub.stop()
  await Promise.all([source.stop(), receiver.stop()])
})

async function must(method: string, path: string, body?: unknown) {
  const answer = await b.call(method, path, body)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.body
}

/** What is sent to it is signed with. */
async function secretsOfWebhook() {
  const tenant = (await hub.modules.tenants.directory.read('lost'))!
  const { endpoints } = hub.modules.webhooks
  return hub.test.database.withTenant('lost', (tx) => endpoints.secretsOf(tx, tenant, webhookId))
}

async function untilHealth(wanted: (health: Record<string, unknown>) => boolean) {
  const health = async () => (await must('GET', `${connectors}/${connectorId}`)).health
  await expect.poll(async () => wanted(await health())).toBe(true)
  return health()
}

test('a connector is listed and read without credentials, and says in words why it does not deliver', async () => {
  const { items } = await must('GET', connectors)
  expect(items).toMatchObject([{ connector_id: connectorId, credentials: [] }])
  const trial = await must('POST', `${connectors}/${connectorId}:test`)
  expect(trial.ok).toBe(false)
  expect(trial.steps[0].detail).toContain('lost when the key of the tenant was destroyed')
  hub.modules.distribution.publisher.start()
  const { error } = await untilHealth((health) => health.status === 'failing')
  expect(error).toMatchObject({ code: 'credentials', detail: expect.stringContaining('Set them again') })
  expect(receiver.received).toEqual([])
})

test('other settings of it change, and credentials that are set anew are a change and are sent', async () => {
  await must('PATCH', `${connectors}/${connectorId}`, { display_name: 'Y' })
  await must('PATCH', `${connectors}/${connectorId}`, { display_name: 'X' })
  const again = await must('POST', connectors, connector)
  expect(again).toMatchObject({ connector_id: connectorId, credentials: ['bearer_token'] })
  const events = await b.events('tenant.config_changed')
  const last = events.filter(({ subject }) => subject === `connector:${connectorId}`).at(-1)
  expect(last).toMatchObject({ details: { credentials_changed: true } })
  const [sent] = await receiver.count(1)
  expect(sent!.headers.authorization).toBe('Bearer a-token-of-the-receiver')
})

test('a directory that is read says that its token is gone, and takes one again', async () => {
  const trial = await must('POST', '/api/v1/identity/scim:test')
  expect(trial.steps.find((step: { ok: boolean }) => !step.ok).detail).toContain(
    'lost when the key of the tenant was destroyed',
  )
  const state = async (id: string) => must('GET', `/api/v1/roster/scim-syncs/${id}`)
  const failed = (await must('POST', '/api/v1/roster/scim:sync')).sync_id
  await expect.poll(async () => (await state(failed)).status).toBe('failed')
  expect((await state(failed)).error.detail).toContain('Set it again')
  const { bearer_token: _, ...withoutToken } = pull
  const refused = await b.call('POST', configure, withoutToken)
  expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/bearer_token'])
  const before = (await b.events('tenant.config_changed')).length
  await must('POST', configure, pull)
  expect(await b.events('tenant.config_changed')).toHaveLength(before + 1)
  await must('POST', configure, pull)
  expect(await b.events('tenant.config_changed')).toHaveLength(before + 1)
  const { sync_id } = await must('POST', '/api/v1/roster/scim:sync')
  await expect.poll(async () => (await state(sync_id)).status).toBe('completed')
})

test('an endpoint of webhooks is shown without its secret, has none to sign with, and gets another', async () => {
  const { items } = await must('GET', webhooks)
  expect(items).toMatchObject([{ webhook_id: webhookId, enabled: true }])
  expect(await secretsOfWebhook()).toBeUndefined()
  const { secret } = await must('POST', `${webhooks}/${webhookId}:rotate-secret`)
  // The one before is gone, although its day is not over.
  expect(await secretsOfWebhook()).toEqual([secret])
})
