import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensureRecordPartitions, watchPartitions } from '../../server/db/record-partitions.ts'
import { recordPartitionOf } from '../../server/modules/records/record-copy.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await createTestDatabase()
})
afterAll(() => db.drop())

/** A UUIDv7 of this time (RFC 9562, section 5.7). */
function idAt(time: string): string {
  const hex = Date.parse(time).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

async function partitions(): Promise<string[]> {
  const superuser = await db.superuserClient()
  const { rows } = await superuser.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'hub.records'::regclass order by 1`,
  )
  return rows.map((row) => row.name)
}

test('the partition of an id is the UTC month of its time', () => {
  expect(recordPartitionOf(idAt('2026-01-31T23:59:59.999Z'))).toBe('records_y2026m01')
  expect(recordPartitionOf(idAt('2026-02-01T00:00:00.000Z'))).toBe('records_y2026m02')
  expect(() => recordPartitionOf('0196f3a0-0000-4000-8000-000000000000')).toThrow(/UUIDv7/)
})

test('a migrated database has partitions from last month to three months ahead, and makes no more of them', async () => {
  const now = new Date()
  const expected = [-1, 0, 1, 2, 3].map((ahead) =>
    recordPartitionOf(idAt(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 15)).toISOString())),
  )
  expect(await partitions()).toEqual(expected)
  await db.database.withRegistry(ensureRecordPartitions)
  expect(await partitions()).toEqual(expected)
})

test('the name and the bounds of a partition agree: a row of each edge lands in it', async () => {
  const superuser = await db.superuserClient()
  const now = new Date()
  const first = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)
  const edges = [first, next - 1, next].map((time) => idAt(new Date(time).toISOString()))
  for (const id of edges) {
    const { rows } = await superuser.query<{ leaf: string }>(
      `insert into hub.records (tenant_id, record_id, record_type, created_by, seal_id, leaf_index, salt,
         provenance_hash, canonical)
       values ('edge', $1, 'output', 'x', $1, 0, '\\x', '\\x', '{}') returning tableoid::regclass::text as leaf`,
      [id],
    )
    expect(rows[0]?.leaf).toBe(`hub.${recordPartitionOf(id)}`)
  }
})

test('a missing partition of next month is reported until it is there', async () => {
  const errors: string[] = []
  const log = { info: () => {}, warn: () => {}, error: (_: object, message: string) => void errors.push(message) }
  const stop = watchPartitions(db.database, log, 10)
  await delay(60)
  expect(errors).toEqual([])
  const superuser = await db.superuserClient()
  const now = new Date()
  const next = recordPartitionOf(
    idAt(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 15)).toISOString()),
  )
  await superuser.query(`drop table hub.${next}`)
  await expect.poll(() => errors.length).toBeGreaterThan(1)
  expect(errors[0]).toContain("next month's partition of hub.records is missing")
  await db.database.withRegistry(ensureRecordPartitions)
  stop()
  const later: string[] = []
  const again = watchPartitions(db.database, { ...log, error: (_, message) => void later.push(message) }, 10)
  await delay(60)
  again()
  expect(later).toEqual([])
})
