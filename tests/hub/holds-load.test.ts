import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { filterHoldsMax, holdsNamedMax } from '../../contract/limits.ts'
import { matchesFilter, type RecordFilter } from '../../contract/record-filter.ts'
import type { Caller, Tenant } from '../../server/http/caller.ts'
import { filteredReleasedBy, findFilterPeriods } from '../../server/modules/legal-holds/hold-check-store.ts'
import { timeOfRecordId } from '../../server/records/record-clock.ts'
import { callerOf, decision, openRecordLab, type RecordLab, telemetry } from './record-lab.ts'

/** Holds by the thousand, and what they cost whoever purges and reads. */

const many = 20_000

let lab: RecordLab
let db: pg.Client
let acme: Tenant
let caller: Caller
let statements = 0

beforeAll(async () => {
  lab = await openRecordLab({ onQuery: () => (statements += 1) })
  db = await lab.superuserClient()
  acme = await lab.openTenant('acme')
  caller = callerOf(acme)
})
afterAll(async () => {
  await lab.tampering.settled()
  await lab.drop()
})

const matter = { name: 'Case 17', reason: 'Litigation' }
const write = async () => (await lab.write(acme, decision('a')))[0]!
const purge = (id: string) => lab.purger.purge(caller, id, { reason: 'x' })
/** Of other people's, over and done with before anything else. */
const releasedHolds = (count: number, releasedAt: string) =>
  db.query(
    `insert into hub.legal_holds (tenant_id, hold_id, name, reason, filter, created_at, created_by, released_at, released_by, release_reason)
     select 'acme', gen_random_uuid(), 'Old', 'x', '{"user_id": "user:other"}', $2::timestamptz - interval '1 second', 'other', $2, 'other', 'x'
     from generate_series(1, $1)`,
    [count, releasedAt],
  )

async function statementsOf<Result>(work: () => Promise<Result>): Promise<{ result: Result; count: number }> {
  const before = statements
  const result = await work()
  return { result, count: statements - before }
}

/** What the only statement that the work sends reads, planned for any values. */
async function buffersOf(work: (tx: never) => Promise<unknown>): Promise<number> {
  return lab.database.withTenant('acme', async (tx) => {
    let buffers = Number.NaN
    const query = async (text: string, values: unknown[]) => {
      await tx.client.query('set local plan_cache_mode = force_generic_plan')
      await tx.client.query(`prepare explained as ${text}`)
      const given = values.map((value) => `'${value}'`).join(', ')
      const { rows } = await tx.client.query(`explain (analyze, buffers, format json) execute explained(${given})`)
      await tx.client.query('deallocate explained')
      const plan = rows[0]['QUERY PLAN'][0].Plan
      buffers = Number(plan['Shared Hit Blocks']) + Number(plan['Shared Read Blocks'])
      return { rows: [] }
    }
    await work({ ...tx, client: { query } } as never)
    return buffers
  })
}

test('a refusal names the newest of very many holds', async () => {
  const id = await write()
  const ids: string[] = []
  for (let count = 0; count < holdsNamedMax + 20; count++) {
    ids.push((await lab.holds.place(caller, { ...matter, record_ids: [id] })).hold_id)
  }
  const error = await purge(id).catch((refusal) => refusal)
  expect(error).toMatchObject({ slug: 'legal-hold', message: expect.stringContaining('and at least 91 more') })
  const named: { hold_id: string }[] = error.extensions.holds
  expect(named.map((hold) => hold.hold_id)).toEqual(ids.slice(-holdsNamedMax))
  for (const holdId of ids) await lab.holds.release(caller, holdId, 'x')
  expect((await purge(id)).answer.is_purged).toBe(true)
  await lab.purger.restore(caller, id, {})
})

test('a tenant has so many holds with a filter and no more, until one is released', async () => {
  const holds: string[] = []
  const place = async () => {
    const hold = await lab.holds.place(caller, { ...matter, filter: { user_id: `user:${holds.length}` } })
    holds.push(hold.hold_id)
  }
  while (holds.length < filterHoldsMax) await place()
  await expect(place()).rejects.toMatchObject({
    slug: 'validation-failed',
    errors: [{ pointer: '/filter', detail: expect.stringContaining(`${filterHoldsMax} with a filter`) }],
  })
  const { hold_id: named } = await lab.holds.place(caller, { ...matter, record_ids: [await write()] })
  await lab.holds.release(caller, holds[0]!, 'x')
  await place()
  for (const holdId of [named, ...holds]) await lab.holds.release(caller, holdId, 'x')
})

test('a hold by a filter, and its release, send few statements however many records are purged', async () => {
  const ids = await lab.load(acme, many, (index) => ({ ...decision(String(index)), createdBy: `client-${index % 2}` }))
  await db.query(
    `insert into hub.record_states (tenant_id, record_id, revision, purged_at, purged_by, purge_reason, hard_delete_after)
     select 'acme', id, 1, now(), 'x', 'x', now() + interval '30 days' from unnest($1::uuid[]) as purged (id)`,
    [ids],
  )
  const frozen = async () => {
    const { rows } = await db.query(
      `select count(*)::integer as count from hub.record_states where buffer_left_micros is not null`,
    )
    return rows[0].count
  }
  const other = await lab.holds.place(caller, { ...matter, record_ids: ids.slice(0, 10) })
  const placing = await statementsOf(() => lab.holds.place(caller, { ...matter, filter: { created_by: 'client-1' } }))
  expect(await frozen()).toBe(many / 2 + 5)
  const releasing = await statementsOf(() => lab.holds.release(caller, placing.result.hold_id, 'x'))
  expect(await frozen()).toBe(10)
  await lab.holds.release(caller, other.hold_id, 'x')
  expect(await frozen()).toBe(0)
  const one = await statementsOf(() => lab.holds.place(caller, { ...matter, filter: { created_by: 'nobody' } }))
  const none = await statementsOf(() => lab.holds.release(caller, one.result.hold_id, 'x'))
  expect(placing.count).toBe(one.count)
  // In parts of a thousand and more.
  expect(releasing.count - none.count).toBeLessThanOrEqual((2 * many) / 1000)
  await db.query('delete from hub.record_states where record_id = any($1)', [ids])
})

test('freezes, and lets go, exactly what a filter matches', async () => {
  const drafts = [
    decision('one'),
    { ...decision('two'), createdBy: 'client-2' },
    telemetry(1),
    telemetry(2),
    { recordType: 'governance_event' as const, fields: { event_kind: 'custom.x', subject: 's' } },
    telemetry(1),
  ]
  const ids: string[] = []
  for (const draft of drafts) ids.push(...(await lab.write(acme, draft)))
  await db.query(
    `insert into hub.record_states (tenant_id, record_id, revision, purged_at, purged_by, purge_reason, hard_delete_after)
     select 'acme', id, 1, now(), 'x', 'x', now() + interval '30 days' from unnest($1::uuid[]) as purged (id)`,
    [ids],
  )
  const rows = await db.query(
    `select record_id, record_type, created_by, skill_id, archetype_id, user_id, event_kind from hub.records
     where record_id = any($1) order by record_id`,
    [ids],
  )
  const frozen = async () => {
    const { rows } = await db.query(
      'select record_id from hub.record_states where buffer_left_micros is not null order by record_id',
    )
    return rows.map((row) => row.record_id)
  }
  const [from, before] = [timeOfRecordId(ids[1]!), timeOfRecordId(ids[4]!)]
  const filters: [RecordFilter, number][] = [
    [{}, 6],
    [{ record_type: ['decision', 'governance_event'] }, 3],
    [{ record_id: ids[3]! }, 1],
    [{ skill_id: 'skill-1' }, 2],
    [{ archetype_id: 'archetype-2' }, 1],
    [{ user_id: 'user:u1@example.com', record_type: ['telemetry_event'] }, 2],
    [{ created_by: 'client-2' }, 1],
    [{ event_kind: 'custom.x' }, 1],
    [{ created_at__gte: from }, 5],
    [{ created_at__gte: from, created_at__lt: before }, 3],
    [{ skill_id: 'none' }, 0],
  ]
  for (const [filter, count] of filters) {
    const matching = rows.rows.filter((row) => matchesFilter(filter, row, timeOfRecordId(row.record_id)))
    expect(matching).toHaveLength(count)
    const scope = Object.keys(filter).length === 0 ? { all: true } : { filter }
    const hold = await lab.holds.place(caller, { ...matter, ...scope })
    expect(await frozen(), JSON.stringify(filter)).toEqual(matching.map((row) => row.record_id))
    await lab.holds.release(caller, hold.hold_id, 'x')
    expect(await frozen()).toEqual([])
  }
  await db.query('delete from hub.record_states where record_id = any($1)', [ids])
})

test('holds that others released are not looked through', async () => {
  await releasedHolds(many, '2999-01-01T00:00:00Z')
  const since = '2020-01-01T00:00:00.000000Z'
  expect(await buffersOf((tx) => filteredReleasedBy(tx, 'client-2', since))).toBeLessThan(50)
  await db.query(`delete from hub.legal_holds where released_by = 'other'`)
})

test('holds that came and went between two purges are not read with the records', async () => {
  await releasedHolds(many, '2026-01-15T00:00:00Z')
  const times = ['2026-01-01T00:00:00.000000Z', '2026-01-14T23:59:58.999999Z', '2026-01-15T00:00:00.000000Z']
  const found = (at: readonly string[]) => lab.database.withTenant('acme', (tx) => findFilterPeriods(tx, at, []))
  expect(await found(times)).toEqual([])
  // From the moment on that they began, and before the one that they ended.
  for (const within of ['2026-01-14T23:59:59.000000Z', '2026-01-14T23:59:59.999999Z']) {
    expect(await found([times[0]!, within, times[2]!])).toHaveLength(many)
  }
  await db.query(`delete from hub.legal_holds where released_by = 'other'`)
})
