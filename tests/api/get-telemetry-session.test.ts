import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { modeB } from '../cmek/mode-b-lab.ts'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { expectGuarded, expectProblem, pathOf, unknownId } from './record-cases.ts'
import { send } from './summary-cases.ts'
import { prepareTelemetry, registerSkill } from './telemetry-tenants.ts'

/** The operations getTelemetrySession, listTelemetrySessions and getTrace, which share their data. */

const sessions = '/api/v1/hub/sessions'
const traces = '/api/v1/hub/traces'
const traceId = 'a'.repeat(32)
const span = (digit: string) => digit.repeat(16)
const at = (second: string) => `2026-01-05T09:30:${second}Z`
const chat = 'support/chat 8812'
const priced = { cost_usd_estimate: 0.0005, cost_usd_computed: 0.0005 }

let hub: TestHub

beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme', 'globex', 'cmode')
  await registerSkill(hub, 'acme', 'reply')
  // A root with two children, sent before it; a grandchild; a step without spans; a cycle; and a parent elsewhere.
  await send(hub, 'acme', [
    { ts: at('02.5'), trace_id: traceId, session_id: chat, span_id: span('3'), parent_span_id: span('1') },
    { ts: at('01'), trace_id: traceId, session_id: chat, span_id: span('2'), parent_span_id: span('1') },
    { ts: at('00'), trace_id: traceId, session_id: chat, span_id: span('1'), latency_ms: 9000, skill_id: 'reply' },
    {
      ...{ ts: at('01.250001'), trace_id: traceId, session_id: chat, span_id: span('4'), parent_span_id: span('2') },
      ...{ success: false, error_code: 'timeout', llm_model: undefined },
    },
    { ts: at('04'), session_id: chat },
    { ts: at('05'), session_id: 'loop', trace_id: 'c'.repeat(32), span_id: span('6'), parent_span_id: span('7') },
    { ts: at('06'), session_id: 'loop', trace_id: 'c'.repeat(32), span_id: span('7'), parent_span_id: span('6') },
    { ts: at('07'), session_id: 'loop', trace_id: 'd'.repeat(32), span_id: span('8'), parent_span_id: span('8') },
    { ts: at('08'), session_id: 'loop', trace_id: 'd'.repeat(32), span_id: span('9'), parent_span_id: span('6') },
    { ts: at('09') },
  ])
  await send(hub, 'globex', [{ session_id: 'secret', trace_id: 'b'.repeat(32) }])
  await send(hub, 'cmode', [{ session_id: chat, trace_id: traceId, span_id: span('1') }])
})
afterAll(() => hub.stop())

async function get(path: string, tenant: TestTenant = 'acme', options = {}) {
  const answer = await hub.call(tenant, 'GET', path, options)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}
const sessionPath = (id: string, query = '') => `${sessions}/${encodeURIComponent(id)}${query}`
// biome-ignore lint/suspicious/noExplicitAny: steps are asserted member by member
const shapeOf = (steps: any[]) => steps.map((step) => [step.ts.slice(17, 23), step.depth, step.offset_ms])

describe('a session', () => {
  test('has its steps as a tree, roots and siblings by start', async () => {
    const answer = await get(sessionPath(chat))
    expect(answer).toMatchObject({ session_id: chat, unreadable: 0, next_cursor: null })
    expect(shapeOf(answer.steps)).toEqual([
      ['00.000', 0, 0],
      ['01.000', 1, 1000],
      ['01.250', 2, 1250.001],
      ['02.500', 1, 2500],
      ['04.000', 0, 4000],
    ])
    const [root, first, failed, second, alone] = answer.steps
    expect(first.parent_record_id).toBe(root.record_id)
    expect(failed.parent_record_id).toBe(first.record_id)
    expect(second.parent_record_id).toBe(root.record_id)
    expect(root).not.toHaveProperty('parent_record_id')
    expect(alone).not.toHaveProperty('span_id')
    const { trace_id: _t, session_id: _s, ts: _ts, ...facts } = event({ skill_id: 'reply', latency_ms: 9000 })
    expect(root).toEqual({
      ...{ ...facts, ...priced, record_id: expect.any(String), ts: at('00.000000'), depth: 0, offset_ms: 0 },
      ...{ session_id: chat, trace_id: traceId, span_id: span('1') },
    })
    expect(failed).toMatchObject({ success: false, error_code: 'timeout' })
    expect(failed).not.toHaveProperty('cost_usd_computed')
  })

  test('has totals over its steps', async () => {
    expect((await get(sessionPath(chat))).totals).toEqual({
      ...{ started_at: at('00.000000'), ended_at: at('09.000000'), events: 5, failures: 1 },
      ...{ tokens_in: 5000, tokens_out: 1000, cost_usd_estimate: 0.0025, cost_usd_computed: 0.002, unpriced: 1 },
    })
  })

  test('breaks cycles, and keeps spans of several traces apart', async () => {
    const { steps } = await get(sessionPath('loop'))
    expect(shapeOf(steps)).toEqual([
      ['07.000', 0, 2000],
      ['08.000', 0, 3000],
      ['05.000', 0, 0],
      ['06.000', 1, 1000],
    ])
  })

  test('is paged in the order of storage', async () => {
    const all = (await get(sessionPath(chat))).steps.map((step: { record_id: string }) => step.record_id)
    const found: string[] = []
    let cursor: string | null = ''
    for (let pages = 0; cursor !== null; pages += 1) {
      const page = await get(sessionPath(chat, `?limit=2${cursor && `&cursor=${cursor}`}`))
      expect(page.totals.events).toBe(pages === 2 ? 1 : 2)
      found.push(...page.steps.map((step: { record_id: string }) => step.record_id))
      cursor = page.next_cursor
    }
    expect(found.toSorted()).toEqual(all.toSorted())
    const { next_cursor } = await get(sessionPath(chat, '?limit=2'))
    const foreign = await hub.call('acme', 'GET', sessionPath('loop', `?cursor=${next_cursor}`))
    expectProblem(foreign, 'invalid-cursor', '/query/cursor')
  })

  test('leaves out purged events', async () => {
    await send(hub, 'acme', [{ session_id: 'brief' }])
    const id = (await get(sessionPath('brief'))).steps[0].record_id
    await hub.call('acme', 'DELETE', pathOf(id, '?reason=x'))
    expectProblem(await hub.call('acme', 'GET', sessionPath('brief')), 'not-found')
    const listed = (await get(sessions)).items.map((one: { session_id: string }) => one.session_id)
    expect(listed).not.toContain('brief')
  })

  test('counts events that somebody edited, without showing them', async () => {
    await send(hub, 'acme', [{ session_id: 'edited' }, { session_id: 'edited' }])
    const [{ record_id }] = (await get(sessionPath('edited'))).steps
    const client = await hub.superuserClient()
    await client.query(`update hub.records set canonical = '{}' where record_id = $1`, [record_id])
    expect(await get(sessionPath('edited'))).toMatchObject({ unreadable: 1, totals: { events: 1 } })
  })
})

describe('a trace', () => {
  test('has its steps as a tree', async () => {
    const answer = await get(`${traces}/${traceId}`)
    expect(answer).toMatchObject({ trace_id: traceId, totals: { events: 4, failures: 1 }, next_cursor: null })
    expect(answer.steps.map(({ depth }: { depth: number }) => depth)).toEqual([0, 1, 2, 1])
  })

  test('exists in Mode C, and in Mode B under the key of the tenant', async () => {
    expect((await get(`${traces}/${traceId}`, 'cmode')).totals.events).toBe(1)
    const vault = await modeB(hub, 'vault')
    await vault.ready()
    await vault.call('PUT', '/api/v1/roster/archetypes', { archetypes: [{ archetype_id: 'analyst' }] })
    const one = event({ skill_id: 'sum', session_id: chat, trace_id: traceId, success: false, error_code: 'timeout' })
    expect((await vault.call('POST', '/api/v1/telemetry/events', one)).status).toBe(201)
    expect((await vault.call('GET', sessionPath(chat))).body).toMatchObject({
      steps: [{ error_code: 'timeout', ...priced }],
    })
    expect((await vault.call('GET', sessions)).body.items).toMatchObject([{ session_id: chat, failures: 1 }])
  })
})

describe('the list of sessions', () => {
  const ids = async (query = '') =>
    (await get(`${sessions}${query}`)).items.map((one: { session_id: string }) => one.session_id)

  test('begins with the newest event, and adds up', async () => {
    expect((await ids()).slice(-2)).toEqual(['loop', chat])
    const { items, next_cursor } = await get(`${sessions}?skill_id=reply`)
    expect(next_cursor).toBeNull()
    expect(items).toEqual([
      {
        ...{ session_id: chat, started_at: at('00.000000'), ended_at: at('09.000000'), events: 5, failures: 1 },
        ...{ tokens_in: 5000, tokens_out: 1000, cost_usd_estimate: 0.0025, cost_usd_computed: 0.002, unpriced: 1 },
        ...{ skill_ids: ['reply', 'sum-up'], user_ids: ['user:kim@example.com'], is_partial: false },
      },
    ])
  })

  test('names skills by their first event', async () => {
    await send(hub, 'acme', [
      { ts: at('20'), session_id: 'ordered', skill_id: 'reply' },
      { ts: at('10'), session_id: 'ordered' },
    ])
    const [newest] = (await get(sessions)).items
    expect(newest).toMatchObject({ session_id: 'ordered', skill_ids: ['sum-up', 'reply'] })
  })

  test('is narrowed by person, archetype and time', async () => {
    await send(hub, 'acme', [{ session_id: 'of-ada', user_id: 'user:ada@example.com' }])
    expect(await ids('?user_id=user:ada@example.com')).toEqual(['of-ada'])
    expect(await ids('?user_id=user:ada@example.com&archetype_id=analyst&skill_id=sum-up')).toEqual(['of-ada'])
    expect(await ids('?user_id=user:ada@example.com&skill_id=reply')).toEqual([])
    expect(await ids('?created_at__lt=2020-01-01T00:00:00Z')).toEqual([])
    expect(await ids('?created_at__gte=2099-01-01T00:00:00Z')).toEqual([])
    expect(await ids('?created_at__gte=2020-01-01T00:00:00Z&created_at__lt=2099-01-01T00:00:00Z')).toEqual(await ids())
  })

  test('has each session once, on all pages together', async () => {
    await send(hub, 'acme', [{ session_id: 'loop' }, { session_id: 'other' }, { session_id: chat }])
    const whole = await ids()
    expect(whole.slice(0, 3)).toEqual([chat, 'other', 'loop'])
    expect(new Set(whole).size).toBe(whole.length)
    const found: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: { items: { session_id: string }[]; next_cursor: string | null } = await get(
        `${sessions}?limit=1${cursor && `&cursor=${cursor}`}`,
      )
      found.push(...page.items.map((one) => one.session_id))
      cursor = page.next_cursor
    }
    expect(found).toEqual(whole)
    const { next_cursor } = await get(`${sessions}?limit=1`)
    const changed = await hub.call('acme', 'GET', `${sessions}?skill_id=reply&cursor=${next_cursor}`)
    expectProblem(changed, 'invalid-cursor', '/query/cursor')
  })

  test('counts the newest events of a long session', async () => {
    await send(
      hub,
      'globex',
      Array.from({ length: 201 }, () => ({ session_id: 'long' })),
    )
    const [long] = (await get(sessions, 'globex')).items
    expect(long).toMatchObject({ session_id: 'long', events: 200, is_partial: true })
  })
})

describe('refused', () => {
  test.each([
    [sessionPath('x'.repeat(129)), '/path/session_id'],
    [sessionPath('x', '?limit=0'), '/query/limit'],
    [sessionPath('x', '?limit=1001'), '/query/limit'],
    [sessionPath('x', '?sort=ts'), '/query/sort'],
    [`${traces}/ABC`, '/path/trace_id'],
    [`${sessions}?limit=51`, '/query/limit'],
    [`${sessions}?user_id=kim`, '/query/user_id'],
    [`${sessions}?created_at__gte=yesterday`, '/query/created_at__gte'],
  ])('%s', async (path, pointer) => {
    expectProblem(await hub.call('acme', 'GET', path), 'validation-failed', pointer)
  })

  test('what another tenant has, and what nobody has', async () => {
    for (const path of [sessionPath('secret'), `${traces}/${'b'.repeat(32)}`, sessionPath(unknownId)]) {
      expectProblem(await hub.call('acme', 'GET', path), 'not-found')
    }
    const { next_cursor } = await get(sessionPath(chat, '?limit=1'))
    const answer = await hub.call('cmode', 'GET', sessionPath(chat, `?limit=1&cursor=${next_cursor}`))
    expectProblem(answer, 'invalid-cursor')
  })

  test('without token or scope', async () => {
    const lacking = ['hub:write', 'governance:read'] as const
    for (const path of [sessionPath(chat), sessions, `${traces}/${traceId}`]) {
      await expectGuarded(hub, 'GET', path, { lacking })
    }
    expect((await get(sessions, 'acme', { scopes: ['telemetry:read'] })).items.length).toBeGreaterThan(1)
  })
})
