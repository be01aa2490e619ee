import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../provenance/index.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { type Attributes, chat, keyValues, span, toProtobuf, traceId, traces } from './otlp-bodies.ts'
import { encodings, eventsOf, send } from './otlp-lab.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme', 'globex', 'cmode')
})
afterAll(() => hub.stop())

let spans = 0
/** A span that no test has sent before. */
const next = (attributes?: Attributes, changes?: JsonObject) => span(++spans, attributes, changes)
const ofSpan = async (id: string, tenant: 'acme' | 'cmode' = 'acme') =>
  (await eventsOf(hub, tenant)).filter((event) => event.span_id === id)

describe.each(encodings)('%s', (encoding) => {
  test('a span of the conventions becomes an event that verifies', async () => {
    const sent = next(chat, { parentSpanId: 'ab'.repeat(8) })
    expect(await send(hub, traces([sent]), { encoding })).toMatchObject({ status: 200, body: {} })
    const [event] = await eventsOf(hub, 'acme', '&verify=true&sort=-created_at')
    expect(event).toMatchObject({
      ...{ skill_id: 'sum-up', skill_version: '0.0.0', archetype_id: 'analyst', user_id: 'user:kim@example.com' },
      ...{ llm_platform: 'claude', llm_model: 'claude-3-haiku-20240307', ts: '2026-01-05T09:30:00.123456Z' },
      ...{ success: true, latency_ms: 1200, tokens_in: 1000, tokens_out: 200 },
      ...{ cost_usd_estimate: 0.0005, cost_usd_computed: 0.0005, session_id: 'chat-1' },
      ...{ trace_id: traceId, span_id: sent.spanId, parent_span_id: 'ab'.repeat(8) },
      metadata: { operation: 'chat', cost_source: 'hub' },
      verification: { verified: true },
    })
  })

  test('gzip; attributes of the resource; a failed span; a reported cost', async () => {
    const { 'user.id': _, ...nobody } = chat
    const sent = next({ ...nobody, 'error.type': 'rate limit', 'gen_ai.usage.cost': 0.25 }, { status: { code: 2 } })
    const request = traces([sent], { 'user.email': 'ada@example.com', 'session.id': 'of the resource' })
    const body = encoding === 'application/json' ? Buffer.from(JSON.stringify(request)) : toProtobuf(request)
    const answer = await send(hub, gzipSync(body), { encoding, headers: { 'content-encoding': 'gzip' } })
    expect(answer).toMatchObject({ status: 200, body: {} })
    const [event] = await ofSpan(String(sent.spanId))
    expect(event).toMatchObject({ success: false, error_code: 'rate-limit', user_id: 'user:ada@example.com' })
    expect(event).toMatchObject({ cost_usd_estimate: 0.25, session_id: 'chat-1', metadata: { operation: 'chat' } })
    expect(event?.metadata).not.toHaveProperty('cost_source')
  })

  test('rejected spans are counted with reasons, ignored ones are not, and the others are stored', async () => {
    const good = next()
    const refused = [
      next({ ...chat, 'skill.name': 'unknown' }),
      next({ ...chat, 'archetype.id': 'unknown' }),
      next({ 'gen_ai.operation.name': 'chat' }),
      next(chat, { traceId: '00'.repeat(16) }),
      next({ ...chat, 'gen_ai.usage.input_tokens': -1 }),
      next(chat, { endTimeUnixNano: String(1_767_605_400_123_456_000n + 600_000_000_000n) }),
    ]
    const ignored = [next({ 'http.request.method': 'GET' }), next({ ...chat, 'gen_ai.operation.name': 'create_agent' })]
    const answer = await send(hub, traces([...refused, good, ...ignored]), { encoding })
    expect(answer.status).toBe(200)
    const { errorMessage, ...counts } = answer.body.partialSuccess as Record<string, string>
    expect(Object.values(counts)).toEqual([String(refused.length)])
    for (const reason of [/must be a registered skill/, /archetype bundle/, /names no user/, /trace id/, /tokens_in/]) {
      expect(errorMessage).toMatch(reason)
    }
    expect(errorMessage).toMatch(/latency_ms/)
    expect(await ofSpan(String(good.spanId))).toHaveLength(1)
    for (const { spanId } of [...refused.slice(0, 3), ...ignored]) expect(await ofSpan(String(spanId))).toEqual([])
  })

  test('10,000 attributes: this span is rejected, the others are stored', async () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`a${index}`, index]))
    const [huge, good] = [next(), next()]
    const sent = [{ ...huge, attributes: keyValues({ ...many, ...chat }) }, good]
    const answer = await send(hub, traces(sent), { encoding })
    expect(answer).toMatchObject({ status: 200, body: { partialSuccess: {} } })
    expect(JSON.stringify(answer.body)).toMatch(/more than 1000 attributes/)
    expect(await ofSpan(String(huge.spanId))).toEqual([])
    expect(await ofSpan(String(good.spanId))).toHaveLength(1)
  })

  test.each(['resource', 'scope'])('a %s with too many attributes: nothing is stored', async (part) => {
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`a${index}`, index]))
    const sent = next()
    const scopeSpans = [{ scope: { attributes: keyValues(part === 'scope' ? many : {}) }, spans: [sent] }]
    const resource = { attributes: keyValues(part === 'resource' ? many : {}) }
    const answer = await send(hub, { resourceSpans: [{ resource, scopeSpans }] }, { encoding })
    expect(answer).toMatchObject({
      status: 413,
      body: { code: 3, message: expect.stringContaining('at most 1000 attributes') },
    })
    expect(await ofSpan(String(sent.spanId))).toEqual([])
  })

  test('a repeated span is accepted and stored once: within a request, alone, among new ones, and at the same time', async () => {
    const [first, second, third] = [next(), next(), next()]
    const results = [await send(hub, traces([first, first, second]), { encoding })]
    results.push(await send(hub, traces([first]), { encoding: 'application/json' }))
    results.push(...(await Promise.all([1, 2, 3].map(() => send(hub, traces([third, second, first]), { encoding })))))
    for (const result of results) expect(result).toMatchObject({ status: 200, body: {} })
    for (const { spanId } of [first, second, third]) expect(await ofSpan(String(spanId))).toHaveLength(1)
  })

  test.each([
    ['not the message', Buffer.from('{"resourceSpans": [7'), {}, 400, 3],
    ['a wrong type', Buffer.from('{"resourceSpans": 7}'), {}, 400, 3],
    ['a truncated gzip', gzipSync(Buffer.alloc(1000)).subarray(0, 15), { 'content-encoding': 'gzip' }, 400, 3],
    ['no gzip', Buffer.from('x'), { 'content-encoding': 'gzip' }, 400, 3],
    ['another coding', Buffer.from('x'), { 'content-encoding': 'br' }, 415, 3],
    ['too large once inflated', gzipSync(Buffer.alloc(16 * 2 ** 20 + 1)), { 'content-encoding': 'gzip' }, 413, 3],
  ])('%s: an error in the encoding of the request', async (_, body, headers, status, code) => {
    const answer = await send(hub, body, { encoding, headers: headers as Record<string, string> })
    expect(answer).toMatchObject({ status, body: { code, message: expect.any(String) } })
    expect(answer.headers.get('content-type')).toBe(encoding)
  })

  test('an error states each reason once', async () => {
    const answer = await send(hub, Buffer.from('{"resourceSpans": 7}'), { encoding: 'application/json' })
    expect(answer.body.message).toBe('/resourceSpans must be an array')
  })

  test('a body that breaks off stores nothing', async () => {
    const sent = next()
    const body =
      encoding === 'application/json' ? Buffer.from(JSON.stringify(traces([sent]))) : toProtobuf(traces([sent]))
    expect(await send(hub, body.subarray(0, -3), { encoding })).toMatchObject({ status: 400, body: { code: 3 } })
    expect(await ofSpan(String(sent.spanId))).toEqual([])
  })
})

describe('access', () => {
  const cases: [string, Parameters<typeof send>[2], number, number][] = [
    ['no token', { headers: { authorization: 'none' } }, 401, 16],
    ['a wrong token', { headers: { authorization: 'Bearer x', 'x-service-tenant': 'acme' } }, 401, 16],
    ['a token without the scope', { scopes: ['telemetry:read'] }, 403, 7],
    ['the tenant of another', { headers: { 'x-service-tenant': 'globex' } }, 403, 7],
    ['an unknown path', { path: 'profiles' }, 404, 5],
    ['another method', { method: 'GET' }, 405, 12],
    ['another type', { headers: { 'content-type': 'text/plain' } }, 415, 3],
  ]
  test.each(cases)('%s', async (_, options, status, code) => {
    expect(await send(hub, traces([next()]), options)).toMatchObject({ status, body: { code } })
  })

  test('metrics are dropped with a message', async () => {
    for (const encoding of encodings) {
      const answer = await send(hub, Buffer.from(encoding === 'application/json' ? '{}' : ''), {
        path: 'metrics',
        encoding,
      })
      expect(answer).toMatchObject({ status: 200, body: { partialSuccess: { errorMessage: /not stored/ } } })
    }
  })

  test('HTTP Basic with a service account, with or without the tenant header', async () => {
    const account = await hub.call('acme', 'POST', '/api/v1/service-accounts', {
      body: { name: 'exporter', scopes: ['telemetry:write'] },
    })
    const reader = await hub.call('acme', 'POST', '/api/v1/service-accounts', {
      body: { name: 'reader', scopes: ['telemetry:read'] },
    })
    const basic = ({ client_id, client_secret }: Record<string, string>, headers = {}) => ({
      headers: { authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}`, ...headers },
    })
    const sent = next()
    expect(await send(hub, traces([sent]), basic(account.body))).toMatchObject({ status: 200, body: {} })
    expect((await ofSpan(String(sent.spanId)))[0]).toMatchObject({ created_by: account.body.client_id })
    const inTenant = basic(account.body, { 'x-service-tenant': 'acme' })
    expect(await send(hub, traces([next()]), inTenant)).toMatchObject({ status: 200 })
    const elsewhere = basic(account.body, { 'x-service-tenant': 'globex' })
    expect(await send(hub, traces([next()]), elsewhere)).toMatchObject({ status: 403, body: { code: 7 } })
    expect(await send(hub, traces([next()]), basic(reader.body))).toMatchObject({ status: 403, body: { code: 7 } })
    const wrong = basic({ ...account.body, client_secret: 'wrong' })
    const refused = await send(hub, traces([next()]), wrong)
    expect(refused).toMatchObject({ status: 401, body: { code: 16 } })
    const token = await fetch(`${hub.baseUrl}/api/v1/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id: 'nobody', client_secret: 'wrong' }),
    })
    expect(refused.headers.get('ratelimit-policy')).toBe(token.headers.get('ratelimit-policy'))
    expect(await send(hub, traces([next()]), basic(account.body))).toMatchObject({ status: 200 })
  })
})

test('Mode C: events without metadata, and no content anywhere', async () => {
  const content = {
    'gen_ai.input.messages': 'secret question',
    'gen_ai.tool.call.arguments': 'secret arguments',
    'gen_ai.prompt.0.content': 'secret prompt',
  }
  for (const encoding of encodings) {
    const sent = next({ ...chat, ...content }, { events: [{ name: 'gen_ai.choice', attributes: keyValues(content) }] })
    expect(await send(hub, traces([sent]), { encoding, tenant: 'cmode' })).toMatchObject({ status: 200, body: {} })
    const [event] = await ofSpan(String(sent.spanId), 'cmode')
    expect(event).toMatchObject({ skill_id: 'sum-up', session_id: 'chat-1', cost_usd_estimate: 0.0005 })
    expect(event).not.toHaveProperty('metadata')
    expect(JSON.stringify(event)).not.toContain('secret')
  }
})

test('more than one transaction of events', async () => {
  const sent = Array.from({ length: 1100 }, () => next())
  expect(await send(hub, traces(sent), { tenant: 'globex' })).toMatchObject({ status: 200, body: {} })
  expect(await send(hub, traces(sent), { tenant: 'globex', encoding: 'application/json' })).toMatchObject({ body: {} })
  const { body } = await hub.call(
    'globex',
    'GET',
    '/api/v1/telemetry/summary?from=2026-01-05T00:00:00Z&to=2026-01-06T00:00:00Z',
  )
  expect(body.totals.invocations).toBe(1100)
})
