import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findBatch } from '../../cli/connector/batch-search.ts'
import { HubSession } from '../../cli/connector/hub-session.ts'
import type { SpooledBatch } from '../../cli/connector/spool-batches.ts'
import type { Scope } from '../../contract/scopes.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { userEvent } from './connector-lab.ts'

let hub: TestHub
let session: HubSession
let skillRecord: string
beforeAll(async () => {
  hub = await startHub()
  await hub.call('cmode', 'PUT', '/api/v1/roster/archetypes', { body: { archetypes: [{ archetype_id: 'analyst' }] } })
  const skill = { record_type: 'skill_definition', skill_id: 'sum-up', skill_version: '1.0.0', name: 'Sum up' }
  skillRecord = (await hub.call('cmode', 'POST', '/api/v1/hub/records', { body: skill })).body.record_id
  session = await sessionWith(['telemetry:write', 'telemetry:read'])
})
afterAll(() => hub.stop())

async function sessionWith(scopes: readonly Scope[]): Promise<HubSession> {
  const account = await hub.modules.auth.serviceAccounts.create(
    await hub.tenant('cmode'),
    { name: scopes.join(' '), scopes },
    { operator: 'test' },
  )
  const { client_id: clientId, client_secret: clientSecret } = account
  const made = new HubSession({ hubUrl: hub.baseUrl, tenant: 'cmode', clientId, clientSecret })
  expect(await made.signIn()).toBeUndefined()
  return made
}

/** As it is in the spool of a connector that was killed before the answer came. */
function unanswered(events: object[], sentBy = session): SpooledBatch {
  const nowMs = sentBy.hubNowMs()
  return {
    id: 1,
    key: randomUUID(),
    attempts: 1,
    events: events.map((event) => JSON.stringify(event)),
    doubt: { clientId: sentBy.subject, sinceMs: nowMs, untilMs: nowMs },
  }
}

/** Values that the Hub stores otherwise than they were sent. */
const varied = (name: string) => [
  userEvent(`${name}-1`, { ts: '2026-01-05T10:30:00.5+01:00', cost_usd_estimate: 0.00000149 }),
  userEvent(`${name}-2`, { error_code: null }),
  userEvent(`${name}-3`, { success: false, error_code: 'timeout', ts: '2026-01-05T09:30:00.1234567Z' }),
  userEvent(`${name}-2`, { error_code: null }),
  userEvent(`${name}-4`, { related_records: [skillRecord.toUpperCase()] }),
]

test('a batch that the Hub has is found, whatever was normalised, and after a purge too', async () => {
  const batch = unanswered(varied('there'))
  expect(await findBatch(session, batch)).toEqual({ kind: 'absent' })
  expect(await session.send(batch)).toEqual({ kind: 'taken', rejections: new Map() })
  expect(await findBatch(session, batch)).toEqual({ kind: 'there' })

  const { body } = await hub.call('cmode', 'GET', '/api/v1/hub/records?record_type=telemetry_event')
  const purge = `/api/v1/hub/records/${body.records[0].record_id}?reason=test`
  expect((await hub.call('cmode', 'DELETE', purge)).status).toBe(200)
  expect(await findBatch(session, batch)).toEqual({ kind: 'there' })
})

test('one of several like it is not enough, nor another account’s', async () => {
  expect(await session.send(unanswered([userEvent('twin')]))).toMatchObject({ kind: 'taken' })
  const twice = unanswered([userEvent('twin'), userEvent('twin')])
  expect(await findBatch(session, twice)).toMatchObject({
    kind: 'undecided',
    reason: expect.stringContaining('1 of its 2'),
  })
  const other = await sessionWith(['telemetry:read', 'telemetry:write', 'hub:read'])
  expect(await findBatch(other, unanswered([userEvent('twin')], other))).toEqual({ kind: 'absent' })
})

test('the Hub refuses an event in words that the forwarder understands, and the same key gives the same answer', async () => {
  const batch = unanswered([userEvent('good'), userEvent('bad', { skill_id: 'unknown' })])
  const first = await session.send(batch)
  expect(first).toMatchObject({ kind: 'taken' })
  const rejections = first.kind === 'taken' ? [...first.rejections] : []
  expect(rejections).toEqual([
    [1, { slug: 'skill-not-registered', status: 422, detail: expect.stringContaining('/skill_id') }],
  ])
  expect(await session.send(batch)).toEqual(first)
})

test('an account that may not read, and a Hub that does not answer, decide nothing', async () => {
  const writer = await sessionWith(['telemetry:write'])
  expect(await findBatch(writer, unanswered([userEvent('x')], writer))).toMatchObject({ kind: 'undecided' })
  const nobody = new HubSession({ hubUrl: hub.baseUrl, tenant: 'cmode', clientId: 'nobody', clientSecret: 'wrong' })
  expect(await nobody.signIn()).toMatchObject({ kind: 'barred', message: expect.stringContaining('401') })
  const foreign = new HubSession({ hubUrl: hub.baseUrl, tenant: 'acme', clientId: 'nobody', clientSecret: 'wrong' })
  expect(await foreign.send(unanswered([userEvent('x')]))).toMatchObject({ kind: 'barred' })
})
