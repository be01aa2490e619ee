import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { decision, expectGuarded, expectProblem, governanceEvent, pathOf, unknownId, write } from './record-cases.ts'

let hub: TestHub
let id: string

beforeAll(async () => {
  hub = await startHub()
  id = await write(hub, 'acme', decision)
})
afterAll(() => hub.stop())

const get = (path: string, options = {}) => hub.call('acme', 'GET', path, options)

test('a record, by its id in either case', async () => {
  const { status, body, headers } = await get(pathOf(id))
  expect(status).toBe(200)
  expect(body).toMatchObject({ ...decision, record_id: id, tenant_id: 'acme', is_purged: false })
  expect(body).not.toHaveProperty('verification')
  expect(headers.etag).toMatch(/^"[^"]+"$/)
  expect((await get(pathOf(id.toUpperCase()))).body).toEqual(body)
})

test('no operation on a record minds the case of its id', async () => {
  const event = await write(hub, 'acme', governanceEvent)
  const upper = (rest = '') => pathOf(event.toUpperCase(), rest)
  expect((await get(upper('/related'))).body).toMatchObject({ root: event, records: [{ record_id: event }] })
  expect((await hub.call('acme', 'POST', upper('/verify'))).body.verified).toBe(true)
  const release = { body: { reason: 'Done' } }
  expect((await hub.call('acme', 'POST', upper('/legal-hold-releases'), release)).body.record_id).toBe(event)
  expect((await hub.call('acme', 'DELETE', upper('?reason=x'))).body.record_id).toBe(event)
  expect((await hub.call('acme', 'POST', upper(':restore'))).body).toEqual({ record_id: event, is_purged: false })
})

test('with its verification, and the same entity tag', async () => {
  const plain = await get(pathOf(id))
  const verified = await get(pathOf(id, '?verify=true'))
  expect(verified.headers.etag).toBe(plain.headers.etag)
  expect(verified.body).toEqual({
    ...plain.body,
    verification: {
      verified: true,
      checks: {
        provenance_hash_matches: true,
        provenance_cosign_valid: true,
        schema_version_supported: true,
        no_active_legal_hold_violation: true,
      },
    },
  })
  expect((await get(pathOf(id, '?verify=false'))).body).toEqual(plain.body)
})

test('a purged record while it can be restored, with another entity tag', async () => {
  const purged = await write(hub, 'acme', decision)
  const before = await get(pathOf(purged))
  await hub.call('acme', 'DELETE', pathOf(purged, '?reason=x'))
  const after = await get(pathOf(purged))
  expect([after.status, after.body.is_purged]).toEqual([200, true])
  expect(after.headers.etag).not.toBe(before.headers.etag)
})

test('nothing of an unknown id or of another tenant', async () => {
  const foreign = await write(hub, 'globex', { ...decision, decision_subject: 'secret' })
  for (const path of [pathOf(unknownId), pathOf(foreign), pathOf(foreign, '?verify=true')]) {
    const answer = await get(path)
    expectProblem(answer, 'not-found')
    expect(answer.text).not.toContain('secret')
  }
})

test('readers of some types see only those', async () => {
  const event = await write(hub, 'acme', governanceEvent)
  for (const [scopes, seesEvent] of [
    [['governance:read'], true],
    [['telemetry:read'], false],
    [['telemetry:read', 'governance:read'], true],
  ] as const) {
    expectProblem(await get(pathOf(id), { scopes }), 'not-found')
    expect((await get(pathOf(event), { scopes })).status).toBe(seesEvent ? 200 : 404)
  }
})

test('bad input', async () => {
  expectProblem(await get(pathOf('not-an-id')), 'validation-failed', '/path/record_id')
  expectProblem(await get(pathOf(id, '?verify=yes')), 'validation-failed', '/query/verify')
  expectProblem(await get(pathOf(id, '?verify=true&verify=true')), 'validation-failed', '/query/verify')
  expectProblem(await get(pathOf(id, '?fields=all')), 'validation-failed', '/query/fields')
})

test('not without token, tenant or scope', () =>
  expectGuarded(hub, 'GET', pathOf(id), { lacking: ['hub:write', 'hub:purge', 'roster:read'] }))
