import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { filterHoldsMax, holdsNamedMax } from '../../contract/limits.ts'
import type { Caller, Tenant } from '../../server/http/caller.ts'
import { findFilterPeriods } from '../../server/modules/hub/holds/hold-history-store.ts'
import { holdsReleasedBy } from '../../server/modules/hub/holds/holds-store.ts'
import { callerOf, decision, openRecordLab, type RecordLab } from './record-lab.ts'

/** Holds by the thousand, and what they cost whoever purges and reads. */

const many = 20_000

let lab: RecordLab
let db: pg.Client
let acme: Tenant
let caller: Caller

beforeAll(async () => {
  lab = await openRecordLab()
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

test('holds that others released are not looked through', async () => {
  const id = await write()
  await releasedHolds(many, '2999-01-01T00:00:00Z')
  const record = { record_id: id, created_at: '2020-01-01T00:00:00.000000Z' }
  expect(await buffersOf((tx) => holdsReleasedBy(tx, 'client-2', record))).toBeLessThan(50)
  await db.query(`delete from hub.legal_holds where released_by = 'other'`)
})

test('holds that came and went between two purges are not read with the records', async () => {
  await releasedHolds(many, '2026-01-15T00:00:00Z')
  const times = ['2026-01-01T00:00:00.000000Z', '2026-01-14T23:59:58.999999Z', '2026-01-15T00:00:00.000000Z']
  const found = (at: readonly string[]) => lab.database.withTenant('acme', (tx) => findFilterPeriods(tx, at))
  expect(await found(times)).toEqual([])
  // From the moment on that they began, and before the one that they ended.
  for (const within of ['2026-01-14T23:59:59.000000Z', '2026-01-14T23:59:59.999999Z']) {
    expect(await found([times[0]!, within, times[2]!])).toHaveLength(many)
  }
  await db.query(`delete from hub.legal_holds where released_by = 'other'`)
})
