import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { decision, expectGuarded, expectProblem, pathOf, query, read, unknownId, write } from './record-cases.ts'

let hub: TestHub

beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const restore = (id: string, options = {}) => hub.call('acme', 'POST', pathOf(id, ':restore'), options)

async function writePurged(): Promise<{ id: string; etag: string }> {
  const id = await write(hub, 'acme', decision)
  const { headers } = await hub.call('acme', 'DELETE', pathOf(id, '?reason=x'))
  return { id, etag: String(headers.etag) }
}

test('a purged record comes back, with an event, and can be purged again', async () => {
  const { id } = await writePurged()
  for (const body of [undefined, {}]) {
    const answer = await restore(id, { body })
    expect([answer.status, answer.body]).toEqual([200, { record_id: id, is_purged: false }])
    expect((await hub.call('acme', 'GET', pathOf(id))).headers.etag).toBe(answer.headers.etag)
  }
  expect((await query(hub, 'acme', `?record_id=${id}&verify=true`)).verification_summary.verified).toBe(1)
  const { records } = await query(hub, 'acme', '?event_kind=hub.record_restored')
  expect(records.filter((record: { subject: string }) => record.subject === `record:${id}`)).toHaveLength(1)
  expect((await hub.call('acme', 'DELETE', pathOf(id, '?reason=x'))).body.is_purged).toBe(true)
})

test('a record that is not purged answers the same and stays as it is', async () => {
  const id = await write(hub, 'acme', decision)
  const { etag } = (await hub.call('acme', 'GET', pathOf(id))).headers
  const answer = await restore(id, { headers: { 'if-match': String(etag) } })
  expect([answer.status, answer.body, answer.headers.etag]).toEqual([200, { record_id: id, is_purged: false }, etag])
})

test('If-Match', async () => {
  const { id, etag } = await writePurged()
  expectProblem(await restore(id, { headers: { 'if-match': '"stale"' } }), 'concurrent-modification')
  expectProblem(await restore(id, { headers: { 'if-match': 'stale' } }), 'validation-failed', '/headers/if-match')
  expect((await read(hub, 'acme', id)).is_purged).toBe(true)
  expect((await restore(id, { headers: { 'if-match': `W/${etag}` } })).status).toBe(200)
  expectProblem(await restore(id, { headers: { 'if-match': etag } }), 'concurrent-modification')
})

test('bad input', async () => {
  const { id } = await writePurged()
  expectProblem(await restore(id, { body: { force: true } }), 'validation-failed', '/force')
  expectProblem(await restore('not-an-id'), 'validation-failed', '/path/record_id')
  expect((await read(hub, 'acme', id)).is_purged).toBe(true)
})

test('an unknown record and one of another tenant are not found', async () => {
  const foreign = await write(hub, 'globex', decision)
  await hub.call('globex', 'DELETE', pathOf(foreign, '?reason=x'))
  expectProblem(await restore(unknownId), 'not-found')
  expectProblem(await restore(foreign), 'not-found')
  expect((await read(hub, 'globex', foreign)).is_purged).toBe(true)
})

test('not without token, tenant or scope', async () => {
  const { id } = await writePurged()
  await expectGuarded(hub, 'POST', pathOf(id, ':restore'), { lacking: ['hub:read', 'hub:write'] })
  expect((await read(hub, 'acme', id)).is_purged).toBe(true)
})
