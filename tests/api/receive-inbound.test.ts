import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inboundBodyBytesMax } from '../../contract/limits.ts'
import { eventsOf } from '../auth/auth-lab.ts'
import { addPlatform, addProvider, type Connection, invoked, person, send } from '../inbound/inbound-lab.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { pointersOf, slugOf } from './connector-cases.ts'
import { prepareTelemetry } from './telemetry-tenants.ts'

let hub: TestHub
let platform: Connection
let provider: Connection
beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme', 'cmode')
  platform = await addPlatform(hub)
  provider = await addProvider(hub)
})
afterAll(() => hub.stop())

const records = async (query = '') =>
  (await hub.call('acme', 'GET', `/api/v1/hub/records?record_type=telemetry_event&limit=1000${query}`)).body.records
const users = async () => (await hub.call('acme', 'GET', '/api/v1/roster/users?limit=1000')).body.items
const userNamed = async (name: string) =>
  (await users()).find((user: { user_name?: string; email?: string }) => [user.user_name, user.email].includes(name))

describe('a chat platform', () => {
  test('tells of an invocation, which is a record by the connector', async () => {
    const message = invoked({ user_id: 'user:first@example.com' })
    const answer = await send(hub, platform, message)
    expect([answer.status, answer.body]).toEqual([200, { id: message.id, status: 'accepted' }])
    const [record, ...others] = await records('&user_id=user:first@example.com')
    expect(others).toEqual([])
    expect(record).toMatchObject({ created_by: platform.connectionId, llm_platform: 'slack', skill_id: 'sum-up' })
    const proof = await hub.call('acme', 'POST', `/api/v1/hub/records/${record.record_id}/verify`)
    expect(proof.body).toMatchObject({ verified: true })
    const live = await hub.call('acme', 'GET', '/api/v1/hub/records?event_kind=tenant.live')
    expect(live.body.records).toHaveLength(1)
  })

  test('may name the platform itself', async () => {
    await send(hub, platform, invoked({ user_id: 'user:named@example.com', llm_platform: 'gemini' }))
    expect((await records('&user_id=user:named@example.com'))[0].llm_platform).toBe('gemini')
  })

  test('has each message taken once, whatever it says the second time', async () => {
    const message = invoked({ user_id: 'user:twice@example.com' })
    expect((await send(hub, platform, message)).body.status).toBe('accepted')
    for (const again of [
      message,
      { ...message, data: { ...message.data, latency_ms: 7 } },
      { ...message, data: 'nothing' },
      { id: message.id },
    ]) {
      const answer = await send(hub, platform, again)
      expect([answer.status, answer.body]).toEqual([200, { id: message.id, status: 'duplicate' }])
    }
    expect(await records('&user_id=user:twice@example.com')).toHaveLength(1)
  })

  test('has its ids for itself', async () => {
    const message = invoked({ user_id: 'user:both@example.com' })
    const other = await addPlatform(hub)
    for (const each of [platform, other]) expect((await send(hub, each, message)).body.status).toBe('accepted')
    expect(await records('&user_id=user:both@example.com')).toHaveLength(2)
  })

  test('is told everything that is wrong, and may send the id again', async () => {
    const message = invoked({ user_id: 'user:mended@example.com' })
    const wrong = { ...message, data: { ...message.data, latency_ms: 0, tokens_in: -1 }, occurred_at: 'today' }
    const answer = await send(hub, platform, wrong)
    expect([answer.status, slugOf(answer)]).toEqual([400, 'validation-failed'])
    expect(pointersOf(answer).sort()).toEqual(['/data/latency_ms', '/data/tokens_in', '/occurred_at'])
    const unknown = await send(hub, platform, { ...message, data: { ...message.data, skill_id: 'unheard-of' } })
    expect([unknown.status, slugOf(unknown), pointersOf(unknown)]).toEqual([
      422,
      'skill-not-registered',
      ['/data/skill_id'],
    ])
    const archetype = await send(hub, platform, { ...message, data: { ...message.data, archetype_id: 'nobody' } })
    expect([archetype.status, pointersOf(archetype)]).toEqual([400, ['/data/archetype_id']])
    expect((await send(hub, platform, message)).body.status).toBe('accepted')
    expect(await records('&user_id=user:mended@example.com')).toHaveLength(1)
  })

  test('of a Mode C tenant sends the envelope and nothing else', async () => {
    const own = await addPlatform(hub, 'cmode')
    const message = invoked({ metadata: { channel: 'legal' } })
    const answer = await send(hub, own, message)
    expect([answer.status, slugOf(answer), pointersOf(answer)]).toEqual([
      400,
      'content-not-allowed',
      ['/data/metadata'],
    ])
    const { metadata: _, ...envelope } = message.data
    expect((await send(hub, own, { ...message, data: envelope })).body.status).toBe('accepted')
  })
})

describe('an identity provider', () => {
  const kim = { user_name: 'kim@acme.example', external_id: '00u1', given_name: 'Kim', family_name: 'Reyes' }

  test('provisions, updates and deactivates', async () => {
    expect((await send(hub, provider, person('provisioned', kim))).body.status).toBe('accepted')
    const made = await userNamed('kim@acme.example')
    expect(made).toMatchObject({ active: true, role: 'member', display_name: 'Kim Reyes' })
    const update = person('updated', { ...kim, email: 'kim.reyes@acme.example', family_name: 'Reyes-Lund' })
    expect((await send(hub, provider, update)).body.status).toBe('accepted')
    const updated = await userNamed('kim.reyes@acme.example')
    expect(updated).toMatchObject({ user_id: made.user_id, display_name: 'Kim Reyes-Lund' })
    expect((await send(hub, provider, person('deactivated', { user_name: 'kim@acme.example' }))).status).toBe(200)
    expect((await users()).find((user: { user_id: string }) => user.user_id === made.user_id)).toMatchObject({
      active: false,
    })
    const own = (await eventsOf(hub.test.database, 'acme')).filter(({ subject }) => subject === `user:${made.user_id}`)
    expect(own.map(({ details }) => details.change)).toEqual(
      expect.arrayContaining(['user_created', 'user_email', 'user_deactivated']),
    )
    for (const { details } of own) expect(details.actor).toBe(`inbound:${provider.connectionId}`)
    expect(JSON.stringify(own)).not.toMatch(/reyes/i)
  })

  test('deactivates by its own id alone, and says what is missing where there is neither', async () => {
    await send(hub, provider, person('provisioned', { user_name: 'ida', external_id: '00u-ida' }))
    const alone = person('deactivated', { external_id: '00u-ida' })
    expect((await send(hub, provider, alone)).body.status).toBe('accepted')
    expect(await userNamed('ida')).toMatchObject({ active: false, external_id: '00u-ida' })
    const unknown = person('deactivated', { external_id: '00u-nobody' })
    expect((await send(hub, provider, unknown)).body.status).toBe('accepted')
    const wrong = [
      await send(hub, provider, person('deactivated', { email: 'ida@acme.example' })),
      await send(hub, provider, person('deactivated', { external_id: '00u-ida', user_name: '' })),
      await send(hub, provider, person('updated', { external_id: '00u-ida' })),
    ]
    for (const answer of wrong) expect([answer.status, pointersOf(answer)]).toEqual([400, ['/data/user_name']])
  })

  test('has somebody unknown deactivated without effect', async () => {
    const before = (await users()).length
    const answer = await send(hub, provider, person('deactivated', { user_name: 'nobody' }))
    expect([answer.status, answer.body.status]).toEqual([200, 'accepted'])
    expect(await users()).toHaveLength(before)
  })

  test('is told everything that is wrong, in the names of the message', async () => {
    const answer = await send(hub, provider, {
      ...person('deactivated', { external_id: '', email: 'no address', active: true, password: 'x' }),
      id: 'with spaces',
    })
    expect(answer.status).toBe(400)
    expect(pointersOf(answer).sort()).toEqual([
      '/data/active',
      '/data/email',
      '/data/external_id',
      '/data/password',
      '/data/user_name',
      '/id',
    ])
    const two = [
      person('provisioned', { user_name: 'Ada' }),
      person('provisioned', { user_name: 'bo', external_id: 'b' }),
    ]
    for (const each of two) expect((await send(hub, provider, each)).status).toBe(200)
    const taken = person('updated', { user_name: 'ADA', external_id: 'b' })
    const conflict = await send(hub, provider, taken)
    expect([conflict.status, slugOf(conflict), pointersOf(conflict)]).toEqual([
      409,
      'concurrent-modification',
      ['/data/user_name'],
    ])
    // It was not taken, and may come again.
    const mended = { ...taken, data: { user_name: 'bo', external_id: 'b', display_name: 'Bo' } }
    expect((await send(hub, provider, mended)).body.status).toBe('accepted')
  })

  test('leaves the last administrator active', async () => {
    const superuser = await hub.superuserClient()
    await send(hub, provider, person('provisioned', { user_name: 'chief' }))
    const { rows } = await superuser.query(
      `select u.user_id from hub.directory_users d join hub.users u using (tenant_id, user_id) where d.user_name = 'chief'`,
    )
    const userId = rows[0].user_id
    await superuser.query(`update hub.users set role = 'member' where tenant_id = 'acme'`)
    await superuser.query(`update hub.users set role = 'admin' where user_id = $1`, [userId])
    await hub.test.proveRows()
    const answer = await send(hub, provider, person('deactivated', { user_name: 'chief' }))
    expect([answer.status, pointersOf(answer)]).toEqual([409, ['/data/active']])
    const { rows: after } = await superuser.query('select role, deactivated_at from hub.users where user_id = $1', [
      userId,
    ])
    expect(after).toEqual([{ role: 'admin', deactivated_at: null }])
  })
})

test('each connection sends its own kinds', async () => {
  for (const [connection, message] of [
    [platform, person('provisioned', { user_name: 'x' })],
    [provider, invoked()],
    [platform, { ...invoked(), kind: 'skill.failed' }],
  ] as const) {
    const answer = await send(hub, connection, message)
    expect([answer.status, pointersOf(answer)]).toEqual([400, ['/kind']])
  }
})

test.each<[string, string | Buffer, number, string]>([
  ['no JSON', '{', 400, 'malformed-json'],
  ['nothing', '', 400, 'malformed-json'],
  ['a member twice', '{"id":"a","id":"b"}', 400, 'malformed-json'],
  ['__proto__', '{"__proto__":{}}', 400, 'validation-failed'],
  ['a list', '[]', 400, 'validation-failed'],
  ['an empty object', '{}', 400, 'validation-failed'],
  ['too much', ' '.repeat(inboundBodyBytesMax + 1), 413, 'payload-too-large'],
])('refuses %s', async (_name, body, status, slug) => {
  const answer = await send(hub, platform, body)
  expect([answer.status, slugOf(answer)]).toEqual([status, slug])
})

test('takes a body as it is: not compressed, and as JSON', async () => {
  const body = Buffer.from(JSON.stringify(invoked()))
  const compressed = await send(hub, platform, gzipSync(body), { headers: { 'content-encoding': 'gzip' } })
  expect([compressed.status, slugOf(compressed)]).toEqual([415, 'unsupported-media-type'])
  expect(compressed.headers['accept-encoding']).toBe('identity')
  const plain = await send(hub, platform, body, { headers: { 'content-type': 'text/plain' } })
  expect(plain.status).toBe(415)
  // The largest that fits; its signature is of spaces too.
  expect((await send(hub, platform, body.toString().padEnd(inboundBodyBytesMax, ' '))).status).toBe(200)
})

test('nothing of a message is logged', () => {
  const text = hub.logLines.join('')
  for (const part of [platform.secret, provider.secret, 'first@example.com', 'kim.reyes']) {
    expect(text).not.toContain(part)
  }
})
