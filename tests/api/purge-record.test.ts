import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fakeClock } from '../support/fake-clock.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { placeHold, releaseHold } from './hold-cases.ts'
import {
  decision,
  expectGuarded,
  expectProblem,
  governanceEvent,
  pathOf,
  query,
  read,
  unknownId,
  write,
} from './record-cases.ts'

const time = fakeClock()
let hub: TestHub

beforeAll(async () => {
  hub = await startHub({ time })
})
afterAll(() => hub.stop())

const purge = (id: string, reason = 'entered%20twice', headers = {}) =>
  hub.call('acme', 'DELETE', pathOf(id, `?reason=${reason}`), { headers })
const eventsOf = async (id: string, kind: string) =>
  (await query(hub, 'acme', `?event_kind=${kind}&limit=1000`)).records.filter(
    (record: { subject: string }) => record.subject === `record:${id}`,
  )

test('a record is purged for 30 days, with an event; repeating it gives the same answer', async () => {
  const id = await write(hub, 'acme', decision)
  const first = await purge(id)
  expect(first.status, first.text).toBe(200)
  expect(first.body).toEqual({
    record_id: id,
    is_purged: true,
    purged_at: expect.stringMatching(/\.\d{6}Z$/),
    hard_delete_after: expect.stringMatching(/\.\d{6}Z$/),
  })
  const { purged_at, hard_delete_after } = first.body
  expect(Date.parse(hard_delete_after) - Date.parse(purged_at)).toBe(30 * 86_400_000)
  expect(hard_delete_after.slice(-10)).toBe(purged_at.slice(-10))

  const again = await purge(id, 'another')
  expect([again.status, again.body, again.headers.etag]).toEqual([200, first.body, first.headers.etag])
  expect((await hub.call('acme', 'GET', pathOf(id))).headers.etag).toBe(first.headers.etag)
  const events = await eventsOf(id, 'hub.record_purged')
  expect(events).toHaveLength(1)
  expect(events[0].details).toMatchObject({ reason: 'entered twice', actor: await hub.clientId('acme') })

  expect((await query(hub, 'acme', `?record_id=${id}`)).records).toEqual([])
  expect((await query(hub, 'acme', `?record_id=${id}&include_purged=true`)).records).toHaveLength(1)
})

test('repeating it gives the same answer while a hold keeps the record in its buffer', async () => {
  const id = await write(hub, 'acme', decision)
  const first = await purge(id)
  const hold = await placeHold(hub, 'acme', { record_ids: [id] })
  for (let i = 0; i < 2; i++) expect((await purge(id)).body).toEqual(first.body)
  expect((await releaseHold(hub, 'acme', hold.hold_id)).status).toBe(200)
  const { body } = await purge(id)
  expect(body.hard_delete_after > first.body.hard_delete_after).toBe(true)
  expect((await purge(id)).body).toEqual(body)
})

describe('If-Match', () => {
  test('the current tag, weak or strong, alone or in a list, and * all let it pass', async () => {
    for (const form of ['E', 'W/E', '"other", E', '*']) {
      const id = await write(hub, 'acme', decision)
      const { etag } = (await hub.call('acme', 'GET', pathOf(id))).headers
      expect((await purge(id, 'x', { 'if-match': form.replace('E', String(etag)) })).status, form).toBe(200)
    }
  })

  test('a stale one is refused, even where nothing would change', async () => {
    const id = await write(hub, 'acme', decision)
    const { etag } = (await hub.call('acme', 'GET', pathOf(id))).headers
    await purge(id)
    expectProblem(await purge(id, 'x', { 'if-match': String(etag) }), 'concurrent-modification')
    expectProblem(await purge(id, 'x', { 'if-match': '"other"' }), 'concurrent-modification')
  })

  test.each(['abc', '"a', 'W/a', '"a" "b"', '*, "a"', ''])('%j is no tag', async (tag) => {
    const id = await write(hub, 'acme', decision)
    expectProblem(await purge(id, 'x', { 'if-match': tag }), 'validation-failed', '/headers/if-match')
    expect((await read(hub, 'acme', id)).is_purged).toBe(false)
  })
})

test('a governance event stays until it is released', async () => {
  const id = await write(hub, 'acme', governanceEvent)
  const refused = await purge(id)
  expectProblem(refused, 'legal-hold')
  expect(refused.body).not.toHaveProperty('holds')
  expect((await read(hub, 'acme', id)).is_purged).toBe(false)

  const other = await write(hub, 'acme', governanceEvent)
  const release = (record: string, body: object) =>
    hub.call('acme', 'POST', pathOf(record, '/legal-hold-releases'), { body })
  await release(other, { reason: 'another record' })
  expectProblem(await purge(id), 'legal-hold')

  expect((await release(id, { reason: 'closed' })).status).toBe(201)
  expect((await purge(id)).status).toBe(200)
  expect((await hub.call('acme', 'POST', pathOf(id, '/verify'))).body.verified).toBe(true)
})

test('a release that has ended does not count', async () => {
  const id = await write(hub, 'acme', governanceEvent)
  const body = { reason: 'for an hour', expires_at: new Date(time.wallMs() + 3_600_000).toISOString() }
  expect((await hub.call('acme', 'POST', pathOf(id, '/legal-hold-releases'), { body })).status).toBe(201)
  time.step({ ms: 3_600_000 })
  expectProblem(await purge(id), 'legal-hold')
})

test('bad input', async () => {
  const id = await write(hub, 'acme', decision)
  const remove = (rest: string) => hub.call('acme', 'DELETE', pathOf(id, rest))
  expectProblem(await remove(''), 'validation-failed', '/query/reason')
  expectProblem(await remove('?reason='), 'validation-failed', '/query/reason')
  expectProblem(await remove(`?reason=${'x'.repeat(501)}`), 'validation-failed', '/query/reason')
  expectProblem(await remove('?reason=x&force=true'), 'validation-failed', '/query/force')
  expectProblem(await purge('not-an-id'), 'validation-failed', '/path/record_id')
  expect((await read(hub, 'acme', id)).is_purged).toBe(false)
  expect((await remove(`?reason=${'x'.repeat(500)}`)).status).toBe(200)
})

test('an unknown record and one of another tenant are not found', async () => {
  const foreign = await write(hub, 'globex', decision)
  expectProblem(await purge(unknownId), 'not-found')
  expectProblem(await purge(foreign), 'not-found')
  expect((await read(hub, 'globex', foreign)).is_purged).toBe(false)
})

test('not without token, tenant or scope', async () => {
  const id = await write(hub, 'acme', decision)
  await expectGuarded(hub, 'DELETE', pathOf(id, '?reason=x'), { lacking: ['hub:read', 'hub:write'] })
  expect((await read(hub, 'acme', id)).is_purged).toBe(false)
})
