import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Caller, Tenant } from '../../server/http/caller.ts'
import { firstHoldCursor, HoldSweep } from '../../server/modules/integrity-sweep/hold-sweep.ts'
import { holdEvents } from '../../server/modules/legal-holds/hold-events.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { callerOf, decision, openRecordLab, type RecordLab } from './record-lab.ts'

/** Holds, releases and rules that somebody writes into the database: what keeps records counts, what lets them go does not. */

let lab: RecordLab
let db: pg.Client
let time: FakeClock
let tenant: Tenant
let caller: Caller
let count = 0

beforeAll(async () => {
  time = fakeClock()
  lab = await openRecordLab({ time })
  db = await lab.superuserClient()
})

beforeEach(async () => {
  count += 1
  tenant = await lab.openTenant(`tenant-${count}`)
  caller = callerOf(tenant)
})

afterAll(async () => {
  await lab.tampering.settled()
  await lab.drop()
})

const other = (): Caller => ({ ...caller, subject: 'client-2', clientId: 'client-2' })
const matter = { name: 'Case 17', reason: 'Litigation' }
const reason = 'x'

async function written(): Promise<string> {
  const [id] = await lab.write(tenant, decision('a'))
  return id!
}

async function writtenEvent(): Promise<string> {
  const [id] = await lab.write(tenant, {
    recordType: 'governance_event',
    fields: { event_kind: 'custom.x', subject: 'x' },
  })
  return id!
}

async function change(sql: string, ...values: unknown[]): Promise<void> {
  const { rowCount } = await db.query(sql, values)
  expect(rowCount, sql).toBeGreaterThan(0)
}

const purge = (id: string, by = caller) => lab.purger.purge(by, id, { reason })
const expectHeld = (id: string, by?: Caller) => expect(purge(id, by)).rejects.toMatchObject({ slug: 'legal-hold' })
const isPurged = async (id: string) => (await lab.reading.get(caller, id, false)).record.is_purged

/** What the sweeper says: subjects, and what should be so. */
async function swept(): Promise<Record<string, string[]>> {
  const sweep = new HoldSweep({ ...lab, holdEvents, retention: lab.retentionPolicy })
  const findings = []
  for (let cursor = firstHoldCursor; ; ) {
    const step = await sweep.step(tenant, cursor)
    findings.push(...step.findings)
    if (step.isRoundOver)
      return Object.fromEntries(findings.map(({ subject, failedChecks }) => [subject, failedChecks]))
    cursor = step.cursor
  }
}

describe('a hold', () => {
  test.each([
    ['that names the record', (id: string) => ({ record_ids: [id] })],
    ['with a filter', (id: string) => ({ filter: { record_id: id } })],
  ])('%s, ended by hand, holds on until it is released', async (_, scope) => {
    const [id, frozen] = [await written(), await written()]
    await purge(frozen)
    const { hold_id } = await lab.holds.place(caller, { ...matter, ...scope(id) })
    // An end of another hold, which was genuine.
    const past = await lab.holds.place(caller, { ...matter, ...scope(id) })
    await lab.holds.release(caller, past.hold_id, reason)
    for (const event of [
      'null',
      'event_id',
      `(select release_event_id from hub.legal_holds where hold_id = '${past.hold_id}')`,
    ]) {
      await change(
        `update hub.legal_holds set released_at = created_at + interval '1 millisecond', released_by = 'client-1',
           release_reason = 'x', release_event_id = ${event} where hold_id = $1`,
        hold_id,
      )
      await expectHeld(id)
      expect(await swept()).toEqual({ [`hold:${hold_id}`]: ['hold_end_proven'] })
    }
    await lab.holds.release(caller, hold_id, reason)
    expect(await swept()).toEqual({})
    await purge(id)
  })

  test('ended by hand, keeps what it froze; so does the release of another hold', async () => {
    const id = await written()
    await purge(id)
    const scope = { filter: { record_id: id } }
    const [one, another] = [
      await lab.holds.place(caller, { ...matter, ...scope }),
      await lab.holds.place(caller, { ...matter, ...scope }),
    ]
    await change('update hub.legal_holds set released_at = created_at where hold_id = $1', one.hold_id)
    await lab.holds.release(caller, another.hold_id, reason)
    const left = 'select buffer_left_micros is not null as frozen from hub.record_states where record_id = $1'
    expect((await db.query(left, [id])).rows).toEqual([{ frozen: true }])
  })

  test('that somebody deleted, edited or put in is found', async () => {
    const [id, second] = [await written(), await written()]
    const place = () => lab.holds.place(caller, { ...matter, record_ids: [id, second] })
    const filtered = () => lab.holds.place(caller, { ...matter, filter: { record_id: id } })
    const deleted = await place()
    await change('delete from hub.legal_holds where hold_id = $1', deleted.hold_id)
    const expected: Record<string, string[]> = { [`hold:${deleted.hold_id}`]: ['hold_present'] }
    expect(await swept()).toEqual(expected)
    for (const edit of [
      `name = 'another'`,
      `reason = 'another'`,
      `created_by = 'another'`,
      `created_at = created_at + interval '1 microsecond'`,
      `created_at = 'infinity'`,
      `filter = '{"record_type":["artifact"]}', record_count = null`,
      'event_id = null',
    ]) {
      const { hold_id } = await place()
      await change(`update hub.legal_holds set ${edit} where hold_id = $1`, hold_id)
      expected[`hold:${hold_id}`] = ['hold_proven']
      expect(await swept(), edit).toEqual(expected)
    }
    for (const edit of [
      `filter = '{"record_type":["artifact"]}'`,
      `filter = '[]'`,
      'filter = null, record_count = 0',
    ]) {
      const { hold_id } = await filtered()
      await change(`update hub.legal_holds set ${edit} where hold_id = $1`, hold_id)
      expected[`hold:${hold_id}`] = ['hold_proven']
      expect(await swept(), edit).toEqual(expected)
    }
    const swapped = await place()
    await change(
      'update hub.legal_hold_records set record_id = gen_random_uuid() where hold_id = $1 and record_id = $2',
      swapped.hold_id,
      id,
    )
    expected[`hold:${swapped.hold_id}`] = ['hold_proven']
    const begun = await place()
    await lab.holds.release(caller, begun.hold_id, reason)
    await change('update hub.legal_holds set released_at = null where hold_id = $1', begun.hold_id)
    expected[`hold:${begun.hold_id}`] = ['hold_end_present']
    expect(await swept()).toEqual(expected)
    const forged = '019a0000-0000-7000-8000-00000000beef'
    await change(
      `insert into hub.legal_holds (tenant_id, hold_id, name, reason, filter, created_at, created_by)
       values ($1, $2, 'x', 'x', '{}', now(), 'x')`,
      tenant.slug,
      forged,
    )
    expect(await swept()).toEqual({ ...expected, [`hold:${forged}`]: ['hold_proven'] })
    // It keeps records all the same.
    await expectHeld(id)
  })

  test('in pages', async () => {
    const id = await written()
    for (let at = 0; at < 3; at += 1) await lab.holds.place(caller, { ...matter, record_ids: [id] })
    // As many records as one step reads are in the first alone.
    await change('update hub.legal_holds set record_count = 30000 where tenant_id = $1', tenant.slug)
    expect(Object.values(await swept())).toEqual([['hold_proven'], ['hold_proven'], ['hold_proven']])
  })
})

describe('a release of a governance event', () => {
  test('that was put in or edited does not let it go', async () => {
    const id = await writtenEvent()
    const genuine = await writtenEvent()
    await lab.releases.create(caller, genuine, { reason, expires_at: '2099-01-01T00:00:00.000000Z' })
    for (const event of ['null', `(select event_id from hub.legal_hold_releases where record_id = '${genuine}')`]) {
      await change(
        `insert into hub.legal_hold_releases (tenant_id, release_id, record_id, reason, created_at, created_by, event_id)
         values ($1, gen_random_uuid(), $2, 'x', '2026-01-01Z', 'client-1', ${event})`,
        tenant.slug,
        id,
      )
    }
    await expectHeld(id)
    expect(await swept()).toEqual({ [`record:${id}`]: ['release_proven'] })
    await change('delete from hub.legal_hold_releases where record_id = $1', id)
    await change('update hub.legal_hold_releases set expires_at = null where record_id = $1', genuine)
    await expectHeld(genuine)
    expect(await swept()).toEqual({ [`record:${genuine}`]: ['release_proven'] })
    await change('delete from hub.legal_hold_releases where record_id = $1', genuine)
    expect(await swept()).toEqual({ [`record:${genuine}`]: ['release_present'] })
  })

  test('from before they named their events gets its event by the migration', async () => {
    const [id, another] = [await writtenEvent(), await writtenEvent()]
    await lab.releases.create(caller, id, { reason: 'of "release_id":"x"' })
    await lab.releases.create(caller, another, { reason })
    const events = async () =>
      (
        await db.query('select event_id from hub.legal_hold_releases where tenant_id = $1 order by release_id', [
          tenant.slug,
        ])
      ).rows
    const before = await events()
    await change('update hub.legal_hold_releases set event_id = null where tenant_id = $1', tenant.slug)
    await expectHeld(id)
    const file = join(import.meta.dirname, '../../server/db/migrations/0008-governance.sql')
    const statement = /^update hub\.legal_hold_releases [^;]+;/m.exec(await readFile(file, 'utf8'))
    await change(statement![0])
    expect(await events()).toEqual(before)
    expect(await swept()).toEqual({})
    await purge(id)
  })

  test('that is gone after the purge, or never told of, is a violation, and nothing is erased', async () => {
    const id = await writtenEvent()
    await lab.releases.create(caller, id, { reason })
    await purge(id)
    const verify = async () => (await lab.reading.verify(caller, id)).checks.no_active_legal_hold_violation
    expect(await verify()).toBe(true)
    await change('update hub.legal_hold_releases set event_id = null where record_id = $1', id)
    expect(await verify()).toBe(false)
    time.step({ days: 31 })
    expect(await lab.erasure.run(tenant)).toEqual({ erased: 0, held: 1 })
  })

  test('is not erased, nor are other events, while something rests on it', async () => {
    const id = await written()
    const { hold_id } = await lab.holds.place(caller, { ...matter, record_ids: [id] })
    await lab.holds.release(caller, hold_id, reason)
    await lab.releases.create(caller, await writtenEvent(), { reason })
    await lab.retention.replace(caller, { rules: [{ record_type: 'decision', max_days: 10 }] })
    await lab.retention.replace(caller, { rules: [{ record_type: 'decision', max_days: 20 }] })
    const kinds = `event_kind in ('hub.legal_hold_applied', 'hub.legal_hold_released', 'tenant.config_changed')`
    const { rows } = await db.query(`select record_id from hub.records where tenant_id = $1 and ${kinds}`, [
      tenant.slug,
    ])
    expect(rows).toHaveLength(5)
    for (const { record_id } of rows) {
      await lab.releases.create(caller, record_id, { reason })
      await purge(record_id)
    }
    time.step({ days: 31 })
    // The rules that were replaced.
    expect(await lab.erasure.run(tenant)).toEqual({ erased: 1, held: 4 })
    expect(await swept()).toEqual({})
  })
})

describe('retention rules', () => {
  const rule = (max_days: number) => ({ rules: [{ record_type: 'decision' as const, max_days }] })
  const purgeOverdue = () => lab.erasure.purgeOverdue(tenant)

  test('that were put in, edited or set back purge nothing', async () => {
    const id = await written()
    time.step({ days: 2 })
    await change(`insert into hub.retention_rules values ($1, 'decision', null, 0)`, tenant.slug)
    expect(await purgeOverdue()).toBe(0)
    expect(await swept()).toEqual({ [`tenant:${tenant.slug}`]: ['retention_proven'] })

    await lab.retention.replace(caller, rule(1))
    const { rows } = await db.query('select event_id from hub.retention_settings where tenant_id = $1', [tenant.slug])
    await lab.retention.replace(caller, rule(100))
    expect(await swept()).toEqual({})
    await change('update hub.retention_rules set max_days = 1 where tenant_id = $1', tenant.slug)
    expect(await purgeOverdue()).toBe(0)
    expect(await swept()).toEqual({ [`tenant:${tenant.slug}`]: ['retention_proven'] })
    // Rules that were in force once, with their event.
    await change('update hub.retention_settings set event_id = $2 where tenant_id = $1', tenant.slug, rows[0].event_id)
    expect(await purgeOverdue()).toBe(0)
    expect(await swept()).toEqual({ [`tenant:${tenant.slug}`]: ['retention_proven'] })
    await change('delete from hub.retention_rules where tenant_id = $1', tenant.slug)
    await change('delete from hub.retention_settings where tenant_id = $1', tenant.slug)
    expect(await swept()).toEqual({ [`tenant:${tenant.slug}`]: ['retention_proven'] })
    expect(await isPurged(id)).toBe(false)
  })

  test('that somebody confirms by the API count', async () => {
    await written()
    time.step({ days: 2 })
    await change(`insert into hub.retention_rules values ($1, 'decision', null, 0)`, tenant.slug)
    await lab.retention.replace(caller, rule(0))
    expect(await swept()).toEqual({})
    expect(await purgeOverdue()).toBe(1)
  })

  test('that were taken away by hand keep on', async () => {
    const id = await written()
    await lab.retention.replace(caller, { rules: [{ record_type: 'decision', min_days: 10 }], four_eyes: true })
    await change('delete from hub.retention_rules where tenant_id = $1', tenant.slug)
    await expect(purge(id)).rejects.toMatchObject({ slug: 'retention' })
    await change('update hub.retention_settings set four_eyes = false where tenant_id = $1', tenant.slug)
    const { hold_id } = await lab.holds.place(caller, { ...matter, record_ids: [id] })
    await lab.holds.release(caller, hold_id, reason)
    await expectHeld(id)
  })
})

describe('four eyes', () => {
  const fourEyes = (four_eyes: boolean, by = caller) => lab.retention.replace(by, { rules: [], four_eyes })

  async function releasedRecord(): Promise<string> {
    const id = await written()
    const { hold_id } = await lab.holds.place(caller, { ...matter, record_ids: [id] })
    await lab.holds.release(caller, hold_id, reason)
    return id
  }

  test('stay over what was released under them', async () => {
    await fourEyes(true)
    const [id, event] = [await releasedRecord(), await writtenEvent()]
    await lab.releases.create(caller, event, { reason })
    await fourEyes(false)
    await expectHeld(id)
    await expectHeld(event)
    await purge(id, other())
    await purge(event, other())
    // What was released without them, its releaser may purge.
    await purge(await releasedRecord())
  })

  test('are those of the author of a rule, too', async () => {
    await fourEyes(true)
    const [id, free] = [await releasedRecord(), await written()]
    time.step({ days: 1 })
    const rules = [{ record_type: 'decision' as const, max_days: 0 }]
    await lab.retention.replace(caller, { rules })
    expect(await lab.erasure.purgeOverdue(tenant)).toBe(1)
    expect([await isPurged(id), await isPurged(free)]).toEqual([false, true])
    await lab.retention.replace(other(), { rules: [{ record_type: 'decision' as const, max_days: 1 }] })
    time.step({ days: 1 })
    expect(await lab.erasure.purgeOverdue(tenant)).toBe(1)
    expect(await isPurged(id)).toBe(true)
  })

  test('are needed to release what one has purged, or had purged by a rule', async () => {
    await fourEyes(true)
    const id = await written()
    await purge(id)
    for (const scope of [{ record_ids: [id] }, { filter: { record_id: id } }]) {
      const { hold_id } = await lab.holds.place(other(), { ...matter, ...scope })
      await expect(lab.holds.release(caller, hold_id, reason)).rejects.toMatchObject({ slug: 'legal-hold' })
      await lab.holds.release(other(), hold_id, reason)
    }
    const overdue = await written()
    time.step({ days: 1 })
    await lab.retention.replace(caller, { rules: [{ record_type: 'decision', max_days: 0 }] })
    expect(await lab.erasure.purgeOverdue(tenant)).toBe(1)
    const { hold_id } = await lab.holds.place(other(), { ...matter, record_ids: [overdue] })
    await expect(lab.holds.release(caller, hold_id, reason)).rejects.toMatchObject({ slug: 'legal-hold' })
    await lab.holds.release(other(), hold_id, reason)
  })
})
