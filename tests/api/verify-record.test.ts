import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import {
  decision,
  expectGuarded,
  expectProblem,
  governanceEvent,
  pathOf,
  query,
  unknownId,
  write,
} from './record-cases.ts'

let hub: TestHub
let id: string

beforeAll(async () => {
  hub = await startHub()
  id = await write(hub, 'acme', decision)
})
afterAll(() => hub.stop())

const verify = (record: string, options = {}) => hub.call('acme', 'POST', pathOf(record, '/verify'), options)

test('an honest record, purged or not, passes the four checks', async () => {
  const checks = {
    provenance_hash_matches: true,
    provenance_cosign_valid: true,
    schema_version_supported: true,
    no_active_legal_hold_violation: true,
  }
  for (const body of [undefined, {}]) {
    const answer = await verify(id, { body })
    expect([answer.status, answer.body]).toEqual([200, { verified: true, checks }])
  }
  await hub.call('acme', 'DELETE', pathOf(id, '?reason=x'))
  expect((await verify(id)).body).toEqual({ verified: true, checks })
})

test('an edited record fails, and is reported', async () => {
  const edited = await write(hub, 'acme', decision)
  const superuser = await hub.superuserClient()
  await superuser.query(
    `update hub.records set canonical = replace(canonical, 'approved', 'refused') where record_id = $1`,
    [edited],
  )
  const answer = await verify(edited)
  expect(answer.status).toBe(200)
  expect(answer.body).toMatchObject({ verified: false, checks: { provenance_hash_matches: false } })
  await hub.modules.verification.settled()
  const { records } = await query(hub, 'acme', '?event_kind=hub.tamper_detected')
  expect(records).toMatchObject([{ subject: `record:${edited}`, created_by: 'service:hub' }])
  expect((await query(hub, 'acme', `?record_id=${edited}&verify=true`)).verification_summary).toEqual({
    checked: 1,
    verified: 0,
    tampered: 1,
    cosign_invalid: 0,
  })
})

test('readers of some types verify only those', async () => {
  const event = await write(hub, 'acme', governanceEvent)
  expectProblem(await verify(id, { scopes: ['governance:read'] }), 'not-found')
  expect((await verify(event, { scopes: ['governance:read'] })).body.verified).toBe(true)
})

test('bad input, unknown ids and other tenants', async () => {
  expectProblem(await verify(id, { body: { deep: true } }), 'validation-failed', '/deep')
  expectProblem(await verify('not-an-id'), 'validation-failed', '/path/record_id')
  expectProblem(await verify(unknownId), 'not-found')
  expectProblem(await verify(await write(hub, 'globex', decision)), 'not-found')
})

test('not without token, tenant or scope', () =>
  expectGuarded(hub, 'POST', pathOf(id, '/verify'), { lacking: ['hub:write', 'hub:purge'] }))
