import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Scope } from '../../contract/scopes.ts'
import {
  type JsonObject,
  type KeyRing,
  parseKeyDocument,
  verifyDeletionCertificate,
  verifyDeletionCertificateSync,
} from '../../provenance/index.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import { writeSealed } from '../hub/attack-scenes.ts'
import { telemetry } from '../hub/record-lab.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { decision, expectGuarded, expectProblem, governanceEvent, pathOf, unknownId, write } from './record-cases.ts'

const time = fakeClock()
let hub: TestHub
/** Erased. */
let id: string
let event: string
/** Purged only. */
let purged: string

beforeAll(async () => {
  hub = await startHub({ time })
  for (let neighbour = 0; neighbour < 5; neighbour++) await write(hub, 'acme', decision)
  id = await write(hub, 'acme', decision)
  event = await write(hub, 'acme', governanceEvent)
  await hub.call('acme', 'POST', pathOf(event, '/legal-hold-releases'), { body: { reason: 'x' } })
  for (const each of [id, event]) await hub.call('acme', 'DELETE', pathOf(each, '?reason=Request%2017'))
  time.step({ days: 31 })
  purged = await write(hub, 'acme', decision)
  await hub.call('acme', 'DELETE', pathOf(purged, '?reason=x'))
  await hub.modules.hub.erasure.run(await hub.tenant('acme'))
})
afterAll(() => hub.stop())

const certificateOf = (record: string, options = {}) =>
  hub.call('acme', 'GET', pathOf(record, '/deletion-certificate'), options)
async function keyRing(): Promise<KeyRing> {
  const document = await hub.call('acme', 'GET', '/.well-known/provenance-keys.json', { token: null })
  return parseKeyDocument(document.body, nodeCrypto.sha256)
}

test('proves that an erased record was sealed and is in the log, and when and why it went', async () => {
  const answer = await certificateOf(id)
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body).toMatchObject({
    record_id: id,
    record_type: 'decision',
    tenant_id: 'acme',
    leaf_index: 0,
    purge_reason: 'Request 17',
    purged_by: await hub.clientId('acme'),
    events: {
      purged: { event_kind: 'hub.record_purged', subject: `record:${id}`, is_purged: false },
      erased: { event_kind: 'hub.record_hard_deleted', details: { leaf_hash: answer.body.leaf_hash } },
    },
  })
  expect(answer.text).not.toContain(decision.decision_rationale)
  const result = verifyDeletionCertificateSync(answer.body, await keyRing(), nodeCrypto)
  expect(result.failures).toEqual([])
  expect(result.verified).toBe(true)
  const asynchronous = {
    sha256: async (bytes: Uint8Array) => nodeCrypto.sha256(bytes),
    verifyEd25519: async (...key: Parameters<typeof nodeCrypto.verifyEd25519>) => nodeCrypto.verifyEd25519(...key),
  }
  expect(await verifyDeletionCertificate(answer.body, await keyRing(), asynchronous)).toEqual(result)
})

test('goes on to verify as the log grows', async () => {
  const before = (await certificateOf(id)).body
  await write(hub, 'acme', decision)
  const after = (await certificateOf(id)).body
  expect(after.tree_size).toBeGreaterThan(before.tree_size)
  for (const each of [before, after]) {
    expect(verifyDeletionCertificateSync(each, await keyRing(), nodeCrypto).verified).toBe(true)
  }
})

test('each of its members is verified', async () => {
  const { body } = await certificateOf(id)
  const other = (await certificateOf(event)).body
  const keys = await keyRing()
  const altered = (name: string, changes: object) => {
    const result = verifyDeletionCertificateSync({ ...body, ...changes } as JsonObject, keys, nodeCrypto)
    expect(result.verified, name).toBe(false)
    return result.failures.map(({ check }) => check)
  }
  for (const [name, value] of Object.entries<unknown>(body)) {
    const { [name]: _, ...rest } = body
    expect(verifyDeletionCertificateSync(rest, keys, nodeCrypto).checks.well_formed, name).toBe(false)
    if (typeof value === 'string')
      altered(name, { [name]: value.replace(/[0-9a-f](?=[^0-9a-f]*$)/i, (c) => (c === '0' ? '1' : '0')) })
    if (typeof value === 'number') altered(name, { [name]: value + 1 })
    if (Array.isArray(value)) altered(name, { [name]: [...value, body.leaf_hash] })
  }
  expect(altered('record_id', { record_id: unknownId })).toEqual(['events_agree'])
  expect(altered('reason', { purge_reason: 'Another' })).toEqual(['events_agree'])
  expect(altered('events', { events: other.events })).toEqual(['events_agree'])
  expect(altered('another purge', { events: { ...body.events, purged: other.events.purged } })).toEqual([
    'events_agree',
  ])
  expect(altered('checkpoint', { checkpoint: body.seal_note })).toEqual(['seal_in_log'])
  expect(altered('seal', { seal_note: other.seal_note })).toContain('seal_signed')
  const forged = { ...body.events.erased, details: { ...body.events.erased.details, reason: 'Another' } }
  expect(altered('forged', { purge_reason: 'Another', events: { ...body.events, erased: forged } })).toContain(
    'events_verified',
  )
  expect(verifyDeletionCertificateSync(body, new Map(), nodeCrypto).failures.map(({ check }) => check)).toEqual([
    'seal_signed',
    'seal_in_log',
    'events_verified',
  ])
  expect(verifyDeletionCertificateSync([], keys, nodeCrypto).verified).toBe(false)
})

test('there is none of what is not erased, or unknown', async () => {
  expectProblem(await certificateOf(purged), 'concurrent-modification')
  expectProblem(await certificateOf(await write(hub, 'acme', decision)), 'concurrent-modification')
  expectProblem(await certificateOf(unknownId), 'not-found')
  expectProblem(await certificateOf('17'), 'validation-failed', '/path/record_id')
})

test('whoever could not see the record does not see its certificate', async () => {
  expectProblem(await certificateOf(id, { scopes: ['telemetry:read'] }), 'not-found')
  expectProblem(await certificateOf(id, { scopes: ['governance:read'] }), 'not-found')
  expectProblem(await certificateOf(purged, { scopes: ['governance:read'] }), 'not-found')
  expect((await certificateOf(event, { scopes: ['governance:read'] })).status).toBe(200)
  expect((await certificateOf(event.toUpperCase(), { scopes: ['hub:read'] })).status).toBe(200)
})

test('the event of the purge is for those who may see such, and the certificate verifies without it', async () => {
  const [measured] = await writeSealed(hub, await hub.tenant('acme'), telemetry(1))
  await hub.call('acme', 'DELETE', pathOf(measured!, '?reason=Request%2018'))
  time.step({ days: 31 })
  await hub.modules.hub.erasure.run(await hub.tenant('acme'))
  const as = (...scopes: Scope[]) => certificateOf(measured!, { scopes })
  const { body, text } = await as('telemetry:read')
  expect(text).not.toMatch(/"address"|"request_id"/)
  expect(Object.keys(body.events)).toEqual(['erased'])
  expect(body).toMatchObject({ purge_reason: 'Request 18', purged_by: await hub.clientId('acme') })
  for (const scopes of [
    ['hub:read'],
    ['telemetry:read', 'governance:read'],
    ['telemetry:read', 'hub:purge'],
  ] as const) {
    const whole = (await as(...scopes)).body
    expect(whole.events.purged.record_id).toBe(body.events.erased.details.purge_event)
    expect(whole.events.erased.details.hard_delete_after).toBe(whole.events.purged.details.hard_delete_after)
  }
  const keys = await keyRing()
  expect(verifyDeletionCertificateSync(body, keys, nodeCrypto).failures).toEqual([])
  const early = { ...body, purge_reason: 'Another' }
  expect(verifyDeletionCertificateSync(early, keys, nodeCrypto).verified).toBe(false)
})

test('needs a token with a read scope of this tenant', async () => {
  await expectGuarded(hub, 'GET', pathOf(id, '/deletion-certificate'), { lacking: ['hub:purge'] })
  expectProblem(await hub.call('globex', 'GET', pathOf(id, '/deletion-certificate')), 'not-found')
})
