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

test('a record that a reader has already is 304, without a body', async () => {
  const record = await write(hub, 'acme', decision)
  const ask = (tag: string, rest = '', options = {}) =>
    get(pathOf(record, rest), { headers: { 'if-none-match': tag }, ...options })
  const full = await get(pathOf(record))
  const tag = String(full.headers.etag)
  const others = '"one,two", W/"three"'
  for (const known of [tag, `W/${tag}`, `${others},${tag}`, `${others} , W/${tag}`, '*', ' * ']) {
    for (const rest of ['', '?verify=true']) {
      const answer = await ask(known, rest)
      expect([answer.status, answer.text], known).toEqual([304, ''])
      for (const name of ['etag', 'vary', 'cache-control']) expect(answer.headers[name]).toBe(full.headers[name])
      for (const name of ['content-type', 'content-length']) expect(answer.headers).not.toHaveProperty(name)
    }
  }
  for (const unknown of [others, tag.replaceAll('"', ''), `w/${tag}`, `"x${tag}`, `${tag.slice(0, -2)}1"`, '', '**']) {
    const answer = await ask(unknown)
    expect([answer.status, answer.body], unknown).toEqual([200, full.body])
  }
  expectProblem(await ask('*', '', { scopes: ['telemetry:read'] }), 'not-found')
  expectProblem(await ask('*', '', { scopes: ['telemetry:write'] }), 'insufficient-scope')
  expectProblem(await ask('*', '', { token: null }), 'authentication-failed')
  expectProblem(await hub.call('globex', 'GET', pathOf(record), { headers: { 'if-none-match': tag } }), 'not-found')
  expectProblem(await get(pathOf(unknownId), { headers: { 'if-none-match': '*' } }), 'not-found')

  await hub.call('acme', 'DELETE', pathOf(record, '?reason=x'))
  expect((await ask(tag)).body.is_purged).toBe(true)
  await hub.call('acme', 'POST', pathOf(record, ':restore'))
  const restored = await ask(tag)
  expect(restored.body).toEqual(full.body)
  expect((await ask(String(restored.headers.etag))).status).toBe(304)
})

test('an altered record is never answered with 304 to those who ask for its verification', async () => {
  const record = await write(hub, 'acme', decision)
  const { etag } = (await get(pathOf(record))).headers
  const superuser = await hub.superuserClient()
  const altered = `update hub.records set canonical = replace(canonical, 'approved', 'rejected') where record_id = $1`
  await superuser.query(altered, [record])
  const answer = await get(pathOf(record, '?verify=true'), { headers: { 'if-none-match': String(etag) } })
  expect([answer.status, answer.body.verification.verified]).toEqual([200, false])
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
