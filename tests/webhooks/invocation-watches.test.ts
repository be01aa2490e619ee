import { expect, test } from 'vitest'
import type { Database } from '../../server/db/database.ts'
import { createInvocationWatches, invocationWatch } from '../../server/modules/webhooks/invocations/invocation-watch.ts'
import { matchEndpoints } from '../../server/modules/webhooks/outbox/endpoint-matching.ts'
import type { Endpoint, IngestedEvent } from '../../server/modules/webhooks/webhooks-types.ts'

const endpoint: Endpoint = {
  webhookId: 'whk_1',
  events: ['skill.*'],
  filters: {},
  thresholds: {},
  alerts: [],
  enabled: true,
}
const ingested: IngestedEvent = {
  recordId: '0197c5a1-7c1e-7a44-9d53-2f6a1b0c8e11',
  createdAt: '2026-01-05T09:31:07.000001Z',
  fields: {
    ...{ skill_id: 'sum-up', skill_version: '1.0.0', ts: '2026-01-05T09:30:00.000000Z', error_code: 'timeout' },
    ...{ success: false, latency_ms: 10, cost_usd_estimate: 0 },
  },
  skillId: 'sum-up',
  archetypeId: 'analyst',
  userId: 'user:kim',
  sealed: false,
}

/** Reads are counted, and go on until they are let go. */
function openWatches() {
  const state = { nowMs: 0, reads: 0, endpoints: [endpoint] }
  let hold = Promise.resolve()
  const database = { withTenant: async (_: string, work: (tx: never) => unknown) => work({} as never) }
  const watches = createInvocationWatches({
    database: database as unknown as Database,
    endpoints: {
      all: async () => {
        state.reads += 1
        const { endpoints } = state
        await hold
        return endpoints
      },
    },
    nowMs: () => state.nowMs,
  })
  const holding = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    hold = promise
    return resolve
  }
  return { state, watches, holding }
}

test('endpoints are read once a second, however many ask', async () => {
  const { state, watches } = openWatches()
  await Promise.all(Array.from({ length: 20 }, () => watches.of('acme')))
  state.nowMs = 999
  await watches.of('acme')
  expect(state.reads).toBe(1)
  state.nowMs = 1000
  await watches.of('acme')
  expect(state.reads).toBe(2)
  await watches.of('globex')
  expect(state.reads).toBe(3)
})

test('that nobody listens is known for a second too', async () => {
  const { state, watches } = openWatches()
  state.endpoints = [{ ...endpoint, events: ['user.*', 'governance.*'] }]
  expect([await watches.of('acme'), await watches.of('acme')]).toEqual([undefined, undefined])
  expect(state.reads).toBe(1)
})

test('a read that began before a change does not outlive it', async () => {
  const { state, watches, holding } = openWatches()
  const letGo = holding()
  const stale = watches.of('acme')
  state.endpoints = []
  watches.changed('acme')
  letGo()
  expect(await stale).toBeDefined()
  expect(await watches.of('acme')).toBeUndefined()
})

test('a read that fails is tried again by the next', async () => {
  const { state, watches, holding } = openWatches()
  const { promise, reject } = Promise.withResolvers<void>()
  holding()(promise)
  const first = watches.of('acme')
  reject(new Error('away'))
  await expect(first).rejects.toThrow('away')
  expect(await watches.of('acme').catch(() => 'away')).toBe('away')
  expect(state.reads).toBe(2)
})

test('of a record under the key of its tenant nothing is told but what its columns have in clear', () => {
  const low = { ...endpoint, webhookId: 'whk_low', thresholds: { latency_ms: 5, cost_usd: 3 } }
  const lower = { ...endpoint, webhookId: 'whk_lower', thresholds: { latency_ms: 1, cost_usd: 2 } }
  const elsewhere = { ...lower, webhookId: 'whk_elsewhere', filters: { skill_ids: ['translate'] } }
  const all = [endpoint, low, lower, elsewhere]
  const fields = {
    ...{
      ...ingested.fields,
      archetype_id: 'analyst',
      user_id: 'user:kim',
      llm_platform: 'slack',
      llm_model: 'a-model',
    },
    ...{ latency_ms: 4, tokens_in: 7, tokens_out: 8, cost_usd_estimate: 0.5, cost_usd_computed: 2.5 },
  }
  const messages = invocationWatch(all)!.messagesOf([{ ...ingested, fields, sealed: true }])
  const data = {
    ...{ record_id: ingested.recordId, skill_id: 'sum-up', archetype_id: 'analyst', user_id: 'user:kim' },
    cost_usd_estimate: 0.5,
  }
  const common = { occurredAt: ingested.createdAt, recordId: ingested.recordId, userId: 'user:kim', data }
  expect(messages).toEqual([
    { kind: 'skill.invocation_failed', ...common },
    { kind: 'skill.latency_exceeded', ...common, webhookIds: ['whk_lower'] },
    { kind: 'skill.cost_exceeded', ...common, webhookIds: ['whk_1', 'whk_lower'] },
  ])
  // And so the relay, which cannot see the figures, finds whom it is for.
  const audience = matchEndpoints(all)
  const ids = messages.map((message) => audience(message).map(({ webhookId }) => webhookId))
  expect(ids).toEqual([['whk_1', 'whk_low', 'whk_lower'], ['whk_lower'], ['whk_1', 'whk_lower']])
  const [plain] = invocationWatch(all)!.messagesOf([{ ...ingested, fields }])
  expect(plain).toMatchObject({ occurredAt: ingested.fields.ts, data: { record_id: ingested.recordId, ...fields } })
})

test('a disabled endpoint wants nothing', () => {
  expect(invocationWatch([{ ...endpoint, enabled: false }])).toBeUndefined()
  expect(invocationWatch([])).toBeUndefined()
})

test('an event makes one message of a kind, however many endpoints want it from different values on', () => {
  const many = Array.from({ length: 100 }, (_, at) => ({
    ...endpoint,
    ...{ webhookId: `whk_${at}`, thresholds: { latency_ms: 9 - at, cost_usd: 10 + at } },
  }))
  const [one, ...others] = [invocationWatch(many)!, invocationWatch([many[99]!])!].map((watch) =>
    watch.messagesOf([ingested, { ...ingested, fields: { ...ingested.fields, success: true, cost_usd_computed: 11 } }]),
  )
  expect(one!.map(({ kind }) => kind)).toEqual([
    ...['skill.invocation_failed', 'skill.latency_exceeded'],
    ...['skill.latency_exceeded', 'skill.cost_exceeded'],
  ])
  expect(one!.every(({ webhookIds, data }) => webhookIds === undefined && !('threshold' in data))).toBe(true)
  expect(others[0]).toEqual(one!.slice(0, 3))
})

test('the lowest of values counts of those endpoints alone whose filters let an invocation through', () => {
  const low = { ...endpoint, thresholds: { latency_ms: 1 }, filters: { skill_ids: ['translate'] } }
  const watch = invocationWatch([{ ...endpoint, thresholds: { latency_ms: 10 } }, low])!
  const kinds = (skillId: string) => watch.messagesOf([{ ...ingested, skillId }]).map(({ kind }) => kind)
  expect(kinds('sum-up')).toEqual(['skill.invocation_failed'])
  expect(kinds('translate')).toEqual(['skill.invocation_failed', 'skill.latency_exceeded'])
})
