import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import Stripe from 'stripe'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { scopeNames } from '../../contract/scopes.ts'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { verifyWebhook as verifyInBrowser } from '../../sdk/typescript/src/webhooks/verify-webhook.ts'
import { verifyWebhook } from '../../sdk/typescript/src/webhooks/verify-webhook-node.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { freePort } from '../support/free-port.ts'
import { type HubProcess, makeTenant, startHubProcess } from '../support/hub-process.ts'
import { scaled } from '../support/machine-speed.ts'
import { event } from '../telemetry/events.ts'
import { type ReceivedMessage, type Receiver, type ReceivingEndpoint, startReceiver } from '../webhooks/receiver.ts'
import { answer, take } from '../webhooks/receiver-behaviours.ts'

/** Webhooks as a customer uses them: over HTTP alone, with a Hub of its own. The tests follow one another. */

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert
type Body = any

const webhooks = '/api/v1/webhooks'
const users = '/api/v1/roster/users'
const stripe = new Stripe('sk_test_of_no_account')

let hub: HubProcess
let client: HubClient
let receiver: Receiver
let endpoint: ReceivingEndpoint
let own: string
let metricsPort: number
const secrets: string[] = []
beforeAll(async () => {
  const dataDir = await freshDataDirectory()
  receiver = await startReceiver()
  endpoint = receiver.at('/hub')
  metricsPort = await freePort()
  const settings = { HUB_OUTBOUND_ALLOW: '127.0.0.1', HUB_LIMIT_FACTOR: '1000' }
  hub = await startHubProcess(dataDir, { ...settings, HUB_METRICS_PORT: String(metricsPort) })
  const account = await makeTenant(dataDir, 'acme', scopeNames.join(' '))
  client = new HubClient({ baseUrl: hub.url, ...account })
  await client.post('/api/v1/hub/records', {
    body: { record_type: 'skill_definition', skill_id: 'sum-up', skill_version: '1.0.0', name: 'Sum up' },
  })
})
afterAll(async () => {
  await hub?.stop()
  await receiver?.stop()
  await removeDataDirectories()
})

/** The first message of a kind from a place on, once it has come in. */
async function messageOf(kind: string, from = 0): Promise<ReceivedMessage> {
  const find = () => endpoint.received.slice(from).find(({ body }) => body.kind === kind)
  await endpoint.until(() => find() !== undefined)
  return find()!
}

/** Looks again until it is so: nothing tells a caller of the Hub's API. */
async function eventually(
  look: () => Promise<Body>,
  isSo: (value: Body) => boolean,
  withinMs = scaled(30_000),
): Promise<Body> {
  for (const endsMs = performance.now() + withinMs; ; await delay(50)) {
    const value = await look()
    if (isSo(value)) return value
    if (performance.now() > endsMs) throw new Error(`still ${JSON.stringify(value)}: ${isSo}`)
  }
}

const deliveryOf = ({ delivery_id }: Body) => client.get<Body>(`${own}/deliveries/${delivery_id}`)

test('an endpoint is made; its secret is shown once', async () => {
  const made = await client.post<Body>(webhooks, {
    body: {
      ...{ url: endpoint.url, events: ['user.*', 'skill.*', 'governance.*'], description: 'Tour' },
      thresholds: { latency_ms: 2000, cost_usd: 0.5 },
    },
  })
  own = `${webhooks}/${made.webhook_id}`
  expect(made.secret).toMatch(/^whsec_[A-Za-z0-9]{32,}$/)
  secrets.push(made.secret)
  endpoint.secrets = secrets
  expect(await client.get<Body>(own)).not.toHaveProperty('secret')
  expect(JSON.stringify(await client.get<Body>(webhooks))).not.toContain(made.secret)
})

test('a test message comes in, and the delivery shows the request and the answer', async () => {
  const ordered = await client.post<Body>(`${own}:test`)
  const { headers, body } = await messageOf('webhook.test')
  expect(headers).toMatchObject({
    'x-service-webhook-id': ordered.message_id,
    'x-service-tenant': 'acme',
    'content-type': 'application/json',
  })
  const delivery = await eventually(
    () => deliveryOf(ordered),
    ({ status }) => status === 'delivered',
  )
  expect(delivery.body).toEqual(body)
  expect(delivery.attempts).toHaveLength(1)
  expect(delivery.last_attempt).toMatchObject({ url: endpoint.url, response: { status: 200, body: 'taken' } })
  expect(delivery.last_attempt.duration_ms).toBeGreaterThanOrEqual(0)
  const names = Object.keys(delivery.last_attempt.request_headers).map((name) => name.toLowerCase())
  expect(names).toEqual(expect.arrayContaining(['x-service-signature', 'x-service-webhook-id', 'content-type']))
})

let scim: { scim_base_url: string; bearer_token: string; inbound: { connection_id: string; secret: string } }
async function scimCall(method: string, path: string, body?: object): Promise<Body> {
  const answered = await fetch(`${scim.scim_base_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${scim.bearer_token}`, 'content-type': 'application/scim+json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!answered.ok) throw new Error(`${method} ${path}: ${answered.status} ${await answered.text()}`)
  return answered.status === 204 ? undefined : answered.json()
}

test('what an identity provider does to a person comes in as their life', async () => {
  scim = await client.post('/api/v1/identity/scim/configure', { body: { mode: 'push' } })
  const created = await scimCall('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    ...{ userName: 'kim@acme.example', externalId: 'kim-1', displayName: 'Kim', active: true },
    emails: [{ value: 'kim@acme.example', primary: true }],
  })
  const provisioned = (await messageOf('user.provisioned')).body
  expect(provisioned.data).toMatchObject({
    ...{ user_name: 'kim@acme.example', external_id: 'kim-1', display_name: 'Kim' },
    ...{ email: 'kim@acme.example', active: true, role: 'member' },
  })
  const { user_id } = provisioned.data
  const patch = (operation: object) =>
    scimCall('PATCH', `/Users/${created.id}`, {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [operation],
    })
  await patch({ op: 'replace', path: 'displayName', value: 'Kim Lee' })
  expect((await messageOf('user.updated')).body.data).toMatchObject({
    ...{ user_id, display_name: 'Kim Lee', changed: ['display_name'] },
  })
  await client.put(`${users}/${user_id}/archetypes`, { archetype_ids: ['analyst'] })
  expect((await messageOf('user.archetype_changed')).body.data).toMatchObject({
    ...{ user_id, before: [], after: ['analyst'] },
  })
  await patch({ op: 'replace', path: 'active', value: false })
  expect((await messageOf('user.deactivated')).body.data).toMatchObject({ user_id, active: false })
})

test('invocations that failed, took long or cost much come in, and those that did not do not', async () => {
  const invoke = (changes: Parameters<typeof event>[0]) =>
    client.post<Body>('/api/v1/telemetry/events', { body: event(changes) })
  await invoke({})
  const failed = await invoke({ success: false, error_code: 'model-overloaded' })
  const slow = await invoke({ latency_ms: 2001 })
  const dear = await invoke({ cost_usd_estimate: 0.75 })
  expect((await messageOf('skill.invocation_failed')).body.data).toMatchObject({
    ...{ record_id: failed.record_id, skill_id: 'sum-up', error_code: 'model-overloaded', success: false },
  })
  expect((await messageOf('skill.latency_exceeded')).body.data).toMatchObject({
    ...{ record_id: slow.record_id, latency_ms: 2001 },
  })
  expect((await messageOf('skill.cost_exceeded')).body.data).toMatchObject({
    ...{ record_id: dear.record_id, cost_usd_estimate: 0.75 },
  })
  expect(endpoint.received.filter(({ body }) => body.kind.startsWith('skill.'))).toHaveLength(3)
})

test('governance events come in, and are the records that they tell of', async () => {
  const { record_id } = await client.post<Body>('/api/v1/hub/records', {
    body: { record_type: 'governance_event', event_kind: 'custom.tour', subject: 'tour:1', details: { step: 4 } },
  })
  const { body } = await messageOf('governance.custom.tour')
  const record = await client.get<Body>(`/api/v1/hub/records/${record_id}`)
  expect(body.data).toEqual({
    record_id,
    event_kind: 'custom.tour',
    subject: 'tour:1',
    details: { step: 4 },
    created_at: record.created_at,
    created_by: record.created_by,
    provenance_hash: record.provenance_hash,
  })
  await messageOf('governance.tenant.live')
})

test('every message verifies, by both of our verifiers and by stripe’s library; altered, none does', async () => {
  for (const { raw, headers } of endpoint.received) {
    const [secret = ''] = secrets
    const signature = String(headers['x-service-signature'])
    const message = verifyWebhook({ body: raw, headers, secret })
    expect(await verifyInBrowser({ body: raw, headers, secret })).toEqual(message)
    expect(stripe.webhooks.constructEvent(raw, signature, secret)).toEqual(message)
    const altered = raw.toString().replace('"acme"', '"acne"')
    expect(() => verifyWebhook({ body: altered, signature, secret })).toThrow(/No signature/)
    expect(() => stripe.webhooks.constructEvent(altered, signature, secret)).toThrow()
  }
  expect(endpoint.faults).toEqual([])
})

test('sequences are those of the deliveries, without gaps, and each message came once', async () => {
  const { items } = await eventually(
    () => client.get(`${own}/deliveries?limit=1000`),
    (list) => list.items.every(({ status }: Body) => status === 'delivered'),
  )
  const sequences = items.map(({ sequence }: Body) => sequence).reverse()
  expect(sequences).toEqual(sequences.map((_: number, at: number) => at + 1))
  expect(new Set(endpoint.received.map(({ sequence }) => sequence)).size).toBe(items.length)
  expect(endpoint.duplicates()).toBe(0)
})

test('while the secret is rotated, both the new and the former verify', async () => {
  const rotated = await client.post<Body>(`${own}:rotate-secret`)
  secrets.push(rotated.secret)
  const from = endpoint.received.length
  await client.post(`${own}:test`)
  const { raw, headers } = await messageOf('webhook.test', from)
  for (const secret of secrets) {
    expect(verifyWebhook({ body: raw, headers, secret }).kind).toBe('webhook.test')
    expect(stripe.webhooks.constructEvent(raw, String(headers['x-service-signature']), secret)).toBeDefined()
  }
  expect(String(headers['x-service-signature'])).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/)
  expect(Date.parse((await client.get<Body>(own)).former_secret_until)).toBeGreaterThan(Date.now() + 23 * 3_600_000)
  // The event of the test message: it would fail, too, once the receiver refuses.
  const isEvent = ({ body }: { body: Body }) => body.data.details?.change === 'webhook_tested'
  await endpoint.until(() => endpoint.received.slice(from).some(isEvent))
})

const custom = async (step: number) =>
  (
    await client.post<Body>('/api/v1/hub/records', {
      body: { record_type: 'governance_event', event_kind: 'custom.tour', subject: `tour:${step}` },
    })
  ).record_id as string
const deliveryOfRecord = async (recordId: string) => {
  const { items } = await client.get<Body>(`${own}/deliveries?kind=governance.custom.tour&limit=1000`)
  for (const item of items) {
    const delivery = await deliveryOf(item)
    if (delivery.body.data.record_id === recordId) return delivery
  }
}

test('a receiver that is down is tried again until it is up', async () => {
  receiver.refusing = true
  const record = await custom(5)
  const failed = await eventually(
    () => deliveryOfRecord(record),
    (delivery) => delivery?.status === 'failed',
  )
  expect(failed.last_attempt.error.code).toBe('unreachable')
  expect(failed.last_attempt).not.toHaveProperty('response')
  expect((await client.get<Body>(own)).health).toMatchObject({ status: 'failing', failures: 1 })
  receiver.refusing = false
  const delivered = await eventually(
    () => deliveryOf(failed),
    ({ status }) => status === 'delivered',
  )
  const [first, second] = delivered.attempts
  expect(Date.parse(second.at) - Date.parse(first.at)).toBeGreaterThan(3900)
  expect((await client.get<Body>(own)).health).toMatchObject({ status: 'ok', failures: 0 })
})

test('what failed is delivered at once when it is ordered, with the same ids', async () => {
  const since = new Date().toISOString()
  endpoint.behaviour = answer(500, {}, 'out of order')
  const records = [await custom(6), await custom(7), await custom(8)]
  const failed = await eventually(
    () => client.get(`${own}/deliveries?status=failed&limit=1000`),
    ({ items }) => items.length === records.length,
  )
  expect(failed.items[0].last_attempt).toMatchObject({
    error: { code: 'http-5xx' },
    response: { status: 500, body: 'out of order' },
  })
  endpoint.behaviour = take
  const from = endpoint.received.length
  const ordered = await client.post<Body>(`${own}:redeliver`, { body: { since } })
  expect(ordered).toEqual({ webhook_id: own.split('/').at(-1), queued: records.length })
  const ids = failed.items.map(({ message_id }: Body) => message_id)
  await endpoint.until(({ received }) => ids.every((id: string) => received.slice(from).some((one) => one.id === id)))
})

test('one that was delivered can be delivered again', async () => {
  const [first] = (await client.get<Body>(`${own}/deliveries?kind=user.provisioned`)).items
  const from = endpoint.received.length
  const ordered = await client.post<Body>(`${own}/deliveries/${first.delivery_id}:redeliver`)
  expect(ordered.status).toBe('pending')
  const { id, earlier } = await messageOf('user.provisioned', from)
  expect([id, earlier]).toEqual([first.message_id, 1])
  await eventually(
    () => deliveryOf(first),
    ({ status, attempt_count }) => status === 'delivered' && attempt_count === 2,
  )
})

test('a receiver that is gone is not called any more, until it is enabled again', async () => {
  endpoint.behaviour = answer(410)
  await custom(9)
  const gone = await eventually(
    () => client.get(own),
    ({ enabled }) => !enabled,
  )
  expect(gone).toMatchObject({ disabled_reason: 'gone', health: { status: 'disabled' } })
  const since = (await client.get<Body>(`${own}/deliveries?limit=1`)).items[0].created_at
  await expect(client.post(`${own}:redeliver`, { body: { since } })).rejects.toThrow(/disabled.*PATCH/)
  const told = await client.get<Body>('/api/v1/hub/records?record_type=governance_event&event_kind=webhook.disabled')
  expect(told.records).toHaveLength(1)
  endpoint.behaviour = take
  const from = endpoint.received.length
  await client.post(`${own}:test`)
  await messageOf('webhook.test', from)
  await client.patch(own, { enabled: true })
  expect((await client.post<Body>(`${own}:redeliver`, { body: { since } })).queued).toBeGreaterThan(0)
  await messageOf('governance.custom.tour', from)
})

/** As the platform, or the provider, sends it. */
async function sendIn(
  { connection_id, secret }: typeof scim.inbound,
  message: object,
  altered = '',
): Promise<Response> {
  const body = JSON.stringify(message)
  const t = Math.floor(Date.now() / 1000)
  const v1 = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')
  return fetch(`${hub.url}${webhooks}/inbound/${connection_id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-signature': `t=${t},v1=${v1}` },
    body: body + altered,
  })
}

test('a chat platform tells of invocations, each taken once', async () => {
  const { inbound } = await client.post<Body>('/api/v1/llm/connectors', {
    body: { platform: 'slack', display_name: 'Tour', delivery: 'pull' },
  })
  const { llm_platform: _, ...data } = event({ success: false, error_code: 'in-slack' })
  const message = { id: randomUUID(), kind: 'skill.invoked', occurred_at: new Date().toISOString(), data }
  expect((await sendIn(inbound, message, ' ')).status).toBe(401)
  const from = endpoint.received.length
  for (const status of ['accepted', 'duplicate']) {
    const answered = await sendIn(inbound, message)
    expect([answered.status, await answered.json()]).toEqual([200, { id: message.id, status }])
  }
  const { data: told } = (await messageOf('skill.invocation_failed', from)).body
  expect(told).toMatchObject({ llm_platform: 'slack', error_code: 'in-slack' })
  const { records } = await client.get<Body>(`/api/v1/hub/records?created_by=${inbound.connection_id}`)
  expect(records.map(({ record_id }: Body) => record_id)).toEqual([told.record_id])
})

test('an identity provider tells of people', async () => {
  const say = async (kind: string, data: object) => {
    const message = { id: randomUUID(), kind, occurred_at: new Date().toISOString(), data }
    const answered = await sendIn(scim.inbound, message)
    expect([answered.status, await answered.json()]).toEqual([200, { id: message.id, status: 'accepted' }])
  }
  const from = endpoint.received.length
  await say('user.provisioned', { user_name: 'lou@acme.example', external_id: 'lou-1', display_name: 'Lou' })
  const { user_id } = (await messageOf('user.provisioned', from)).body.data
  expect(await client.get<Body>(`${users}/${user_id}`)).toMatchObject({ display_name: 'Lou' })
  await say('user.deactivated', { user_name: 'lou@acme.example', external_id: 'lou-1' })
  expect((await messageOf('user.deactivated', from)).body.data.user_id).toBe(user_id)
})

test('an endpoint that was removed hears nothing more, and nothing was wrong with what came in', async () => {
  await client.delete(own)
  await expect(client.get(`${own}/deliveries`)).rejects.toThrow(/404/)
  expect(endpoint.faults).toEqual([])
  expect(hub.output()).not.toMatch(/"level":(50|60)/)
})

test('the operator sees how deliveries went', async () => {
  const page = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  expect(page).toMatch(/^hub_webhook_deliveries_total\{outcome="delivered"\} [1-9]\d*$/m)
  expect(page).toMatch(/^hub_webhook_longest_wait_seconds\{stage="due"\} \d/m)
})
