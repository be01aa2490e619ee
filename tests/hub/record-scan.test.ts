import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database, TenantTx } from '../../server/db/database.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { firstId, scanRecords } from '../../server/modules/integrity-sweep/record-scan.ts'
import { findUncovered } from '../../server/modules/log/uncovered-records-store.ts'
import { decision, openRecordLab, type RecordLab } from './record-lab.ts'

/** The records of an upgrade from before the log: nothing is in it yet. */
let lab: RecordLab
let superuser: pg.Client
let acme: Tenant
let ids: string[]

beforeAll(async () => {
  lab = await openRecordLab()
  superuser = await lab.superuserClient()
  acme = await lab.openTenant('acme')
  ids = await lab.load(acme, 1_000, (index) => decision(`${index}`))
  await superuser.query(
    `insert into hub.seal_arrivals (tenant_id, arrival_id, seal_ids, first_ids, last_ids)
     select 'acme', id, array[id], array[id], array[id]
     from (select lpad(to_hex(n), 32, '0')::uuid as id from generate_series(1, 100000) n) seals`,
  )
})

afterAll(() => lab.drop())

const logs = { uncovered: findUncovered }

/** Rows of seals that wait that the last transaction of {@link counting} has read. */
let arrivalsRead = 0
const counting: Database = {
  withTenant: (slug: string, work: (tx: TenantTx) => Promise<unknown>, mode?: object) =>
    lab.database.withTenant(
      slug,
      async (tx) => {
        const result = await work(tx)
        const { rows } = await tx.client.query<{ read: string }>(
          `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) as read
           from pg_stat_xact_user_tables where relname like 'seal\\_arrivals%'`,
        )
        arrivalsRead = Number(rows[0]?.read)
        return result
      },
      mode,
    ),
} as Database

test('records whose seals wait for their place in the log are explained', async () => {
  const deps = { database: lab.database, logs }
  expect(await scanRecords(deps, acme, firstId, 6_000)).toEqual({ lastId: undefined, records: 1_000, findings: [] })
})

test('those whose seals do not wait are not, and one look through all that waits finds them', async () => {
  const { rows } = await superuser.query('select seal_id from hub.records where record_id = $1', [ids[500]])
  const seal = rows[0].seal_id
  await superuser.query('delete from hub.seal_arrivals where $1 = any(seal_ids)', [seal])
  const waiting = await superuser.query('select unnest(seal_ids) as id from hub.seal_arrivals')
  const left = new Set(waiting.rows.map((row) => row.id))
  const records = await superuser.query('select record_id, seal_id from hub.records order by record_id')
  const lost = records.rows.filter((row) => !left.has(row.seal_id))
  expect(lost.length).toBeGreaterThan(0)
  const { findings } = await scanRecords({ database: counting, logs }, acme, firstId, 6_000)
  expect(findings).toEqual(
    lost.map((row) => ({
      subject: `record:${row.record_id}`,
      failedChecks: ['record_in_log'],
      found: { seal: row.seal_id },
    })),
  )
  // A look for each record would read 100 million; the planner may look a few rows ahead.
  expect(arrivalsRead).toBeGreaterThan(0)
  expect(arrivalsRead).toBeLessThanOrEqual(3 * 100_000)
})
