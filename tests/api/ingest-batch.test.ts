import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CallOptions, startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { decision, unknownId, write } from './record-cases.ts'
import { prepareTelemetry, registerSkill, telemetryIds } from './telemetry-tenants.ts'

const path = '/api/v1/telemetry/events:batch'

const statements: string[] = []
let hub: TestHub
beforeAll(async () => {
  hub = await startHub({ onQuery: (text) => void statements.push(text) })
  await prepareTelemetry(hub, 'acme', 'globex', 'cmode')
})
afterAll(() => hub.stop())

const send = (body: unknown, options: CallOptions & { tenant?: TestTenant } = {}) =>
  hub.call(options.tenant ?? 'acme', 'POST', path, { body, ...options })

const withKey = (key: string) => ({ headers: { 'idempotency-key': key } })
const pointersOf = (answer: { body: { errors: { pointer: string }[] } }) =>
  answer.body.errors.map((error) => error.pointer)

interface Item {
  index: number
  record_id: string
  provenance_hash: string
  provenance_cosign: string
}

test('1,000 events: stored in order, sealed, verified', async () => {
  const before = await telemetryIds(hub, 'acme')
  const events = Array.from({ length: 1000 }, (_, at) => event({ latency_ms: at + 1 }))
  const answer = await send({ events })
  expect(answer.status).toBe(201)
  expect(answer.headers.location).toBeUndefined()
  expect(Object.keys(answer.body).sort()).toEqual(['accepted', 'failed', 'records'])
  expect(answer.body).toMatchObject({ accepted: 1000, failed: 0 })
  const items: Item[] = answer.body.records
  expect(items.map((item) => item.index)).toEqual(events.map((_, at) => at))
  expect(await telemetryIds(hub, 'acme')).toEqual([...before, ...items.map((item) => item.record_id)])

  for (const at of [0, 63, 64, 999]) {
    const { index, ...receipt } = items[at]!
    const record = await hub.call('acme', 'GET', `/api/v1/hub/records/${receipt.record_id}?verify=true`)
    expect(record.body).toMatchObject({ ...receipt, latency_ms: index + 1, verification: { verified: true } })
  }
  const page = await hub.call('acme', 'GET', '/api/v1/hub/records?record_type=telemetry_event&limit=1000&verify=true')
  expect(page.body.verification_summary).toEqual({ checked: 1000, verified: 1000, tampered: 0, cosign_invalid: 0 })
})

test('each event stands alone', async () => {
  const before = (await telemetryIds(hub, 'acme')).length
  const answer = await send({
    events: [
      event(),
      event({ latency_ms: 0 }),
      event({ skill_id: 'unknown' }),
      event(),
      event({ archetype_id: 'unknown', skill_id: 'unknown' }),
      'not an event',
      event({ tenant_id: 'acme', success: false }),
      event(),
    ],
  })
  expect(answer.status).toBe(201)
  expect(answer.body).toMatchObject({ accepted: 3, failed: 5 })
  expect(answer.body.records.map((item: Item) => item.index)).toEqual([0, 3, 7])
  const problem = (slug: string) => `${hub.baseUrl}/errors/${slug}`
  expect(answer.body.errors).toEqual([
    {
      index: 1,
      type: problem('validation-failed'),
      title: 'Validation failed',
      status: 400,
      detail: expect.stringMatching(/^\/events\/1\/latency_ms must be /),
      pointer: '/events/1/latency_ms',
    },
    {
      index: 2,
      type: problem('skill-not-registered'),
      title: 'Skill not registered',
      status: 422,
      detail: expect.stringContaining('/events/2/skill_id'),
      pointer: '/events/2/skill_id',
    },
    expect.objectContaining({ index: 4, status: 400, pointer: '/events/4/archetype_id' }),
    expect.objectContaining({ index: 5, status: 400, pointer: '/events/5' }),
    expect.objectContaining({
      index: 6,
      status: 400,
      detail: expect.stringMatching(/\/events\/6\/tenant_id .*\/events\/6\/error_code /),
    }),
  ])
  expect((await telemetryIds(hub, 'acme')).length).toBe(before + 3)
})

test('the errors of an answer are the first hundred, and the others are counted', async () => {
  const faulty = Array.from({ length: 130 }, (_, at) => event({ latency_ms: 0, tokens_in: at }))
  const body = { events: [event(), ...faulty, event()] }
  const answer = await send(body, withKey('many-errors'))
  expect(answer.body).toMatchObject({ accepted: 2, failed: 130, errors_omitted: 30 })
  expect(answer.body.errors.map((error: { index: number }) => error.index)).toEqual(
    Array.from({ length: 100 }, (_, at) => at + 1),
  )
  expect((await send(body, withKey('many-errors'))).body).toEqual(answer.body)
  const hundred = await send({ events: faulty.slice(0, 100) })
  expect([hundred.body.errors.length, 'errors_omitted' in hundred.body]).toEqual([100, false])
})

describe('related records', () => {
  const linkStatements = () =>
    statements.filter((text) => /record_links|^\s*select r\.record_id from hub\.records/.test(text)).length

  test('cost a batch without them no statement, and one with them a look-up and an insert', async () => {
    const ids = await Promise.all(Array.from({ length: 3 }, () => write(hub, 'acme', decision)))
    statements.length = 0
    expect((await send({ events: Array.from({ length: 50 }, () => event({ related_records: [] })) })).status).toBe(201)
    expect(linkStatements()).toBe(0)
    const answer = await send({ events: Array.from({ length: 50 }, () => event({ related_records: ids })) })
    expect(answer.body.accepted).toBe(50)
    expect(linkStatements()).toBe(2)
    const page = await hub.call('acme', 'GET', '/api/v1/hub/records?record_type=telemetry_event&limit=1000&verify=true')
    expect(page.body.verification_summary).toMatchObject({ tampered: 0, cosign_invalid: 0 })
    const last: Item = answer.body.records[49]
    const { body: related } = await hub.call('acme', 'GET', `/api/v1/hub/records/${last.record_id}/related`)
    expect(related.edges).toHaveLength(3)
    const { body: naming } = await hub.call('acme', 'GET', `/api/v1/hub/records/${ids[0]}/related?direction=in`)
    expect(naming.records).toHaveLength(51)
  })

  test('that are wrong refuse their event alone, also when it is repeated after they exist', async () => {
    const own = await write(hub, 'acme', decision)
    const foreign = await write(hub, 'globex', decision)
    const body = {
      events: [
        event({ related_records: [own, foreign] }),
        event({ related_records: [own] }),
        event({ related_records: [own, own.toUpperCase()] }),
        event({ related_records: Array(101).fill(own) }),
        event({ related_records: [unknownId, own, unknownId.replace('019a', '019b')] }),
        event(),
      ],
    }
    const first = await send(body, withKey('related'))
    expect(first.body).toMatchObject({ accepted: 2, failed: 4 })
    expect(pointersOf(first)).toEqual([
      '/events/0/related_records/1',
      '/events/2/related_records/1',
      '/events/3/related_records',
      '/events/4/related_records/0',
    ])
    expect(first.body.errors[3].detail).toContain('/events/4/related_records/2 ')
    await hub.call('acme', 'DELETE', `/api/v1/hub/records/${own}?reason=x`)
    const superuser = await hub.superuserClient()
    await superuser.query('update hub.record_states set hard_delete_after = now() where record_id = $1', [own])
    expect((await send(body, withKey('related'))).text).toBe(first.text)
  })
})

test('none accepted is 201 too: the envelope is valid', async () => {
  const answer = await send({ events: [event({ success: 'yes' })] })
  expect(answer.status).toBe(201)
  expect(answer.body).toMatchObject({ accepted: 0, failed: 1, records: [], errors: [{ index: 0 }] })
})

describe('an envelope that is not valid', () => {
  test.each([
    ['{}', ['/events']],
    ['{"events":[]}', ['/events']],
    ['{"events":{}}', ['/events']],
    ['{"events":null}', ['/events']],
    ['{"events":[],"tenant_id":"acme"}', ['/events', '/tenant_id']],
    ['{"events":[1],"note":"x"}', ['/note']],
    ['[]', ['']],
    ['null', ['']],
  ])('%s', async (body, pointers) => {
    const answer = await send(body)
    expect(answer.status).toBe(400)
    expect(answer.body.type).toMatch(/\/errors\/validation-failed$/)
    expect(pointersOf(answer)).toEqual(pointers)
  })

  test('413 for 1,001 events, and none of them is stored', async () => {
    const before = await telemetryIds(hub, 'acme')
    const answer = await send({ events: Array.from({ length: 1001 }, () => event()) })
    expect(answer.status).toBe(413)
    expect(answer.body.type).toMatch(/\/errors\/batch-too-large$/)
    expect(await telemetryIds(hub, 'acme')).toEqual(before)
  })

  test('413 for more than 16 MiB, plain and inflated', async () => {
    const tooLarge = JSON.stringify({ events: [event({ metadata: { text: 'x'.repeat(16 * 1024 * 1024) } })] })
    for (const options of [{ body: tooLarge }, { body: gzipSync(tooLarge), headers: { 'content-encoding': 'gzip' } }]) {
      const answer = await send(options.body, options)
      expect(answer.status).toBe(413)
      expect(answer.body.type).toMatch(/\/errors\/payload-too-large$/)
    }
  })
})

describe('a batch that costs more than it has bytes', () => {
  const gzipped = (text: string) => send(gzipSync(text), { headers: { 'content-encoding': 'gzip' } })
  const inflatedTo = (text: string) => Buffer.byteLength(text) / 1024 / 1024

  test('1.5 million members, with a key or without one', async () => {
    const members = Array.from({ length: 1500 }, (_, at) => `"${at}":0`).join(',')
    const text = `{"events":[${Array.from({ length: 1000 }, () => `{${members}}`).join(',')}]}`
    for (const headers of [{}, { 'idempotency-key': 'members' }]) {
      const answer = await send(gzipSync(text), { headers: { 'content-encoding': 'gzip', ...headers } })
      expect([answer.status, answer.body.type]).toEqual([413, `${hub.baseUrl}/errors/payload-too-large`])
      expect(answer.body.detail).toContain('200000 JSON values')
    }
  })

  test('5 million empty arrays in 16 KB', async () => {
    const text = `{"events":[${'[],'.repeat(5_300_000)}[]]}`
    expect(inflatedTo(text)).toBeLessThan(16)
    expect(gzipSync(text).length).toBeLessThan(20_000)
    expect((await gzipped(text)).status).toBe(413)
  })

  test('one event with more values than any event has, named by its place', async () => {
    const metadata = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [at.toString(36), 1]))
    const answer = await send({ events: [event(), event({ metadata })] })
    expect([answer.status, pointersOf(answer)]).toEqual([413, ['/events/1']])
    expect(answer.body.detail).toContain('2000 JSON values')
  })

  test('but 1,000 events with 180 members of metadata each are taken', async () => {
    const metadata = Object.fromEntries(Array.from({ length: 180 }, (_, at) => [`m${at}`, at]))
    const answer = await send({ events: Array.from({ length: 1000 }, () => event({ metadata })) }, withKey('metadata'))
    expect([answer.status, answer.body.accepted]).toEqual([201, 1000])
  })
})

test('a gzip-encoded batch larger than a record may be is taken', async () => {
  const events = Array.from({ length: 300 }, () => event({ metadata: { text: 'x'.repeat(8000) } }))
  const answer = await send(gzipSync(JSON.stringify({ events })), { headers: { 'content-encoding': 'gzip' } })
  expect(answer.status).toBe(201)
  expect(answer.body.accepted).toBe(300)
})

describe('Mode C', () => {
  test('takes envelopes', async () => {
    const answer = await send({ events: [event(), event({ latency_ms: 0 })] }, { tenant: 'cmode' })
    expect(answer.body).toMatchObject({ accepted: 1, failed: 1 })
  })

  test('content anywhere refuses the whole request', async () => {
    const before = await telemetryIds(hub, 'cmode')
    const answer = await send(
      { events: [event(), event({ metadata: { a: 1 } }), event({ prompt: 'Dear customer' })], note: 'x' },
      { tenant: 'cmode' },
    )
    expect(answer.status).toBe(400)
    expect(answer.body.type).toMatch(/\/errors\/content-not-allowed$/)
    expect(pointersOf(answer)).toEqual(['/note', '/events/1/metadata', '/events/2/prompt'])
    expect(await telemetryIds(hub, 'cmode')).toEqual(before)
  })
})

describe('Idempotency-Key', () => {
  const body = { events: [event(), event({ skill_id: 'comes-later' }), event({ latency_ms: 0 }), event()] }

  test('a replay gives the first answer, errors included, whatever has changed since', async () => {
    const first = await send(body, withKey('partial'))
    expect(first.body).toMatchObject({ accepted: 2, failed: 2 })
    const before = await telemetryIds(hub, 'acme')
    await registerSkill(hub, 'acme', 'comes-later')
    const again = await send(body, withKey('partial'))
    expect(again.status).toBe(201)
    expect(again.text).toBe(first.text)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(await telemetryIds(hub, 'acme')).toEqual(before)
  })

  test('20 at once make one batch and one answer', async () => {
    const before = (await telemetryIds(hub, 'acme')).length
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(body, withKey('at-once'))))
    expect(new Set(answers.map((answer) => `${answer.status} ${answer.text}`)).size).toBe(1)
    expect(answers.filter((answer) => answer.headers['idempotent-replayed'] === 'true')).toHaveLength(19)
    expect((await telemetryIds(hub, 'acme')).length).toBe(before + 3)
  })

  test('another payload gets 409', async () => {
    await send({ events: [event()] }, withKey('taken'))
    const other = await send({ events: [event(), event()] }, withKey('taken'))
    expect(other.status).toBe(409)
    expect(other.body.type).toMatch(/\/errors\/idempotency-conflict$/)
  })

  test('keys of two tenants are independent', async () => {
    const ours = await send({ events: [event()] }, withKey('shared'))
    const theirs = await send({ events: [event(), event()] }, { tenant: 'globex', ...withKey('shared') })
    expect(theirs.status).toBe(201)
    expect(theirs.body.accepted).toBe(2)
    expect(JSON.stringify(theirs.body)).not.toContain(ours.body.records[0].record_id)
  })

  test('after 24 hours the key is free', async () => {
    const first = await send({ events: [event()] }, withKey('old'))
    const superuser = await hub.superuserClient()
    await superuser.query(
      `update hub.idempotency_keys set created_at = now() - interval '24 hours 1 minute'
       where tenant_id = 'acme' and answer->'record_ids'->>0 = $1`,
      [first.body.records[0].record_id],
    )
    const later = await send({ events: [event(), event()] }, withKey('old'))
    expect(later.status).toBe(201)
    expect(later.body.accepted).toBe(2)
  })
})

describe('who may', () => {
  const body = { events: [event()] }

  test('401 without a token', async () => {
    expect((await send(body, { token: null })).status).toBe(401)
  })

  test('403 without telemetry:write', async () => {
    expect((await send(body, { scopes: ['telemetry:read', 'hub:write'] })).status).toBe(403)
    expect((await send(body, { scopes: ['telemetry:write'] })).status).toBe(201)
  })

  test('403 with the token of another tenant, and nothing is stored in either', async () => {
    const before = [await telemetryIds(hub, 'acme'), await telemetryIds(hub, 'globex')]
    const answer = await send(body, { tenant: 'acme', token: await hub.token('globex') })
    expect(answer.status).toBe(403)
    expect(answer.body.type).toMatch(/\/errors\/invalid-tenant$/)
    expect([await telemetryIds(hub, 'acme'), await telemetryIds(hub, 'globex')]).toEqual(before)
  })
})
