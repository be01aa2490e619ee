import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { formatTimestamp } from '../../contract/timestamp.ts'
import { parseKeyDocument, verifyDeletionCertificateSync } from '../../provenance/index.ts'
import { createErasureJournal } from '../../server/modules/erasure/erasure-journal.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import { decision, expectProblem, governanceEvent, pathOf, query, recordsPath, write } from '../api/record-cases.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const time = fakeClock()
let hub: TestHub
let client: pg.Client

beforeAll(async () => {
  hub = await startHub({ time })
  client = await hub.superuserClient()
})
afterAll(() => hub.stop())

const purge = async (id: string, reason = 'Erasure request 17') => {
  const answer = await hub.call('acme', 'DELETE', pathOf(id, `?reason=${encodeURIComponent(reason)}`))
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}
const run = async (asOf?: string) => hub.modules.hub.erasure.run(await hub.tenant('acme'), asOf ? { asOf } : {})
const sql = (text: string, values: unknown[]) => client.query(text, values)
const isStored = async (id: string) => (await sql('select from hub.records where record_id = $1', [id])).rowCount === 1

/** Purges it and lets its buffer pass. */
async function overdue(id: string): Promise<void> {
  await purge(id)
  time.step({ days: 31 })
}

test('a record is erased once its recovery period is over, and is found nowhere', async () => {
  const id = await write(hub, 'acme', decision)
  const naming = await write(hub, 'acme', { ...decision, related_records: [id] })
  await purge(id)
  time.step({ days: 29 })
  expect(await run()).toEqual({ erased: 0, held: 0 })
  expect(await isStored(id)).toBe(true)
  time.step({ days: 2 })
  expect(await run()).toEqual({ erased: 1, held: 0 })
  expect(await isStored(id)).toBe(false)
  expect(await run()).toEqual({ erased: 0, held: 0 })

  for (const [method, rest, body] of [
    ['GET', ''],
    ['GET', '?verify=true'],
    ['POST', '/verify'],
    ['GET', '/related'],
    ['GET', '/proof'],
    ['DELETE', '?reason=again'],
    ['POST', ':restore'],
    ['POST', '/legal-hold-releases', { reason: 'x' }],
  ] as const) {
    expectProblem(await hub.call('acme', method, pathOf(id, rest), body ? { body } : {}), 'not-found')
  }
  const { records } = await query(hub, 'acme', '?include_purged=true&record_type=decision&limit=1000')
  expect(records.map((record: { record_id: string }) => record.record_id)).toEqual([naming])
  expect((await query(hub, 'acme', `?record_id=${id}&include_purged=true`)).records).toEqual([])
  expectProblem(
    await hub.call('acme', 'POST', recordsPath, { body: { ...decision, related_records: [id] } }),
    'validation-failed',
    '/related_records/0',
  )
  const related = await hub.call('acme', 'GET', pathOf(naming, '/related?depth=3'))
  expect(related.body).toMatchObject({ records: [{ record_id: naming, related_records: [id] }], edges: [] })
  expect((await hub.call('acme', 'POST', pathOf(naming, '/verify'))).body.verified).toBe(true)

  const events = await query(hub, 'acme', '?event_kind=hub.record_hard_deleted&verify=true')
  expect(events.records).toHaveLength(1)
  expect(events.records[0]).toMatchObject({
    subject: `record:${id}`,
    details: { record_type: 'decision', reason: 'Erasure request 17', actor: 'service:erasure' },
    verification: { verified: true },
  })
})

test('a record that was restored stays', async () => {
  const id = await write(hub, 'acme', decision)
  await purge(id)
  expect((await hub.call('acme', 'POST', pathOf(id, ':restore'))).status).toBe(200)
  time.step({ days: 31 })
  expect(await run()).toEqual({ erased: 0, held: 0 })
  expect((await hub.call('acme', 'GET', pathOf(id))).body.is_purged).toBe(false)
})

test('a hold keeps a record, and no other', async () => {
  const held = await write(hub, 'acme', { ...decision, decision_id: 'HELD' })
  const other = await write(hub, 'acme', decision)
  await purge(held)
  await purge(other)
  const hold = await hub.call('acme', 'POST', '/api/v1/hub/legal-holds', {
    body: { name: 'Case 17', reason: 'Court order', record_ids: [held] },
  })
  expect(hold.status, hold.text).toBe(201)
  time.step({ days: 31 })
  // Even if its clock had not stopped.
  await sql("update hub.record_states set hard_delete_after = '2020-01-01' where record_id = $1", [held])
  expect(await run()).toEqual({ erased: 1, held: 1 })
  expect([await isStored(held), await isStored(other)]).toEqual([true, false])

  await sql("update hub.record_states set hard_delete_after = '9999-12-31T23:59:59.999999Z' where record_id = $1", [
    held,
  ])
  await hub.call('acme', 'POST', `/api/v1/hub/legal-holds/${hold.body.hold_id}:release`, { body: { reason: 'Closed' } })
  expect(await run()).toEqual({ erased: 0, held: 0 })
  time.step({ days: 31 })
  expect(await run()).toEqual({ erased: 1, held: 0 })
})

test('a governance event goes if it was released when it was purged', async () => {
  const id = await write(hub, 'acme', governanceEvent)
  await hub.call('acme', 'POST', pathOf(id, '/legal-hold-releases'), {
    body: { reason: 'Old', expires_at: formatTimestamp(time.wallMs() + 60_000) },
  })
  await overdue(id)
  expect(await run()).toEqual({ erased: 1, held: 0 })
  expect(await isStored(id)).toBe(false)
})

test('what somebody wrote into the database erases nothing', async () => {
  const event = await write(hub, 'acme', governanceEvent)
  const record = await write(hub, 'acme', decision)
  for (const id of [event, record]) {
    await sql(
      `insert into hub.record_states (tenant_id, record_id, revision, purged_at, purged_by, purge_reason, hard_delete_after)
       values ('acme', $1, 1, '2020-01-01', 'me', 'x', '2020-02-01')`,
      [id],
    )
  }
  expect(await run()).toEqual({ erased: 0, held: 2 })
  expect([await isStored(event), await isStored(record)]).toEqual([true, true])
  // With the event of another record's purge neither.
  const other = await write(hub, 'acme', decision)
  await purge(other)
  await sql(
    `update hub.record_states s set event_id = o.event_id, purged_at = o.purged_at
     from hub.record_states o where s.record_id = $1 and o.record_id = $2`,
    [record, other],
  )
  expect(await run()).toEqual({ erased: 0, held: 2 })
  await sql('delete from hub.record_states where record_id = any($1)', [[event, record]])
})

test.each([
  ['over', "now() - interval '1 second'"],
  ['shorter', "hard_delete_after - interval '1 microsecond'"],
])('a buffer that somebody has made %s erases nothing before its event says so', async (_, end) => {
  // What earlier tests have purged.
  await run('2999-01-01T00:00:00.000000Z')
  const id = await write(hub, 'acme', decision)
  const { hard_delete_after: recoveryEnd } = await purge(id)
  await sql(`update hub.record_states set hard_delete_after = ${end} where record_id = $1`, [id])
  const before = hub.logLines.length
  expect(await run(recoveryEnd)).toEqual({ erased: 0, held: 1 })
  expect(await isStored(id)).toBe(true)
  expect(hub.logLines.slice(before).join('')).toContain(id)
  await sql('update hub.record_states set hard_delete_after = $2 where record_id = $1', [id, recoveryEnd])
  time.step({ days: 31 })
  expect(await run()).toEqual({ erased: 1, held: 0 })
})

test('an erasure before the recovery period was over is told as such', async () => {
  // What earlier tests have purged.
  await run('2999-01-01T00:00:00.000000Z')
  const id = await write(hub, 'acme', decision)
  const { hard_delete_after: recoveryEnd } = await purge(id)
  expect(await run(recoveryEnd)).toEqual({ erased: 1, held: 0 })
  const { body } = await hub.call('acme', 'GET', pathOf(id, '/deletion-certificate'))
  const keys = await hub.call('acme', 'GET', '/.well-known/provenance-keys.json', { token: null })
  const result = verifyDeletionCertificateSync(body, parseKeyDocument(keys.body, nodeCrypto.sha256), nodeCrypto)
  expect(result.failures).toEqual([
    {
      check: 'events_agree',
      detail: expect.stringContaining(`before its recovery period was over, at ${recoveryEnd}, as if it were`),
    },
  ])
})

test('a record that is not in the seal it names stays for somebody to look at', async () => {
  const id = await write(hub, 'acme', decision)
  await sql("update hub.records set salt = decode(repeat('00', 16), 'hex') where record_id = $1", [id])
  await overdue(id)
  const before = hub.logLines.length
  expect(await run()).toMatchObject({ held: 1 })
  expect(await isStored(id)).toBe(true)
  expect(hub.logLines.slice(before).join('')).toContain(id)
  await sql('delete from hub.record_states where record_id = $1', [id])
})

test('a record whose text was edited stays, so that figures take over nothing false', async () => {
  const id = await write(hub, 'acme', decision)
  await overdue(id)
  const text = `canonical = replace(canonical, 'approved', 'rejected')`
  expect((await sql(`update hub.records set ${text} where record_id = $1`, [id])).rowCount).toBe(1)
  expect(await run()).toEqual({ erased: 0, held: 1 })
  expect(await isStored(id)).toBe(true)
  await sql(`update hub.records set canonical = replace(canonical, 'rejected', 'approved') where record_id = $1`, [id])
  expect(await run()).toEqual({ erased: 1, held: 0 })
})

test('the event that tells of a purge stays as long as something rests on it', async () => {
  const id = await write(hub, 'acme', decision)
  await overdue(id)
  await run()
  const [event] = (await query(hub, 'acme', '?event_kind=hub.record_purged&sort=-created_at&limit=1')).records
  expect(event.subject).toBe(`record:${id}`)
  await hub.call('acme', 'POST', pathOf(event.record_id, '/legal-hold-releases'), { body: { reason: 'Old' } })
  await overdue(event.record_id)
  expect(await run()).toEqual({ erased: 0, held: 1 })
  const certificate = await hub.call('acme', 'GET', pathOf(id, '/deletion-certificate'))
  expect(certificate.body.events.purged.record_id).toBe(event.record_id)
  await sql('delete from hub.record_states where record_id = $1', [event.record_id])
})

test('the newest event about a row that lets somebody in stays, because the sweeper compares the two', async () => {
  const acme = await hub.tenant('acme')
  const scimPath = '/api/v1/identity/scim'
  const { body } = await hub.call('acme', 'POST', `${scimPath}/configure`, { body: { mode: 'push' } })
  expect((await hub.call('acme', 'POST', `${scimPath}:rotate-token`)).status).toBe(200)
  await hub.call('acme', 'POST', '/api/v1/roster/users', { body: { email: 'kim@acme.example', role: 'admin' } })
  const { records } = await query(hub, 'acme', '?record_type=governance_event&limit=1000')
  const isOfAccess = ({ subject, details }: { subject: string; details?: { change?: string } }) =>
    subject === `connection:${body.connection_id}` || details?.change === 'user_created'
  const events = records.filter(isOfAccess)
  expect(events).toHaveLength(3)
  for (const { record_id } of events) {
    await hub.call('acme', 'POST', pathOf(record_id, '/legal-hold-releases'), { body: { reason: 'Old' } })
    await overdue(record_id)
  }
  // The first of the two about the connection.
  expect(await run()).toEqual({ erased: 1, held: 2 })
  await hub.modules.hub.sweeper.sweep(acme)
  const reports = (await query(hub, 'acme', '?event_kind=hub.tamper_detected&limit=1000')).records
  const checks = reports.map(({ details }: { details: { failed_checks: string[] } }) => String(details.failed_checks))
  expect(checks).not.toContain('access_follows_events')
  for (const { record_id } of events) await sql('delete from hub.record_states where record_id = $1', [record_id])
})

test('answers to repeated requests are forgotten with what they name', async () => {
  const headers = { 'idempotency-key': 'once' }
  const { body } = await hub.call('acme', 'POST', recordsPath, { body: decision, headers })
  await hub.call('acme', 'POST', recordsPath, { body: decision, headers: { 'idempotency-key': 'other' } })
  const keys = async () => (await sql('select answer from hub.idempotency_keys', [])).rows
  expect(await keys()).toHaveLength(2)
  await overdue(body.record_id)
  await run()
  expect(await keys()).toHaveLength(1)
})

test('a version stays known when its skill_definition goes, without its name', async () => {
  const skill = {
    record_type: 'skill_definition',
    skill_id: 'translate',
    skill_version: '1.0.0',
    name: 'A secret name',
  }
  const id = await write(hub, 'acme', skill)
  await overdue(id)
  await run()
  const { body } = await hub.call('acme', 'GET', '/api/v1/skill-entitlement/skills')
  expect(body.items).toEqual([
    expect.objectContaining({ skill_id: 'translate', name: '', versions: [expect.objectContaining({ name: '' })] }),
  ])
})

test('what is too old by a retention rule is purged, and erased when its recovery period is over', async () => {
  const old = await write(hub, 'globex', decision)
  const held = await write(hub, 'globex', { ...decision, decision_actor_role: 'held' })
  const artifact = await write(hub, 'globex', { record_type: 'artifact', title: 'Stays' })
  time.step({ days: 11 })
  const young = await write(hub, 'globex', decision)
  const put = await hub.call('globex', 'PUT', '/api/v1/hub/retention-rules', {
    body: { rules: [{ record_type: 'decision', max_days: 10 }] },
  })
  expect(put.status, put.text).toBe(200)
  const hold = { name: 'Case', reason: 'x', record_ids: [held] }
  await hub.call('globex', 'POST', '/api/v1/hub/legal-holds', { body: hold })
  const { erasure } = hub.modules.hub
  const globex = await hub.tenant('globex')

  expect(await erasure.purgeOverdue(globex)).toBe(1)
  expect(await erasure.purgeOverdue(globex)).toBe(0)
  // What a hold keeps is found every hour, and left as it was.
  expect((await sql('select from hub.record_states where record_id = $1', [held])).rowCount).toBe(0)
  const states = await Promise.all(
    [old, held, artifact, young].map(async (id) => (await hub.call('globex', 'GET', pathOf(id))).body.is_purged),
  )
  expect(states).toEqual([true, false, false, false])
  const [event] = (await query(hub, 'globex', '?event_kind=hub.record_purged')).records
  expect(event).toMatchObject({ subject: `record:${old}`, details: { actor: 'service:retention' } })
  expect((await hub.call('globex', 'POST', pathOf(old, '/verify'))).body).toMatchObject({ verified: true })
  time.step({ days: 31 })
  expect(await erasure.run(globex)).toEqual({ erased: 1, held: 0 })
})

test('erasures are done again after a backup was restored', async () => {
  const [plain, held, released] = [
    await write(hub, 'acme', decision),
    await write(hub, 'acme', decision),
    await write(hub, 'acme', decision),
  ]
  const ids = [plain, held, released]
  const hold = async (id: string) => {
    const answer = await hub.call('acme', 'POST', '/api/v1/hub/legal-holds', {
      body: { name: 'Case', reason: 'x', record_ids: [id] },
    })
    return answer.body.hold_id as string
  }
  const before = await hold(released)
  await sql('create table public.backup as select * from hub.records where record_id = any($1)', [ids])
  await hub.call('acme', 'POST', `/api/v1/hub/legal-holds/${before}:release`, { body: { reason: 'Closed' } })
  for (const id of ids) await purge(id, 'Request 18')
  time.step({ days: 31 })
  expect(await run()).toMatchObject({ erased: 3 })

  await sql('insert into hub.records select * from public.backup', [])
  await sql('delete from hub.tombstones where record_id = any($1)', [ids])
  await sql('update hub.legal_holds set released_at = null, released_by = null where hold_id = $1', [before])
  expect((await hub.call('acme', 'GET', pathOf(plain))).body.is_purged).toBe(false)
  await hold(held)

  const list = createErasureJournal(hub.modules.storage)
  const acme = await hub.tenant('acme')
  expect(await hub.modules.hub.erasure.reapply(acme, list.read('acme'))).toBe(2)
  expect([await isStored(plain), await isStored(held), await isStored(released)]).toEqual([false, true, false])
  expect(await hub.modules.hub.erasure.reapply(acme, list.read('acme'))).toBe(0)
  expect(await hub.modules.hub.erasure.reapply(await hub.tenant('globex'), list.read('globex'))).toBe(0)
  const certificate = await hub.call('acme', 'GET', pathOf(plain, '/deletion-certificate'))
  expect(certificate.body).toMatchObject({
    purge_reason: 'Request 18',
    events: { erased: { details: { repeated: true } } },
  })
})

test('however many purges nothing proves, a run has one line for them in the log', async () => {
  const ids: string[] = []
  for (let count = 0; count < 12; count++) ids.push(await write(hub, 'acme', decision))
  await sql(
    `insert into hub.record_states (tenant_id, record_id, revision, purged_at, purged_by, purge_reason, hard_delete_after)
     select 'acme', id, 1, now(), 'client-1', 'forged', now() from unnest($1::uuid[]) id`,
    [ids],
  )
  const linesOf = () =>
    hub.logLines.map((line) => JSON.parse(line)).filter(({ msg }) => /has no governance event/.test(msg))
  const before = linesOf().length
  const { held } = await run()
  expect(held).toBeGreaterThanOrEqual(12)
  const [line, ...more] = linesOf().slice(before)
  expect(more).toEqual([])
  expect(line).toMatchObject({ tenant: 'acme', records: expect.any(Number), first: expect.any(Array) })
  expect(line.records).toBeGreaterThanOrEqual(12)
  expect(line.first).toHaveLength(10)
  await sql('delete from hub.record_states where record_id = any($1)', [ids])
})
