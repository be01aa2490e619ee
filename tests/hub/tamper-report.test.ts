import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Caller, Tenant } from '../../server/http/caller.ts'
import { callerOf, decision, openRecordLab, type RecordLab } from './record-lab.ts'

let lab: RecordLab
let acme: Tenant
let caller: Caller
let now = Date.parse('2026-03-14T23:59:00Z')

beforeAll(async () => {
  lab = await openRecordLab({ now: () => now })
  acme = await lab.openTenant('acme')
  caller = callerOf(acme)
})

afterAll(() => lab.drop())

async function writeTampered(): Promise<string> {
  const [id] = await lab.write(acme, decision('subject'))
  const superuser = await lab.superuserClient()
  await superuser.query(`update hub.records set created_by = 'mallory' where record_id = $1`, [id])
  return id!
}

async function reportsOf(id: string) {
  await lab.tampering.settled()
  const { records } = await lab.reading.query(caller, { event_kind: 'hub.tamper_detected', limit: 1000 })
  return records.filter((record) => record.subject === `record:${id}`)
}

test('a failed verification is reported once for the record and the day, however it is found', async () => {
  const id = await writeTampered()
  await lab.reading.get(caller, id, false)
  expect(await reportsOf(id)).toEqual([])

  await Promise.all([
    lab.reading.get(caller, id, true),
    lab.reading.verify(caller, id),
    lab.reading.query(caller, { record_id: id, verify: true }),
  ])
  await lab.reading.verify(caller, id)
  const reports = await reportsOf(id)
  expect(reports).toHaveLength(1)
  expect(reports[0]).toMatchObject({
    record_type: 'governance_event',
    created_by: 'service:hub',
    details: { failed_checks: ['provenance_hash_matches'], actor: 'service:verification' },
  })
  expect((await lab.reading.verify(caller, String(reports[0]?.record_id))).verified).toBe(true)

  now += 60_000
  await lab.reading.verify(caller, id)
  expect(await reportsOf(id)).toHaveLength(2)
})

test('two processes that find it at the same time report it once', async () => {
  const id = await writeTampered()
  const reporters = Array.from({ length: 4 }, () => lab.reporterOfAnotherProcess())
  for (const reporter of reporters) reporter.report(acme, [{ recordId: id, failedChecks: ['provenance_hash_matches'] }])
  await Promise.all(reporters.map((reporter) => reporter.settled()))
  expect(await reportsOf(id)).toHaveLength(1)
})

test('the read does not wait for the report', async () => {
  const id = await writeTampered()
  const superuser = await lab.superuserClient()
  await superuser.query('begin')
  await superuser.query('lock table hub.tamper_reports in access exclusive mode')
  expect((await lab.reading.verify(caller, id)).verified).toBe(false)
  await superuser.query('commit')
  expect(await reportsOf(id)).toHaveLength(1)
})
