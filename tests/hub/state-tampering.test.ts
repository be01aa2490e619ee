import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Caller, Tenant } from '../../server/http/caller.ts'
import { callerOf, decision, openRecordLab, type RecordLab } from './record-lab.ts'

/** What somebody with the database in their hands does to the states of records, which are no part of what is sealed. */

let lab: RecordLab
let superuser: pg.Client
let acme: Tenant
let caller: Caller

beforeAll(async () => {
  lab = await openRecordLab()
  superuser = await lab.superuserClient()
  acme = await lab.openTenant('acme')
  caller = callerOf(acme)
})

afterAll(async () => {
  await lab.tampering.settled()
  await lab.drop()
})

async function written(): Promise<string> {
  const [id] = await lab.write(acme, decision('a'))
  return id!
}

async function purged(): Promise<string> {
  const id = await written()
  await lab.purger.purge(caller, id, { reason: 'entered twice' })
  return id
}

async function restored(): Promise<string> {
  const id = await purged()
  await lab.purger.restore(caller, id, {})
  return id
}

const checksOf = async (id: string) => (await lab.reading.verify(caller, id)).checks

async function expectDisagreeing(id: string, sql: string): Promise<void> {
  const { rowCount } = await superuser.query(sql.replaceAll('$1', `'${id}'`))
  expect(rowCount, sql).toBe(1)
  expect(await checksOf(id), sql).toMatchObject({ provenance_hash_matches: false })
  const page = await lab.reading.query(caller, { record_id: id, include_purged: true, verify: true })
  expect(page.verification_summary, sql).toMatchObject({ checked: 1, verified: 0, tampered: 1 })
}

const state = (assignments: string) => `update hub.record_states set ${assignments} where record_id = $1`
const event = (assignments: string) =>
  `update hub.records set ${assignments} where record_id = (select event_id from hub.record_states where record_id = $1)`

test('purged and restored records verify, one by one and on a page', async () => {
  const ids = [await purged(), await restored(), await written()]
  for (const id of ids) expect((await lab.reading.verify(caller, id)).verified).toBe(true)
  const page = await lab.reading.query(caller, { record_type: 'decision', include_purged: true, verify: true })
  expect(page.verification_summary).toEqual({ checked: 3, verified: 3, tampered: 0, cosign_invalid: 0 })
})

describe('the state of a purged record', () => {
  test.each([
    state(`purged_at = purged_at + interval '1 microsecond'`),
    state(`purged_at = purged_at - interval '1 day'`),
    state(`purged_by = 'somebody else'`),
    state(`purge_reason = 'another'`),
    state('purge_reason = null'),
    state('revision = revision + 1'),
    state(`hard_delete_after = hard_delete_after - interval '1 microsecond'`),
    state('hard_delete_after = null'),
    state('event_id = null'),
    state('event_id = record_id'),
    state(`event_id = gen_random_uuid()`),
    state('purged_at = null, purged_by = null, purge_reason = null, hard_delete_after = null'),
    event(`canonical = replace(canonical, 'entered twice', 'entered once')`),
    event(`event_kind = 'hub.record_restored'`),
    event(`seal_id = gen_random_uuid()`),
    `delete from hub.records where record_id = (select event_id from hub.record_states where record_id = $1)`,
  ])('%s', async (sql) => expectDisagreeing(await purged(), sql))

  test('the event of another purge', async () => {
    const [id, other] = [await purged(), await purged()]
    const its = `(select event_id from hub.record_states where record_id = '${other}')`
    await expectDisagreeing(id, state(`event_id = ${its}`))
    await expectDisagreeing(
      await written(),
      `insert into hub.record_states select tenant_id, $1, revision, purged_at, purged_by, purge_reason, hard_delete_after,
         event_id, buffer_left_micros from hub.record_states where record_id = '${other}'`,
    )
  })

  test('an event that a client wrote to look like one', async () => {
    const id = await written()
    const [forged] = await lab.write(acme, {
      recordType: 'governance_event',
      fields: {
        event_kind: 'hub.record_purged',
        subject: `record:${id}`,
        details: { actor: 'client-1', purged_at: '2026-01-01T00:00:00.000000Z', reason: 'x' },
      },
    })
    await expectDisagreeing(
      id,
      `insert into hub.record_states values
         ('acme', $1, 1, '2026-01-01Z', 'client-1', 'x', now() + interval '30 days', '${forged}')`,
    )
  })
})

describe('the state of another record', () => {
  test('a restored one purged again by hand', async () => {
    const id = await restored()
    await expectDisagreeing(id, state(`purged_at = now(), hard_delete_after = now() + interval '30 days'`))
    await expectDisagreeing(await restored(), state('revision = 7'))
    await expectDisagreeing(await restored(), state('event_id = null'))
  })

  test('one that was never purged', async () => {
    await expectDisagreeing(
      await written(),
      `insert into hub.record_states (tenant_id, record_id, revision, purged_at, hard_delete_after)
       values ('acme', $1, 0, now(), now() + interval '30 days')`,
    )
  })
})

describe('holds at the time of a purge', () => {
  const violation = async (id: string) => !(await checksOf(id)).no_active_legal_hold_violation

  test('one that names the record, or whose filter finds it, from before the purge until after it', async () => {
    const insert = async (id: string, filter: string, from: string, until: string) => {
      const sql = `with hold as (
         insert into hub.legal_holds (tenant_id, hold_id, name, reason, filter, created_at, created_by, released_at)
         select 'acme', gen_random_uuid(), 'x', 'x', ${filter}, purged_at + ${from}, 'x', purged_at + ${until}
         from hub.record_states where record_id = $1 returning hold_id, released_at)
       insert into hub.legal_hold_records
       select 'acme', case when ${filter} is null then $1::uuid else gen_random_uuid() end, hold_id from hold
       returning hold_id, (select to_char(released_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') from hold) as end`
      const { rows } = await superuser.query(sql.replaceAll('$1', `'${id}'`))
      return rows[0] as { hold_id: string; end: string | null }
    }
    /** As the service tells of the end of a hold. */
    const tellEnd = async ({ hold_id, end }: { hold_id: string; end: string | null }) => {
      const event = await lab.database.withTenant('acme', (tx) =>
        lab.governance.append(tx, acme, {
          kind: 'hub.legal_hold_released',
          subject: `hold:${hold_id}`,
          details: { after: { active: false, released_at: end } },
          actor: caller,
        }),
      )
      await superuser.query('update hub.legal_holds set release_event_id = $2 where hold_id = $1', [
        hold_id,
        event.recordId,
      ])
    }
    const [none, second] = [`interval '0'`, `interval '1 microsecond'`]
    for (const filter of [`null::jsonb`, `jsonb_build_object('record_id', $1::text)`]) {
      for (const [from, until, isViolated] of [
        [none, second, true],
        [`-${second}`, 'null', true],
        [`-${second}`, none, false],
        [second, 'null', false],
      ] as const) {
        const id = await purged()
        const inserted = await insert(id, filter, from, until)
        // An end of which no event tells is none.
        if (until !== 'null') {
          expect(await violation(id), `${filter} ${from} ${until}`).toBe(true)
          await tellEnd(inserted)
        }
        expect(await violation(id), `${filter} ${from} ${until}`).toBe(isViolated)
      }
    }
  })

  test('one whose filter somebody has made unreadable is over everything', async () => {
    const id = await purged()
    const hold = await lab.holds.place(caller, { name: 'x', reason: 'x', filter: { record_type: ['artifact'] } })
    for (const filter of ['{"record_type": 7}', '[]', '7', '"x"', '{"record_type": [null]}']) {
      await superuser.query(`update hub.legal_holds set filter = $2, created_at = '2020-01-01Z' where hold_id = $1`, [
        hold.hold_id,
        filter,
      ])
      expect(await violation(id), filter).toBe(true)
      await expect(lab.purger.purge(caller, await written(), { reason: 'x' })).rejects.toMatchObject({
        slug: 'legal-hold',
      })
    }
    await superuser.query('delete from hub.legal_holds where hold_id = $1', [hold.hold_id])
    expect(await violation(id)).toBe(false)
  })

  test('a filter that finds other records does not count', async () => {
    const id = await purged()
    await superuser.query(
      `insert into hub.legal_holds (tenant_id, hold_id, name, reason, filter, created_at, created_by)
       values ('acme', gen_random_uuid(), 'x', 'x', '{"record_type":["artifact"]}', '2020-01-01Z', 'x')`,
    )
    expect(await violation(id)).toBe(false)
  })
})
