import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { formatTimestamp } from '../../contract/timestamp.ts'
import type { JsonObject } from '../../provenance/index.ts'
import { createSessionSkills } from '../../server/modules/otlp/mapping/session-skills.ts'
import { prepareTelemetry, registerSkill } from '../api/telemetry-tenants.ts'
import { startSecondHub } from '../auth/second-hub.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { type Attributes, chat, log, logs, span, startNanos, traces } from './otlp-bodies.ts'
import { encodings, eventsOf, send, setMapping } from './otlp-lab.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme')
  for (const skill of ['by-rule', 'fallback', 'Support-Agent']) await registerSkill(hub, 'acme', skill)
})
afterAll(() => hub.stop())

let spans = 0
async function eventOf(attributes: Attributes, changes: JsonObject = {}) {
  const sent = span(++spans, attributes, changes)
  const answer = await send(hub, traces([sent], { 'service.name': 'bot' }))
  expect(answer).toMatchObject({ status: 200, body: {} })
  expect(answer.body).toEqual({})
  return (await eventsOf(hub, 'acme')).find((event) => event.span_id === sent.spanId)
}
const without = (...names: string[]) =>
  Object.fromEntries(Object.entries(chat).filter(([name]) => !names.includes(name)))

test.each([
  [{ 'gen_ai.provider.name': 'openai' }, { llm_platform: 'chatgpt' }],
  [{ 'gen_ai.provider.name': 'gcp.vertex_ai' }, { llm_platform: 'gemini' }],
  [{ 'gen_ai.provider.name': 'github.copilot' }, { llm_platform: 'copilot' }],
  [{ 'gen_ai.provider.name': 'AWS Bedrock' }, { llm_platform: 'custom:aws-bedrock' }],
  [{ 'gen_ai.response.model': 'claude-x[1m]' }, { llm_model: 'claude-x' }],
  [{ 'user.id': 'user:lee' }, { user_id: 'user:lee' }],
  [{ 'session.id': 'x'.repeat(200) }, { session_id: 'x'.repeat(128) }],
  [{ 'session.id': `${'x'.repeat(127)}😀` }, { session_id: 'x'.repeat(127) }],
  [{ 'skill.version': '2.1.0' }, { skill_version: '2.1.0' }],
  [{ 'skill.name': '要約', 'gen_ai.agent.name': 'by-rule' }, { skill_id: 'by-rule' }],
  [{ 'skill.name': '', 'gen_ai.agent.name': 'by-rule' }, { skill_id: 'by-rule' }],
  [
    { 'gen_ai.usage.cache_read.input_tokens': 7, 'gen_ai.usage.reasoning.output_tokens': 8 },
    { metadata: { operation: 'chat', cost_source: 'hub', tokens_cache_read: 7, tokens_reasoning: 8 } },
  ],
])('%j', async (attributes, expected) => {
  expect(await eventOf({ ...chat, ...attributes } as Attributes)).toMatchObject(expected)
})

test('the user and the session of Traceloop', async () => {
  const prefix = 'traceloop.association.properties'
  const own = { [`${prefix}.user_id`]: 'kim@example.com', [`${prefix}.session_id`]: 'chat-9' }
  const expected = { user_id: 'user:kim@example.com', session_id: 'chat-9' }
  expect(await eventOf({ ...without('user.id', 'session.id'), ...own } as Attributes)).toMatchObject(expected)
})

test('legacy names, and an agent’s name as skill', async () => {
  const legacy = {
    ...without('skill.name', 'gen_ai.provider.name', 'gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens'),
    ...{ 'gen_ai.system': 'anthropic', 'gen_ai.usage.prompt_tokens': 5, 'llm.token_count.completion': 6 },
    ...{ 'gen_ai.agent.name': 'Support Agent', 'gen_ai.operation.name': 'invoke_agent' },
  }
  const expected = { llm_platform: 'claude', tokens_in: 5, tokens_out: 6, skill_id: 'Support-Agent' }
  expect(await eventOf(legacy as Attributes)).toMatchObject(expected)
})

describe('the tenant’s part', () => {
  test('rules decide first, and make events of other spans; ignored operations make none', async () => {
    await setMapping(hub, 'acme', {
      ignore_operations: ['embeddings'],
      rules: [
        { when: { 'service.name': 'bot', kind: 'LLM' }, set: { skill_id: 'by-rule', llm_platform: 'custom:bot' } },
        { when: { kind: 'LLM' }, set: { skill_id: 'fallback', archetype_id: 'analyst' } },
      ],
    })
    const other = { kind: 'LLM', 'user.id': 'kim', 'llm.model_name': 'm' }
    const expected = { skill_id: 'by-rule', archetype_id: 'analyst', llm_platform: 'custom:bot', llm_model: 'm' }
    expect(await eventOf(other)).toMatchObject(expected)
    expect(await eventOf({ ...chat, kind: 'other' })).toMatchObject({ skill_id: 'sum-up', llm_platform: 'claude' })
    expect(await eventOf({ ...chat, 'gen_ai.operation.name': 'embeddings' })).toBeUndefined()
  })

  test('defaults for spans that name no skill and no archetype; the roster’s archetype precedes the default', async () => {
    await hub.call('acme', 'PUT', '/api/v1/roster/archetypes', {
      body: { archetypes: [{ archetype_id: 'analyst' }, { archetype_id: 'of-roster' }] },
    })
    const { body: user } = await hub.call('acme', 'POST', '/api/v1/roster/users', {
      body: { email: 'known@example.com', role: 'member' },
    })
    const assigned = await hub.call('acme', 'PUT', `/api/v1/roster/users/${user.user_id}/archetypes`, {
      body: { archetype_ids: ['of-roster'] },
    })
    expect(assigned.status, assigned.text).toBe(200)
    const bare = without('skill.name', 'archetype.id')
    await setMapping(hub, 'acme', {})
    const refused = await send(hub, traces([span(++spans, bare as Attributes)]))
    expect(JSON.stringify(refused.body)).toMatch(/names no skill/)
    await setMapping(hub, 'acme', { default_skill_id: 'fallback', default_archetype_id: 'analyst' })
    expect(await eventOf(bare as Attributes)).toMatchObject({ skill_id: 'fallback', archetype_id: 'analyst' })
    const known = { ...bare, 'user.id': 'known@example.com' }
    expect(await eventOf(known as Attributes)).toMatchObject({ archetype_id: 'of-roster' })
  })

  test('unknown skills are registered on request, once', async () => {
    await setMapping(hub, 'acme', { unknown_skill: 'register' })
    const sent = [1, 2, 3].map(() => span(++spans, { ...chat, 'skill.name': 'brand-new', 'skill.version': '3.0.0' }))
    const answers = await Promise.all(sent.map((each) => send(hub, traces([each]))))
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: {} })
    const { body } = await hub.call('acme', 'GET', '/api/v1/skill-entitlement/skills/brand-new')
    expect(body).toMatchObject({ skill_id: 'brand-new', state: 'draft' })
    expect((await eventsOf(hub, 'acme', '&skill_id=brand-new')).length).toBe(3)
  })

  test('a tenant of 1,000 skills registers no further ones from events', async () => {
    await prepareTelemetry(hub, 'globex')
    await setMapping(hub, 'globex', { unknown_skill: 'register' })
    await hub.test.database.withTenant('globex', async ({ client, tenantId }) => {
      const { rows } = await client.query('select count(*)::int as count from hub.skills where tenant_id = $1', [
        tenantId,
      ])
      await client.query(
        `insert into hub.skills (tenant_id, skill_id, state, created_at, updated_at)
         select $1, 'skill-' || n, 'draft', now(), now() from generate_series(1, $2) n`,
        [tenantId, 999 - rows[0].count],
      )
    })
    const named = (name: string) => traces([span(++spans, { ...chat, 'skill.name': name })])
    expect((await send(hub, named('the-last'), { tenant: 'globex' })).body).toEqual({})
    const refused = await send(hub, named('one-too-many'), { tenant: 'globex' })
    expect(JSON.stringify(refused.body)).toMatch(/must be a registered skill/)
    expect((await eventsOf(hub, 'globex')).map((event) => event.skill_id)).toEqual(['the-last'])
  })
})

describe.each(encodings)('Claude Code, %s', (encoding) => {
  const session = `session of ${encoding}`
  const request: Attributes = {
    ...{ 'event.name': 'api_request', 'session.id': session, 'user.id': 'abc', model: 'claude-3-haiku-20240307' },
    ...{ cost_usd: 0.5, duration_ms: 900, input_tokens: 10, output_tokens: 20, cache_read_tokens: 30 },
  }
  const record = (attributes: Attributes, name: string, at = 0) =>
    log(attributes, { body: { stringValue: `claude_code.${name}` }, timeUnixNano: String(startNanos + BigInt(at)) })

  test('one event for each request, with the skill of it, of the session, of a rule, or the default', async () => {
    await setMapping(hub, 'acme', {
      ...{ default_skill_id: 'fallback', default_archetype_id: 'analyst', unknown_skill: 'register' },
      rules: [{ when: { 'plugin.name': 'tools' }, set: { skill_id: 'by-rule' } }],
    })
    const activated = (skill: string) =>
      record({ 'event.name': 'skill_activated', 'session.id': session, 'skill.name': skill }, 'skill_activated')
    const sent = logs([
      record(request, 'api_request', 1),
      record({ ...request, 'skill.name': 'sum-up' }, 'api_request', 2),
      record({ ...request, 'plugin.name': 'tools' }, 'api_request', 3),
      activated('Support Agent'),
      record({ ...request, 'skill.name': ' custom_skill ' }, 'api_request', 4),
      activated(' third-party'),
      record({ ...request, 'skill.name': 'third-party' }, 'api_request', 5),
      record({ ...request, 'event.name': 'tool_result' }, 'tool_result', 6),
      record(request, 'api_request', 7),
      record(request, 'api_request', 7),
    ])
    for (let times = 0; times < 2; times++)
      expect(await send(hub, sent, { encoding })).toMatchObject({ status: 200, body: {} })
    const events = await eventsOf(hub, 'acme', `&session_id=${encodeURIComponent(session)}`)
    const skills = ['fallback', 'sum-up', 'by-rule', 'Support-Agent', 'fallback', 'fallback', 'fallback']
    expect(events.map((event) => event.skill_id)).toEqual(skills)
    expect(events[0]).toMatchObject({
      ...{ llm_platform: 'claude', llm_model: 'claude-3-haiku-20240307', cost_usd_estimate: 0.5, latency_ms: 900 },
      ...{ tokens_in: 10, tokens_out: 20, metadata: { operation: 'chat', tokens_cache_read: 30 } },
    })
    for (const masked of ['custom_skill', 'third-party']) {
      expect((await hub.call('acme', 'GET', `/api/v1/skill-entitlement/skills/${masked}`)).status).toBe(404)
    }
  })

  test('a failed request is a failed event, with the skill of its session, whose long id is cut', async () => {
    await setMapping(hub, 'acme', { default_skill_id: 'fallback', default_archetype_id: 'analyst' })
    const session = `failed, ${encoding}`.padEnd(200, 'x')
    const { model = '', 'user.id': user = '' } = request
    const failed = (status: string, at: number) => {
      const error = { 'event.name': 'api_error', 'session.id': session, 'user.id': user, model, duration_ms: 12 }
      return record({ ...error, status_code: status }, 'api_error', at)
    }
    const activation = { 'event.name': 'skill_activated', 'session.id': session, 'skill.name': 'sum-up' }
    const activated = record(activation, 'skill_activated')
    expect((await send(hub, logs([activated, failed('429', 1), failed('undefined', 2)]), { encoding })).body).toEqual(
      {},
    )
    const common = { success: false, skill_id: 'sum-up', latency_ms: 12, tokens_in: 0, cost_usd_estimate: 0 }
    const cut = encodeURIComponent(session.slice(0, 128))
    expect(await eventsOf(hub, 'acme', `&session_id=${cut}`)).toMatchObject([
      { ...common, error_code: '429' },
      { ...common, error_code: 'error' },
    ])
  })

  test('a repeated request is stored once, though its session and the mapping have changed', async () => {
    const defaults = { default_skill_id: 'fallback', default_archetype_id: 'analyst' }
    await setMapping(hub, 'acme', defaults)
    const session = `repeated, ${encoding}`
    const own = { ...request, 'session.id': session }
    const activation = { 'event.name': 'skill_activated', 'session.id': session, 'skill.name': 'sum-up' }
    const sent = logs([
      record({ ...own, 'terminal.type': 'a' }, 'api_request'),
      record({ ...own, 'terminal.type': 'b' }, 'api_request'),
      record(activation, 'skill_activated'),
    ])
    const storedSkills = async () => {
      expect((await send(hub, sent, { encoding })).body).toEqual({})
      const events = await eventsOf(hub, 'acme', `&session_id=${encodeURIComponent(session)}`)
      return events.map((event) => event.skill_id)
    }
    expect(await storedSkills()).toEqual(['fallback', 'fallback'])
    expect(await storedSkills()).toEqual(['fallback', 'fallback'])
    const rules = [{ when: { 'terminal.type': 'b' }, set: { skill_id: 'by-rule', archetype_id: 'of-roster' } }]
    await setMapping(hub, 'acme', { ...defaults, default_archetype_id: 'of-roster', rules })
    expect(await storedSkills()).toEqual(['fallback', 'fallback'])
  })
})

test('a call at one process has the skill that another process received', async () => {
  await setMapping(hub, 'acme', { default_skill_id: 'fallback', default_archetype_id: 'analyst' })
  const second = await startSecondHub(hub)
  onTestFinished(second.stop)
  const own = { 'session.id': 'of two processes', 'user.id': 'abc', model: 'claude-3-haiku-20240307' }
  const record = (name: string, more: Attributes = {}) => log({ ...own, ...more, 'event.name': `claude_code.${name}` })
  const activation = logs([record('skill_activated', { 'skill.name': 'sum-up' })])
  expect((await send(hub, activation)).body).toEqual({})
  const answer = await second.app.inject({
    ...{ method: 'POST', url: '/api/v1/otlp/v1/logs', payload: logs([record('api_request')]) },
    headers: {
      ...{ host: new URL(hub.baseUrl).host, 'x-service-tenant': 'acme' },
      authorization: `Bearer ${await hub.token('acme', ['telemetry:write'])}`,
    },
  })
  expect(answer).toMatchObject({ statusCode: 200, body: '{}' })
  const events = await eventsOf(hub, 'acme', '&session_id=of%20two%20processes')
  expect(events).toMatchObject([{ skill_id: 'sum-up' }])
})

test('an activation that arrives late does not replace a newer one', async () => {
  await setMapping(hub, 'acme', { default_skill_id: 'fallback', default_archetype_id: 'analyst' })
  const own = { 'session.id': 'late', 'user.id': 'abc', model: 'claude-3-haiku-20240307' }
  const sent = Date.now()
  const record = (name: string, secondsAgo: number, more: Attributes = {}) =>
    log({ ...own, ...more, 'event.name': `claude_code.${name}` }, { timeUnixNano: `${sent - secondsAgo * 1000}000000` })
  const activated = (skill: string, secondsAgo: number) =>
    record('skill_activated', secondsAgo, { 'skill.name': skill })
  for (const records of [
    [activated('sum-up', 20)],
    [activated('by-rule', 30), activated('Support Agent', 40)],
    [record('api_request', 10)],
    [activated('by-rule', 25), record('api_request', 5)],
  ]) {
    expect((await send(hub, logs(records))).body).toEqual({})
  }
  const events = await eventsOf(hub, 'acme', '&session_id=late')
  expect(events.map((event) => event.skill_id)).toEqual(['sum-up', 'sum-up'])
})

test('a request that failed has the same skills when it is repeated', async () => {
  await setMapping(hub, 'acme', { default_skill_id: 'fallback', default_archetype_id: 'analyst' })
  const own = { 'session.id': 'failed first', 'user.id': 'abc', model: 'claude-3-haiku-20240307' }
  const record = (name: string, more: Attributes = {}) => log({ ...own, ...more, 'event.name': `claude_code.${name}` })
  const sent = logs([record('api_request'), record('skill_activated', { 'skill.name': 'sum-up' })])
  const client = await hub.superuserClient()
  await client.query(`create function public.fail() returns trigger language plpgsql as $$
    begin raise exception 'no record'; end $$`)
  await client.query('create trigger fail before insert on hub.records for each row execute function public.fail()')
  const failed = await send(hub, sent)
  await client.query('drop trigger fail on hub.records')
  expect(failed.status).toBeGreaterThanOrEqual(500)
  expect((await send(hub, sent)).body).toEqual({})
  expect(await eventsOf(hub, 'acme', '&session_id=failed%20first')).toMatchObject([{ skill_id: 'fallback' }])
})

test('a process looks a session up every five seconds at most, for a day after its activation', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { database } = hub.test
  let transactions = 0
  const counted: typeof database.withTenant = (...given) => {
    transactions += 1
    return database.withTenant(...given)
  }
  const [one, other] = [createSessionSkills(database), createSessionSkills({ ...database, withTenant: counted })]
  const activate = async (skill: string | undefined, session = 'looked-up') => {
    const sessions = await one('acme', new Set())
    sessions.activated(session, skill, formatTimestamp(Date.now()))
    await sessions.save()
  }
  const read = async () => (await other('acme', new Set(['looked-up']))).lastOf('looked-up')
  await activate('first')
  expect([await read(), await read(), transactions]).toEqual(['first', 'first', 1])
  await activate('second')
  vi.advanceTimersByTime(4999)
  expect(await read()).toBe('first')
  vi.advanceTimersByTime(1)
  expect([await read(), await read(), transactions]).toEqual(['second', 'second', 2])
  vi.advanceTimersByTime(5000)
  await activate(undefined)
  expect([await read(), await read(), transactions]).toEqual([undefined, undefined, 3])
  await activate('third')
  vi.advanceTimersByTime(86_400_001)
  expect(await read()).toBeUndefined()
  await activate('of another', 'another')
  const left = await database.withTenant('acme', (tx) => tx.client.query('select session_id from hub.session_skills'))
  expect(left.rows).toEqual([{ session_id: 'another' }])
})

test.each(encodings)('%s: a failed call on both signals is stored once, with its error', async (encoding) => {
  const call = span(++spans, { ...chat, 'error.type': 'timeout' }, { status: { code: 2 } })
  const { traceId, spanId } = call
  const record = log({ ...chat, 'error.type': 'timeout' }, { traceId, spanId } as JsonObject)
  for (const sent of [logs([record]), traces([call]), logs([record])]) {
    expect((await send(hub, sent, { encoding })).body).toEqual({})
  }
  const events = (await eventsOf(hub, 'acme')).filter((event) => event.span_id === spanId)
  expect(events).toMatchObject([{ success: false, error_code: 'timeout', latency_ms: 1 }])
})
