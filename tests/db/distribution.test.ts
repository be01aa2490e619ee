import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findBlockers } from '../../cli/database/distribution-blockers.ts'
import type { ExaminedDatabase } from '../../cli/doctor/examined-database.ts'
import { type DistributionStatus, readDistribution } from '../../server/db/distribution/distribution-status.ts'
import { programBreaches } from '../../server/db/distribution/program-breaches.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

let db: TestDatabase
let superuser: pg.Client
beforeAll(async () => {
  db = await createTestDatabase()
  superuser = await db.superuserClient()
})
afterAll(() => db.drop())

/** Runs `work` after `change`, which is rolled back. */
async function after<T>(change: string, work: () => Promise<T>): Promise<T> {
  await superuser.query(`begin; ${change}`)
  return work().finally(() => superuser.query('rollback'))
}

const rulesOf = ({ breaches }: DistributionStatus, place: string) =>
  [...new Set(breaches.filter((breach) => breach.found_in === place).map(({ rule }) => rule))].sort((a, b) => a - b)

test('on one server nothing is distributed', async () => {
  const status = await readDistribution(superuser)
  expect(status).toMatchObject({ distributed: false, citus: null, distributed_tables: 0, nodes: [] })
  expect(status.postgresql).toMatch(/^\d+/)
  expect(status.tenant_tables).toBeGreaterThan(50)
  expect(status.database_bytes).toBeGreaterThan(1_000_000)
  const sizes = status.largest.map(({ bytes }) => bytes)
  expect(sizes).toHaveLength(5)
  expect(sizes).toEqual(sizes.toSorted((a, b) => b - a))
})

test('only functions with their owner’s rights break a rule in the database, and known places in the program', async () => {
  const status = await readDistribution(superuser)
  expect(status.breaches).toEqual(
    expect.arrayContaining(programBreaches.map((breach) => ({ ...breach, found_in: 'program' }))),
  )
  expect(rulesOf(status, 'database')).toEqual([16])
  const functions = status.breaches.filter(({ rule }) => rule === 16)
  expect(functions.map(({ where }) => where.split('(')[0])).toEqual([
    'hub.erase_records',
    'hub.require_content_key',
    'hub.search_documents_matching',
    'hub.search_frequencies',
  ])
  expect(functions.filter(({ detail }) => detail.includes('advisory lock'))).toHaveLength(1)
})

test('a table that breaks rules is found', async () => {
  const outlaw = 'create table hub.outlaw (tenant_id varchar, slug text references hub.tenant_settings)'
  const status = await after(outlaw, () => readDistribution(superuser))
  expect(rulesOf(status, 'database')).toEqual([1, 2, 3, 16])
  expect(status.breaches).toContainEqual({
    rule: 1,
    where: 'hub.outlaw',
    detail: 'broken is "tenant_id is text not null"',
    found_in: 'database',
  })
})

/** Stands in for the extension: the catalogs of Citus, with one of three tables distributed over two workers. */
const citus = `
  insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
    values (999999, 'citus', 10, 'pg_catalog'::regnamespace, false, '13.2-1');
  create table public.pg_dist_partition (logicalrelid regclass, partmethod "char");
  insert into public.pg_dist_partition values ('hub.skills', 'h'), ('hub.tenants', 'n');
  create table public.citus_shards (nodename text, nodeport integer, shard_size bigint);
  insert into public.citus_shards values ('b', 5432, 10), ('a', 5432, 20), ('a', 5432, 30);
  create table public.pg_dist_node (noderole text, groupid integer, isactive boolean)`

test('on a cluster, distributed tables and the size on each node are counted', async () => {
  const status = await after(citus, () => readDistribution(superuser))
  expect(status).toMatchObject({ distributed: true, citus: '13.2-1', distributed_tables: 1 })
  expect(status.nodes).toEqual([
    { node: 'a:5432', bytes: 50, shards: 2 },
    { node: 'b:5432', bytes: 10, shards: 1 },
  ])
})

function blockers(as: Partial<ExaminedDatabase> = {}) {
  return findBlockers({
    ...{ embedded: false, startedHere: false, hubRuns: false, logins: undefined },
    read: (work) => work(superuser),
    change: (work) => work(superuser),
    ...as,
  })
}

test('a database without the extension is refused with the steps of the administrator', async () => {
  const [first, ...others] = await blockers()
  expect(first).toMatchObject({
    check: 'extension',
    detail: expect.stringMatching(/^The database hub_\w+ has no Citus/),
  })
  for (const step of ['shared_preload_libraries', 'create extension citus', 'citus_add_node', 'create the role']) {
    expect(first?.action).toContain(step)
  }
  const rules = others.map(({ check, detail }) => `${check} ${/^Rule (\d+)/.exec(detail)?.[1]}`)
  expect(rules).toEqual(['database 16', 'program 14', 'program 15', 'program 17'])
})

test('an embedded server, a running Hub and a cluster without workers are refused', async () => {
  expect((await blockers({ embedded: true }))[0]).toMatchObject({ check: 'server', status: 'problem' })
  expect(await blockers({ hubRuns: true })).toContainEqual(expect.objectContaining({ check: 'hub' }))

  const alone = await after(citus, () => blockers())
  expect(alone[0]).toMatchObject({ check: 'nodes', action: expect.stringContaining('citus_add_node') })
  const worker = `${citus}; insert into public.pg_dist_node values ('primary', 0, true), ('primary', 1, true)`
  const checks = (await after(worker, () => blockers())).map(({ check }) => check)
  expect(checks).toEqual(['database', 'program', 'program', 'program'])
})
