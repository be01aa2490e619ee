import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'

/** Content, as a careless program of the customer would send it. */
const marker = 'the-secret-recipe'

const records = '/api/v1/hub/records'
const events = '/api/v1/telemetry/events'
const packs = '/api/v1/skill-entitlement/coworks'
const skill = { record_type: 'skill_definition', skill_id: 'sum-up', skill_version: '1.0.0', name: 'Sum up' }
const decision = {
  record_type: 'decision',
  decision_id: 'd-1',
  decision_subject: marker,
  decision_outcome: marker,
  decision_rationale: marker,
  decision_actor_role: 'lead',
}
const packSkill = { skill_id: 'sum-up', skill_version: '1.0.0', name: 'Sum up' }
const pack = (more: object) => ({ name: 'Pack', skills: [{ ...packSkill, ...more }], archetype_ids: [] })

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  const archetypes = { archetypes: [{ archetype_id: 'analyst' }] }
  expect((await hub.call('cmode', 'PUT', '/api/v1/roster/archetypes', { body: archetypes })).status).toBe(200)
  expect((await hub.call('cmode', 'POST', records, { body: skill })).status).toBe(201)
})
afterAll(() => hub.stop())

test.each<[string, string, string, object, string[]]>([
  ['an output', 'POST', records, { record_type: 'output', skill_id: 'sum-up', content: marker }, ['/record_type']],
  ['an artifact', 'POST', records, { record_type: 'artifact', title: marker }, ['/record_type']],
  ['a decision', 'POST', records, decision, ['/record_type']],
  [
    'what a skill is and does',
    'POST',
    records,
    { ...skill, skill_version: '1.0.1', description: marker, manifest: { prompt: marker } },
    ['/description', '/manifest'],
  ],
  [
    'details of an event of the client',
    'POST',
    records,
    { record_type: 'governance_event', event_kind: 'custom.noted', details: { text: marker } },
    ['/details'],
  ],
  ['metadata of an event', 'POST', events, event({ metadata: { text: marker } }), ['/metadata']],
  [
    'a total that a platform reported',
    'POST',
    events,
    event({ tokens_total_reported: 1200 }),
    ['/tokens_total_reported'],
  ],
  ['a field of the sender’s own', 'POST', events, event({ prompt: marker }), ['/prompt']],
  [
    'one such event among others',
    'POST',
    `${events}:batch`,
    { events: [event(), event({ completion: marker })] },
    ['/events/1/completion'],
  ],
  ['a member beside the events', 'POST', `${events}:batch`, { events: [event()], note: marker }, ['/note']],
  ['a description in a pack', 'PUT', `${packs}/p1`, pack({ description: marker }), ['/skills/0/description']],
  ['a manifest in a pack', 'PUT', `${packs}/p1`, pack({ manifest: { prompt: marker } }), ['/skills/0/manifest']],
])('%s is refused', async (_, method, path, body, pointers) => {
  const answer = await hub.call('cmode', method, path, { body })
  expect(answer.status).toBe(400)
  expect(answer.body.type).toMatch(/\/errors\/content-not-allowed$/)
  expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toEqual(pointers)
  // The same is taken in Mode A, or refused for another reason: it is the mode that this is about.
  const elsewhere = await hub.call('acme', method, path, { body })
  expect(elsewhere.body.type ?? '').not.toMatch(/content-not-allowed$/)
})

test('nothing of what was refused is anywhere in the database or the log', async () => {
  // In another tenant that may write it, to see that the search finds it.
  const body = { record_type: 'artifact', title: `${marker}-of-acme` }
  expect((await hub.call('acme', 'POST', records, { body })).status).toBe(201)
  const client = await hub.superuserClient()
  const { rows: tables } = await client.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  )
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await client.query<{ row: string }>(`select t::text as row from ${name} t where t::text like $1`, [
      `%${marker}%`,
    ])
    found.push(...rows.map(({ row }) => row))
  }
  expect(found.length).toBeGreaterThan(0)
  expect(found.filter((row) => row.includes('cmode'))).toEqual([])
  expect(hub.logLines.filter((line) => line.includes(marker))).toEqual([])
})

test('envelopes are taken, and a repeated key gives the first answer', async () => {
  const headers = { 'idempotency-key': 'c-1' }
  const first = await hub.call('cmode', 'POST', events, { body: event(), headers })
  const again = await hub.call('cmode', 'POST', events, { body: event(), headers })
  expect([first.status, again.status, again.headers['idempotent-replayed']]).toEqual([201, 201, 'true'])
  expect(again.body).toEqual(first.body)
  const batch = { body: { events: [event(), event()] }, headers: { 'idempotency-key': 'c-2' } }
  const whole = await hub.call('cmode', 'POST', `${events}:batch`, batch)
  expect((await hub.call('cmode', 'POST', `${events}:batch`, batch)).body).toEqual(whole.body)
  const other = await hub.call('cmode', 'POST', events, { body: event({ latency_ms: 7 }), headers })
  expect([other.status, other.body.type.split('/').at(-1)]).toEqual([409, 'idempotency-conflict'])
  // A refused request has used up nothing.
  const refused = { body: event({ metadata: { a: 1 } }), headers: { 'idempotency-key': 'c-3' } }
  expect((await hub.call('cmode', 'POST', events, refused)).status).toBe(400)
  const mended = { ...refused, body: event() }
  expect((await hub.call('cmode', 'POST', events, mended)).status).toBe(201)
})

test('skills and events of the client are taken as envelopes', async () => {
  const version = { ...skill, skill_version: '1.1.0', owner: 'team-a' }
  expect((await hub.call('cmode', 'POST', records, { body: version })).status).toBe(201)
  const noted = { record_type: 'governance_event', event_kind: 'custom.noted', subject: 'review:1' }
  expect((await hub.call('cmode', 'POST', records, { body: noted })).status).toBe(201)
  const stored = await hub.call('cmode', 'PUT', `${packs}/p1`, { body: pack({}) })
  expect(stored.status).toBe(200)
})

test('a purge leaves its reason, and nothing that the record did not have', async () => {
  const { body } = await hub.call('cmode', 'POST', events, { body: event() })
  const purged = await hub.call('cmode', 'DELETE', `${records}/${body.record_id}?reason=mistake`)
  expect(purged.status).toBe(200)
  const query = `${records}?record_type=governance_event&event_kind=hub.record_purged`
  const found = await hub.call('cmode', 'GET', query)
  expect(found.body.records[0].details).toMatchObject({ reason: 'mistake' })
  expect(JSON.stringify(found.body.records[0].details)).not.toContain('user:kim')
})
