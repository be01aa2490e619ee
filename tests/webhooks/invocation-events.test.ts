import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { JsonValue } from '../../provenance/index.ts'
import { matchEndpoints } from '../../server/modules/webhooks/outbox/endpoint-matching.ts'
import { prepareTelemetry, registerSkill } from '../api/telemetry-tenants.ts'
import { addWebhook, must, webhooksPath } from '../api/webhook-cases.ts'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { outboxRows, takeDescribed } from './queued-messages.ts'

const failed = (change: Record<string, JsonValue | undefined> = {}) =>
  event({ success: false, error_code: 'timeout', ...change })

let hub: TestHub
let made: [TestTenant, string][] = []
beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme', 'cmode')
  await registerSkill(hub, 'acme', 'translate')
  const archetypes = [{ archetype_id: 'analyst' }, { archetype_id: 'lawyer' }]
  await must(hub, 'acme', 'PUT', '/api/v1/roster/archetypes', { body: { archetypes } })
})
afterEach(async () => {
  for (const [tenant, id] of made) await must(hub, tenant, 'DELETE', `${webhooksPath}/${id}`)
  made = []
  for (const tenant of ['acme', 'globex', 'cmode'] as const) await takeDescribed(hub, tenant)
})
afterAll(() => hub.stop())

async function listen(change: object = {}, tenant: TestTenant = 'acme'): Promise<string> {
  const { webhook_id: id } = await addWebhook(hub, tenant, { events: ['skill.*'], ...change })
  made.push([tenant, id])
  return id
}

async function ingest(events: readonly object[], tenant: TestTenant = 'acme'): Promise<string[]> {
  const { body } = await must(hub, tenant, 'POST', '/api/v1/telemetry/events:batch', { body: { events } })
  return body.records.map((record: { record_id: string }) => record.record_id)
}

/** Whom of the endpoints a message is for. */
async function audience(tenant: TestTenant = 'acme') {
  const endpoints = await hub.test.database.withTenant(tenant, (tx) => hub.modules.webhooks.endpoints.all(tx))
  return matchEndpoints(endpoints)
}

/** Kinds of what was sent, and to which endpoints. */
async function brief(messages: Awaited<ReturnType<typeof takeDescribed>>, tenant: TestTenant = 'acme') {
  const sent = await audience(tenant)
  return messages.map((message) => [message.kind, new Set(sent(message).map(({ webhookId }) => webhookId))])
}

test('a failed invocation is told with what its record says, and never its metadata', async () => {
  const id = await listen()
  const one = failed({ metadata: { note: 'private' }, tokens_total_reported: 1200 })
  const { body: receipt } = await must(hub, 'acme', 'POST', '/api/v1/telemetry/events', { body: one })
  const [message, ...others] = await takeDescribed(hub, 'acme')
  const { metadata: _, tokens_total_reported: __, ...sent } = one
  expect(others).toEqual([])
  expect(message).toEqual({
    messageId: expect.any(String),
    kind: 'skill.invocation_failed',
    occurredAt: '2026-01-05T09:30:00.123456Z',
    data: { record_id: receipt.record_id, ...sent, cost_usd_computed: expect.any(Number) },
    recordId: receipt.record_id,
    userId: 'user:kim@example.com',
  })
  expect((await audience())(message!)).toMatchObject([{ webhookId: id }])
})

test('what is told is over a threshold, not at it, and thresholds have defaults', async () => {
  const [plain, strict] = [await listen(), await listen({ thresholds: { latency_ms: 1200, cost_usd: 0.5 } })]
  await ingest([
    event({ latency_ms: 1200, cost_usd_estimate: 0.5 }),
    event({ latency_ms: 1201, cost_usd_estimate: 0.500001 }),
    event({ latency_ms: 30_001, cost_usd_estimate: 1.000001 }),
    event({ latency_ms: 30_000, cost_usd_estimate: 1, llm_model: 'unpriced' }),
  ])
  const [latency, cost] = ['skill.latency_exceeded', 'skill.cost_exceeded']
  expect(await brief(await takeDescribed(hub, 'acme'))).toEqual([
    [latency, new Set([strict])],
    [cost, new Set([strict])],
    [latency, new Set([plain, strict])],
    [cost, new Set([plain, strict])],
    [latency, new Set([strict])],
    [cost, new Set([strict])],
  ])
})

test('the greater one of the estimated and the computed cost counts', async () => {
  const id = await listen({ events: ['skill.cost_exceeded'] })
  await ingest([event({ tokens_in: 8_000_000, cost_usd_estimate: 0.1 }), event({ cost_usd_estimate: 2 })])
  const messages = await takeDescribed(hub, 'acme')
  expect(await brief(messages)).toEqual([
    ['skill.cost_exceeded', new Set([id])],
    ['skill.cost_exceeded', new Set([id])],
  ])
  expect(messages[0]!.data).toMatchObject({ cost_usd_estimate: 0.1, cost_usd_computed: 2.00025 })
})

test('endpoints that want the same are told by one message', async () => {
  const ids = [await listen(), await listen({ events: ['skill.invocation_failed'] })]
  await listen({ events: ['skill.cost_exceeded'] })
  await ingest([failed()])
  expect(await brief(await takeDescribed(hub, 'acme'))).toEqual([['skill.invocation_failed', new Set(ids)]])
})

test('filters let through what is of a skill and of an archetype that they name', async () => {
  const [skill, archetype, both] = [
    await listen({ filters: { skill_ids: ['translate'] } }),
    await listen({ filters: { archetype_ids: ['lawyer', 'pilot'] } }),
    await listen({ filters: { skill_ids: ['translate', 'sum-up'], archetype_ids: ['lawyer'] } }),
  ]
  await ingest([
    failed(),
    failed({ skill_id: 'translate' }),
    failed({ archetype_id: 'lawyer' }),
    failed({ skill_id: 'translate', archetype_id: 'lawyer' }),
  ])
  expect((await brief(await takeDescribed(hub, 'acme'))).map(([, ids]) => ids)).toEqual([
    new Set([skill]),
    new Set([archetype, both]),
    new Set([skill, archetype, both]),
  ])
})

test('a thousand failures are a message each, in rows of a few hundred, however many endpoints listen', async () => {
  for (let at = 1; at <= 5; at += 1) await listen({ thresholds: { latency_ms: 10_000 + at } })
  const ids = await ingest(Array.from({ length: 1000 }, (_, at) => failed({ latency_ms: at + 1 })))
  const rows = await outboxRows(hub, 'acme')
  expect(rows.map((row) => row.length)).toEqual([250, 250, 250, 250])
  expect(rows.flat().map(({ recordId }) => recordId)).toEqual(ids)
})

test('nothing is written where no endpoint that is enabled wants anything of invocations', async () => {
  const disabled = await listen()
  await must(hub, 'acme', 'PATCH', `${webhooksPath}/${disabled}`, { body: { enabled: false } })
  const removed = await listen()
  await must(hub, 'acme', 'DELETE', `${webhooksPath}/${removed}`)
  await listen({ events: ['user.*'] })
  await listen({}, 'globex')
  await takeDescribed(hub, 'acme')
  await ingest([failed({ latency_ms: 599_000, cost_usd_estimate: 100 })])
  expect(await takeDescribed(hub, 'acme')).toEqual([])
})

test('an endpoint is told from the moment it is there, and until it is disabled', async () => {
  await ingest([failed()])
  const id = await listen()
  const [second] = await ingest([failed()])
  await must(hub, 'acme', 'PATCH', `${webhooksPath}/${id}`, { body: { enabled: false } })
  await ingest([failed()])
  expect((await takeDescribed(hub, 'acme')).map(({ recordId }) => recordId)).toEqual([second])
})

test('a repeated request tells nothing twice, and a refused event nothing at all', async () => {
  await listen()
  const headers = { 'idempotency-key': 'once' }
  const single = { body: failed(), headers: { 'idempotency-key': 'single' } }
  const batch = { body: { events: [failed(), failed({ archetype_id: 'nobody' }), failed()] }, headers }
  for (let times = 0; times < 3; times += 1) {
    await must(hub, 'acme', 'POST', '/api/v1/telemetry/events', single)
    await must(hub, 'acme', 'POST', '/api/v1/telemetry/events:batch', batch)
  }
  expect(await takeDescribed(hub, 'acme')).toHaveLength(3)
})

test('copies of one request at a time tell once', async () => {
  await listen()
  const call = { body: { events: [failed()] }, headers: { 'idempotency-key': 'copies' } }
  await Promise.all(Array.from({ length: 8 }, () => must(hub, 'acme', 'POST', '/api/v1/telemetry/events:batch', call)))
  expect(await takeDescribed(hub, 'acme')).toHaveLength(1)
})

test('a Mode C tenant is told as every other', async () => {
  const id = await listen({}, 'cmode')
  await ingest([failed()], 'cmode')
  expect(await brief(await takeDescribed(hub, 'cmode'), 'cmode')).toEqual([['skill.invocation_failed', new Set([id])]])
})
