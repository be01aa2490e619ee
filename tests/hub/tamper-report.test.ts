import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Caller, Tenant } from '../../server/http/caller.ts'
import type { TamperFinding } from '../../server/modules/verification/verification-types.ts'
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

const reportsOf = (id: string) => reportsAbout(`record:${id}`)

async function reportsAbout(subject: string) {
  await lab.tampering.settled()
  const { records } = await lab.reading.query(caller, { event_kind: 'hub.tamper_detected', limit: 1000 })
  return records.filter((record) => record.subject === subject)
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

describe('findings about one subject on one day', () => {
  const found = { table: 'hub.users' }
  const findingOf = (subject: string, ...failedChecks: string[]) => ({ subject, failedChecks, found, service: 'test' })

  async function reportTwice(...findings: TamperFinding[]): Promise<void> {
    for (const reporter of [lab.reporterOfAnotherProcess(), lab.reporterOfAnotherProcess()]) {
      reporter.report(acme, findings)
      await reporter.settled()
    }
  }

  test('are reported once for each set of failed checks and each table', async () => {
    const user = (...checks: string[]) => findingOf('user:usr_1', ...checks)
    await reportTwice(
      user('access_proven'),
      user('access_follows_events'),
      user('access_proven', 'access_follows_events'),
      user('access_follows_events', 'access_proven'),
      { ...user('access_proven'), found: { table: 'hub.users', event: 'another' } },
      { ...user('access_proven'), found: { table: 'hub.user_identities' } },
    )
    expect((await reportsAbout('user:usr_1')).map(({ details }) => details)).toMatchObject([
      { failed_checks: ['access_proven'], found: { table: 'hub.users' } },
      { failed_checks: ['access_follows_events'] },
      { failed_checks: ['access_proven', 'access_follows_events'] },
      { failed_checks: ['access_proven'], found: { table: 'hub.user_identities' } },
    ])
  })

  test('are reported once in all if the subject is a record', async () => {
    const id = await writeTampered()
    const findings = [findingOf(`record:${id}`, 'record_in_log'), findingOf(`record:${id}`, 'state_follows_events')]
    await reportTwice(...findings, { recordId: id, failedChecks: ['provenance_hash_matches'] })
    expect(await reportsOf(id)).toHaveLength(1)
  })

  test('are reported although a claim names the report of another kind', async () => {
    await reportTwice(findingOf('user:usr_2', 'access_proven'), findingOf('user:usr_2', 'access_follows_events'))
    const [first, second] = await reportsAbout('user:usr_2')
    const superuser = await lab.superuserClient()
    const ids = [first?.record_id, second?.record_id]
    await superuser.query('update hub.tamper_reports set event_id = $1 where event_id = $2', ids)
    await reportTwice(findingOf('user:usr_2', 'access_proven'), findingOf('user:usr_2', 'access_follows_events'))
    expect((await reportsAbout('user:usr_2')).map(({ details }) => details)).toMatchObject([
      { failed_checks: ['access_proven'] },
      { failed_checks: ['access_follows_events'] },
      { failed_checks: ['access_follows_events', 'report_proven'], found: { claimed_event: first?.record_id } },
    ])
  })
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

test('claims of reports are forgotten after two days, and the reports are not', async () => {
  const id = await writeTampered()
  await lab.reading.verify(caller, id)
  expect(await reportsOf(id)).toHaveLength(1)
  const claims = async () => {
    const superuser = await lab.superuserClient()
    const { rows } = await superuser.query('select reported_on from hub.tamper_reports where record_id = $1', [id])
    return rows.length
  }
  const forget = () => lab.database.withTenant(acme.slug, (tx) => lab.tampering.deleteOldClaims(tx))
  now += 2 * 24 * 3_600_000
  expect(await forget()).toBe(false)
  expect(await claims()).toBe(1)
  now += 24 * 3_600_000
  expect(await lab.database.withTenant('globex', (tx) => lab.tampering.deleteOldClaims(tx))).toBe(false)
  expect(await claims()).toBe(1)
  await forget()
  expect(await claims()).toBe(0)
  expect(await reportsOf(id)).toHaveLength(1)
})

test('what is too much to wait is left out, and reported when it is found again', async () => {
  const ids = [await writeTampered(), await writeTampered(), await writeTampered()]
  const findings = ids.map((recordId) => ({ recordId, failedChecks: ['provenance_hash_matches'] }))
  const lines: string[] = []
  const log = { error: (_details: object, message: string) => void lines.push(message) }
  const reporter = lab.reporterOfAnotherProcess({ waitingMax: 2, log })
  reporter.report(acme, findings)
  await reporter.settled()
  expect((await Promise.all(ids.map(reportsOf))).map((reports) => reports.length)).toEqual([1, 1, 0])
  expect(lines).toEqual(['stored data was tampered with', 'too many tamper alerts at once; the next reads report them'])
  reporter.report(acme, findings)
  reporter.report(acme, findings)
  await reporter.settled()
  expect((await Promise.all(ids.map(reportsOf))).map((reports) => reports.length)).toEqual([1, 1, 1])
})

test('a report that fails does not hold back the others, and is made when it is found again', async () => {
  const [first, second] = [await writeTampered(), await writeTampered()]
  const failedChecks = ['provenance_hash_matches']
  const lines: string[] = []
  const log = { error: (_details: object, message: string) => void lines.push(message) }
  const reporter = lab.reporterOfAnotherProcess({ log })
  reporter.report(acme, [
    { recordId: 'no id', failedChecks },
    { recordId: first, failedChecks },
  ])
  reporter.report(acme, [{ recordId: second, failedChecks }])
  await reporter.settled()
  expect(lines).toEqual([
    'stored data was tampered with',
    'stored data was tampered with',
    'tampering could not be reported',
  ])
  expect(await reportsOf(first)).toHaveLength(1)
  expect(await reportsOf(second)).toHaveLength(1)
})

describe('a claim that somebody wrote, so that nothing is reported', () => {
  const failedChecks = ['provenance_hash_matches']
  const today = () => new Date(now).toISOString().slice(0, 10)
  let superuser: pg.Client

  beforeAll(async () => {
    superuser = await lab.superuserClient()
  })

  const claim = (id: string, eventId: string | null) =>
    superuser.query(
      `insert into hub.tamper_reports select 'acme', $1, day, $3 from generate_series($2::date, $2::date + 400, '1 day') day`,
      [id, today(), eventId],
    )

  async function expectReportedAnyway(id: string, eventId: string | null): Promise<string> {
    await lab.reading.verify(caller, id)
    const reports = await reportsOf(id)
    expect(reports.at(-1)).toMatchObject({
      details: {
        failed_checks: [...failedChecks, 'report_proven'],
        reported_on: today(),
        found: { claimed_event: eventId },
        actor: 'service:verification',
      },
    })
    // The claim names the report now: another process does not make it again.
    const count = reports.length
    const reporter = lab.reporterOfAnotherProcess({ now: () => now })
    reporter.report(acme, [{ recordId: id, failedChecks }])
    await reporter.settled()
    expect(await reportsOf(id)).toHaveLength(count)
    return String(reports.at(-1)?.record_id)
  }

  test('in advance, for days to come', async () => {
    const id = await writeTampered()
    await claim(id, null)
    await expectReportedAnyway(id, null)
    now += 24 * 3_600_000
    await expectReportedAnyway(id, null)
  })

  test('with an event that there is not', async () => {
    const id = await writeTampered()
    await claim(id, id.replace(/.{12}$/, 'feedfeedfeed'))
    await expectReportedAnyway(id, id.replace(/.{12}$/, 'feedfeedfeed'))
  })

  test('with a record that is no report', async () => {
    const id = await writeTampered()
    await claim(id, id)
    await expectReportedAnyway(id, id)
  })

  test('with the report of another record, or of another day', async () => {
    const other = await writeTampered()
    await lab.reading.verify(caller, other)
    const [report] = await reportsOf(other)
    const id = await writeTampered()
    await claim(id, String(report?.record_id))
    await expectReportedAnyway(id, String(report?.record_id))
    now += 24 * 3_600_000
    await claim(other, String(report?.record_id))
    await expectReportedAnyway(other, String(report?.record_id))
  })

  test('with a report that was edited itself', async () => {
    for (const edit of [`canonical = replace(canonical, 'mallory', 'alice')`, `created_by = 'x'`, `salt = ''`]) {
      const id = await writeTampered()
      const reporter = lab.reporterOfAnotherProcess({ now: () => now })
      reporter.report(acme, [{ recordId: id, failedChecks: ['mallory'] }])
      await reporter.settled()
      const [report] = await reportsOf(id)
      await superuser.query(`update hub.records set ${edit} where record_id = $1`, [report?.record_id])
      await expectReportedAnyway(id, String(report?.record_id))
    }
  })

  test('processes that come to it at the same time report it once', async () => {
    const id = await writeTampered()
    await claim(id, null)
    const reporters = Array.from({ length: 4 }, () => lab.reporterOfAnotherProcess({ now: () => now }))
    for (const reporter of reporters) reporter.report(acme, [{ recordId: id, failedChecks }])
    await Promise.all(reporters.map((reporter) => reporter.settled()))
    expect(await reportsOf(id)).toHaveLength(1)
  })

  test('each process has a line in its log, whoever has made the report', async () => {
    const id = await writeTampered()
    await lab.reading.verify(caller, id)
    expect(await reportsOf(id)).toHaveLength(1)
    const lines: object[] = []
    const log = { error: (details: object, message: string) => void lines.push({ ...details, message }) }
    const reporter = lab.reporterOfAnotherProcess({ log, now: () => now })
    for (let time = 0; time < 3; time++) {
      reporter.report(acme, [{ recordId: id, failedChecks }])
      await reporter.settled()
    }
    expect(await reportsOf(id)).toHaveLength(1)
    const first = [{ subject: `record:${id}`, failed_checks: failedChecks }]
    expect(lines).toEqual([{ tenant: 'acme', findings: 1, first, message: 'stored data was tampered with' }])
  })
})
