import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CallOptions, startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { decision, expectProblem, unknownId, write } from './record-cases.ts'
import { prepareTelemetry, registerSkill, telemetryIds } from './telemetry-tenants.ts'

const path = '/api/v1/telemetry/events'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme', 'globex', 'cmode')
})
afterAll(() => hub.stop())

const send = (body: unknown, options: CallOptions & { tenant?: TestTenant } = {}) =>
  hub.call(options.tenant ?? 'acme', 'POST', path, { body, ...options })

const withKey = (key: string) => ({ headers: { 'idempotency-key': key } })

test('201 with hash, cosignature and Location; readable and verified at once', async () => {
  const answer = await send(event({ ts: '2026-01-05T11:30:00.5+02:00', tokens_total_reported: 1201 }))
  expect(answer.status).toBe(201)
  expect(Object.keys(answer.body).sort()).toEqual(['provenance_cosign', 'provenance_hash', 'record_id'])
  expect(answer.headers.location).toBe(`/api/v1/hub/records/${answer.body.record_id}`)
  expect(answer.headers['idempotent-replayed']).toBeUndefined()

  const record = await hub.call('acme', 'GET', `${answer.headers.location}?verify=true`)
  expect(record.status).toBe(200)
  expect(record.body).toMatchObject({
    ...event({ ts: '2026-01-05T09:30:00.500000Z', tokens_total_reported: 1201 }),
    ...answer.body,
    record_type: 'telemetry_event',
    tenant_id: 'acme',
    created_by: await hub.clientId('acme'),
    schema_version: '1.0',
    related_records: [],
    is_purged: false,
    cost_usd_computed: 0.0005,
    price_source: expect.stringContaining(':anthropic/claude-3-haiku'),
    verification: { verified: true },
  })
})

test('is found by the fields it is searched by', async () => {
  const { body } = await send(event({ user_id: 'user:found@example.com', cost_usd_estimate: 77.5 }))
  for (const query of ['user_id=user:found@example.com', 'skill_id=sum-up&user_id=user:found@example.com']) {
    const page = await hub.call('acme', 'GET', `/api/v1/hub/records?record_type=telemetry_event&${query}`)
    expect(page.body.records.map((record: { record_id: string }) => record.record_id)).toEqual([body.record_id])
  }
  const dearest = await hub.call('acme', 'GET', '/api/v1/hub/records?sort=-cost_usd_estimate&limit=1')
  expect(dearest.body.records[0].record_id).toBe(body.record_id)
})

const trace = {
  trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
  span_id: '00f067aa0ba902b7',
  parent_span_id: '53995c3f42cd8ad8',
  session_id: 'chat 8812, “Öl”',
}

test.each(['acme', 'cmode'] as const)('%s: is found by its trace and its session, by pages', async (tenant) => {
  const { body } = await send(event(trace), { tenant })
  const again = await send(event({ ...trace, span_id: 'aa'.repeat(8) }), { tenant })
  await send(event({ session_id: 'another' }), { tenant })
  const find = async (query: string) => (await hub.call(tenant, 'GET', `/api/v1/hub/records?${query}`)).body
  for (const query of [`trace_id=${trace.trace_id}`, `session_id=${encodeURIComponent(trace.session_id)}`]) {
    const first = await find(`limit=1&${query}`)
    expect(first.records).toEqual([expect.objectContaining({ ...trace, record_id: body.record_id })])
    expect((await find(`verify=true&${query}`)).verification_summary).toMatchObject({ checked: 2, verified: 2 })
    const rest = await find(`limit=1&${query}&cursor=${first.next_cursor}`)
    expect(rest.records.map((record: { record_id: string }) => record.record_id)).toEqual([again.body.record_id])
    expect(rest.next_cursor).toBeNull()
    expect((await find(`record_type=output&${query}`)).records).toEqual([])
  }
  expect((await find('session_id=none')).records).toEqual([])
})

describe('400', () => {
  test.each([
    [{ trace_id: trace.trace_id.toUpperCase(), span_id: 'x' }, ['/span_id', '/trace_id']],
    [{ parent_span_id: null, session_id: '' }, ['/parent_span_id', '/session_id']],
    [{ session_id: 'x'.repeat(129) }, ['/session_id']],
    [{ latency_ms: 0 }, ['/latency_ms']],
    [{ latency_ms: 600_000, tokens_in: -1 }, ['/latency_ms', '/tokens_in']],
    [{ success: false }, ['/error_code']],
    [{ ts: '9999-01-01T00:00:00Z' }, ['/ts']],
    [{ tokens_total_reported: 1225 }, ['/tokens_total_reported']],
    [{ metadata: { a: { b: 1 } } }, ['/metadata/a']],
    [{ archetype_id: 'unknown' }, ['/archetype_id']],
    [{ archetype_id: 'unknown', skill_id: 'unknown' }, ['/archetype_id']],
    [{ tenant_id: 'acme' }, ['/tenant_id']],
    [{ related_records: null }, ['/related_records']],
    [{ related_records: ['x', unknownId], latency_ms: 0 }, ['/latency_ms', '/related_records/0']],
    [{ related_records: [unknownId, unknownId.toUpperCase()] }, ['/related_records/1']],
    [{ related_records: Array(101).fill(unknownId) }, ['/related_records']],
    [{ related_records: Array(1500).fill('x') }, ['/related_records']],
    [{ related_records: [unknownId], archetype_id: 'unknown' }, ['/archetype_id']],
    [{ skill_id: undefined, skill_version: 'one' }, ['/skill_id', '/skill_version']],
  ])('%j', async (changes, pointers) => {
    const answer = await send(event(changes))
    expect(answer.status).toBe(400)
    expect(answer.body.type).toMatch(/\/errors\/validation-failed$/)
    expect(answer.body.errors.map((error: { pointer: string }) => error.pointer).sort()).toEqual([...pointers].sort())
  })

  test.each([['null'], ['[]'], ['"text"'], ['7']])('a body that is %s', async (body) => {
    const answer = await send(body)
    expect(answer.status).toBe(400)
    expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toEqual([''])
  })

  test('no body', async () => {
    const answer = await hub.call('acme', 'POST', path)
    expect(answer.status).toBe(400)
    expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toEqual([''])
  })

  test('what is not JSON, or not only one thing', async () => {
    const text = JSON.stringify(event())
    for (const body of [text.slice(1), text.replace('{', '{"ts":"2026-01-01T00:00:00Z",')]) {
      const answer = await send(body)
      expect(answer.status).toBe(400)
      expect(answer.body.type).toMatch(/\/errors\/malformed-json$/)
    }
  })

  test('more values than an event has', async () => {
    const metadata = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [at.toString(36), 1]))
    const answer = await send(event({ metadata }))
    expect([answer.status, answer.body.type]).toEqual([413, expect.stringMatching(/\/errors\/payload-too-large$/)])
  })

  test('an Idempotency-Key that is none', async () => {
    for (const key of ['', 'a b', 'x'.repeat(256)]) {
      const answer = await send(event(), withKey(key))
      expect(answer.status).toBe(400)
      expect(answer.body.errors).toEqual([{ pointer: '/headers/idempotency-key', detail: expect.any(String) }])
    }
  })

  test('an unknown query parameter', async () => {
    const answer = await hub.call('acme', 'POST', `${path}?verify=true`, { body: event() })
    expect(answer.body.errors[0].pointer).toBe('/query/verify')
  })

  test('nothing of it was stored', async () => {
    const before = await telemetryIds(hub, 'acme')
    await send(event({ latency_ms: -1 }))
    expect(await telemetryIds(hub, 'acme')).toEqual(before)
  })
})

describe('related records', () => {
  const related = (id: string, direction: string) =>
    hub.call('acme', 'GET', `/api/v1/hub/records/${id}/related?direction=${direction}`)

  test('are links from both ends, and part of the canonical bytes', async () => {
    const ids = await Promise.all([write(hub, 'acme', decision), write(hub, 'acme', decision)])
    const named = [ids[0].toUpperCase(), ids[1]]
    const { body: receipt } = await send(event({ related_records: named, error_code: null }))
    const { body: read } = await hub.call('acme', 'GET', `/api/v1/hub/records/${receipt.record_id}?verify=true`)
    expect(read).toMatchObject({ ...event(), ...receipt, related_records: ids, verification: { verified: true } })
    expect(read).not.toHaveProperty('error_code')
    const edges = ids.map((to) => ({ from: receipt.record_id, to }))
    const out = (await related(receipt.record_id, 'out')).body
    expect(out.edges).toEqual(expect.arrayContaining(edges))
    expect(out.records).toHaveLength(3)
    expect((await related(ids[0], 'in')).body).toMatchObject({
      records: [{ record_id: ids[0] }, { record_id: receipt.record_id, related_records: ids }],
      edges: [edges[0]],
    })
    const superuser = await hub.superuserClient()
    await superuser.query('delete from hub.record_links where from_id = $1 and to_id = $2', [receipt.record_id, ids[1]])
    const { body: altered } = await hub.call('acme', 'POST', `/api/v1/hub/records/${receipt.record_id}/verify`)
    expect(altered.checks.provenance_hash_matches).toBe(false)
  })

  test('may be none, an event, and a hundred', async () => {
    const first = await send(event({ related_records: [] }))
    expect(first.status).toBe(201)
    expect((await send(event({ related_records: [first.body.record_id] }))).status).toBe(201)
    const many = await Promise.all(Array.from({ length: 100 }, () => write(hub, 'acme', decision)))
    const { body } = await send(event({ related_records: many, success: false, error_code: 'timeout' }))
    expect((await related(body.record_id, 'out')).body.records).toHaveLength(101)
    const page = await hub.call('acme', 'GET', `/api/v1/hub/records?record_id=${body.record_id}&verify=true`)
    expect(page.body).toMatchObject({
      records: [{ related_records: many, error_code: 'timeout' }],
      verification_summary: { checked: 1, verified: 1 },
    })
  })

  test('of another tenant, unknown or erased are 400, each by its place', async () => {
    const [own, foreign] = [await write(hub, 'acme', decision), await write(hub, 'globex', decision)]
    const refused = await send(event({ related_records: [foreign, own, unknownId] }), withKey('related'))
    expectProblem(refused, 'validation-failed', '/related_records/0', '/related_records/2')
    const before = await telemetryIds(hub, 'acme')
    await hub.call('acme', 'DELETE', `/api/v1/hub/records/${own}?reason=x`)
    expect((await send(event({ related_records: [own] }), withKey('related'))).status).toBe(201)
    const superuser = await hub.superuserClient()
    await superuser.query('update hub.record_states set hard_delete_after = now() where record_id = $1', [own])
    expectProblem(await send(event({ related_records: [own] })), 'validation-failed', '/related_records/0')
    expect(await telemetryIds(hub, 'acme')).toHaveLength(before.length + 1)
  })

  test('the same request gets the first answer, another list 409', async () => {
    const id = await write(hub, 'acme', decision)
    const first = await send(event({ related_records: [id] }), withKey('linked'))
    const again = await send(event({ related_records: [id] }), withKey('linked'))
    expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true'])
    expect((await send(event(), withKey('linked'))).status).toBe(409)
  })
})

describe('skills', () => {
  test('422 for one that is not registered, and 201 as soon as it is', async () => {
    const body = event({ skill_id: 'brand-new' })
    const refused = await send(body, withKey('brand-new'))
    expect(refused.status).toBe(422)
    expect(refused.body).toMatchObject({
      type: expect.stringMatching(/\/errors\/skill-not-registered$/),
      errors: [{ pointer: '/skill_id' }],
    })
    await registerSkill(hub, 'acme', 'brand-new')
    expect((await send(body, withKey('brand-new'))).status).toBe(201)
  })

  test('draft, published and deprecated take telemetry, retired does not', async () => {
    await registerSkill(hub, 'acme', 'ageing')
    const statuses = [(await send(event({ skill_id: 'ageing' }))).status]
    for (const state of ['published', 'deprecated', 'retired']) {
      const moved = await hub.call('acme', 'POST', '/api/v1/skill-entitlement/skills/ageing:transition', {
        body: { state },
      })
      expect(moved.status).toBe(200)
      statuses.push((await send(event({ skill_id: 'ageing' }))).status)
    }
    expect(statuses).toEqual([201, 201, 201, 422])
  })
})

describe('Mode C', () => {
  test('takes the envelope', async () => {
    const answer = await send(event({ error_code: null }), { tenant: 'cmode' })
    expect(answer.status).toBe(201)
    const { body } = await hub.call('cmode', 'GET', `${answer.headers.location}?verify=true`)
    expect(body).toMatchObject({ ...event(), verification: { verified: true } })
  })

  test('takes related records: ids are no content', async () => {
    const first = await send(event(), { tenant: 'cmode' })
    const changes = { related_records: [first.body.record_id] }
    const answer = await send(event(changes), { tenant: 'cmode' })
    const { body } = await hub.call('cmode', 'GET', `${answer.headers.location}?verify=true`)
    expect(body).toMatchObject({ ...changes, verification: { verified: true } })
    const content = await send(event({ related_records: ['Dear customer'] }), { tenant: 'cmode' })
    expectProblem(content, 'validation-failed', '/related_records/0')
    expect(content.text).not.toContain('Dear customer')
  })

  test.each([
    [{ metadata: {} }, ['/metadata']],
    [{ tokens_total_reported: 1200 }, ['/tokens_total_reported']],
    [{ prompt: 'Dear customer', completion: 'Yes' }, ['/prompt', '/completion']],
    [{ tenant_id: 'cmode', latency_ms: 0 }, ['/tenant_id']],
  ])('refuses %j', async (changes, pointers) => {
    const answer = await send(event(changes), { tenant: 'cmode' })
    expect(answer.status).toBe(400)
    expect(answer.body.type).toMatch(/\/errors\/content-not-allowed$/)
    expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toEqual(pointers)
    expect(answer.text).not.toContain('Dear customer')
  })
})

describe('Idempotency-Key', () => {
  test('the same request gets the first answer', async () => {
    const before = (await telemetryIds(hub, 'acme')).length
    const first = await send(event(), withKey('same'))
    // Other bytes, same JSON.
    const again = await send(
      JSON.stringify(Object.fromEntries(Object.entries(event()).reverse()), null, 2),
      withKey('same'),
    )
    expect(again.status).toBe(201)
    expect(again.body).toEqual(first.body)
    expect(again.headers.location).toBe(first.headers.location)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect((await telemetryIds(hub, 'acme')).length).toBe(before + 1)
  })

  test('20 at once make one record and one answer', async () => {
    const before = (await telemetryIds(hub, 'acme')).length
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(event(), withKey('at-once'))))
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1)
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201]))
    expect(answers.filter((answer) => answer.headers['idempotent-replayed'] === 'true')).toHaveLength(19)
    expect((await telemetryIds(hub, 'acme')).length).toBe(before + 1)
  })

  test('another payload or path gets 409', async () => {
    await send(event(), withKey('taken'))
    const other = await send(event({ latency_ms: 1201 }), withKey('taken'))
    expect(other.status).toBe(409)
    expect(other.body.type).toMatch(/\/errors\/idempotency-conflict$/)
    const batch = await hub.call('acme', 'POST', `${path}:batch`, { body: { events: [event()] }, ...withKey('taken') })
    expect(batch.status).toBe(409)
  })

  test('keys of two tenants are independent', async () => {
    const ours = await send(event(), withKey('shared'))
    const theirs = await send(event({ latency_ms: 5 }), { tenant: 'globex', ...withKey('shared') })
    expect(theirs.status).toBe(201)
    expect(theirs.headers['idempotent-replayed']).toBeUndefined()
    expect(theirs.body.record_id).not.toBe(ours.body.record_id)
    const again = await send(event({ latency_ms: 5 }), { tenant: 'globex', ...withKey('shared') })
    expect(again.body).toEqual(theirs.body)
  })

  test('an answer that refused is not kept', async () => {
    expect((await send(event({ latency_ms: 0 }), withKey('refused'))).status).toBe(400)
    expect((await send(event(), withKey('refused'))).status).toBe(201)
  })

  test('after 24 hours the key is free', async () => {
    const first = await send(event(), withKey('old'))
    const superuser = await hub.superuserClient()
    const age = (interval: string) =>
      superuser.query(
        `update hub.idempotency_keys set created_at = now() - $1::interval
         where tenant_id = 'acme' and answer->>'record_id' = $2`,
        [interval, first.body.record_id],
      )
    expect((await age('23 hours 59 minutes')).rowCount).toBe(1)
    expect((await send(event(), withKey('old'))).body).toEqual(first.body)
    await age('24 hours 1 minute')
    const later = await send(event({ latency_ms: 7 }), withKey('old'))
    expect(later.status).toBe(201)
    expect(later.body.record_id).not.toBe(first.body.record_id)
  })
})

describe('who may', () => {
  test('401 without a token', async () => {
    expect((await send(event(), { token: null })).status).toBe(401)
  })

  test('403 without telemetry:write', async () => {
    const answer = await send(event(), { scopes: ['telemetry:read', 'hub:write'] })
    expect(answer.status).toBe(403)
    expect(answer.body).toMatchObject({
      type: expect.stringMatching(/\/errors\/insufficient-scope$/),
      required_scopes: expect.anything(),
    })
    expect((await send(event(), { scopes: ['telemetry:write'] })).status).toBe(201)
  })

  test('403 with the token of another tenant, and nothing is stored in either', async () => {
    const before = [await telemetryIds(hub, 'acme'), await telemetryIds(hub, 'globex')]
    const answer = await send(event(), { tenant: 'acme', token: await hub.token('globex') })
    expect(answer.status).toBe(403)
    expect(answer.body.type).toMatch(/\/errors\/invalid-tenant$/)
    expect([await telemetryIds(hub, 'acme'), await telemetryIds(hub, 'globex')]).toEqual(before)
  })

  test('archetypes and skills of another tenant do not count', async () => {
    await registerSkill(hub, 'globex', 'globex-only')
    expect((await send(event({ skill_id: 'globex-only' }))).status).toBe(422)
  })
})

test('tenant.live is written on the first event, once', async () => {
  await send(event())
  await send(event())
  const page = await hub.call('acme', 'GET', '/api/v1/hub/records?record_type=governance_event&event_kind=tenant.live')
  expect(page.body.records).toHaveLength(1)
  expect(page.body.records[0]).toMatchObject({ created_by: 'service:hub', subject: 'tenant:acme' })
})

test('a gzip-encoded body is taken', async () => {
  const answer = await send(gzipSync(JSON.stringify(event())), { headers: { 'content-encoding': 'gzip' } })
  expect(answer.status).toBe(201)
})
