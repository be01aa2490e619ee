import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../contract/operations.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { conjunctsOf, preparePlanner, unboundScans } from './query-plans.ts'
import { walkEverything } from './query-walk.ts'
import { countStoreCalls } from './store-coverage.ts'

/**
 * What every statement of the service keeps, so that a tenant's rows are its own without row-level security too, and
 * the schema can be distributed by tenant. Statements are those that the service sends, not those in its source.
 */

const seen = new Set<string>()
let hub: TestHub
let superuser: pg.Client
let tenantTables: Set<string>
let coverage: Awaited<ReturnType<typeof countStoreCalls>>

beforeAll(async () => {
  coverage = await countStoreCalls()
  hub = await startHub({ onQuery: (text) => seen.add(text.trim()), settings: { HUB_OUTBOUND_ALLOW: '127.0.0.1' } })
  await walkEverything(hub)
  superuser = await hub.superuserClient()
  const { rows } = await superuser.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
     where c.relnamespace = 'hub'::regnamespace and c.relkind in ('r', 'p')`,
  )
  tenantTables = new Set(rows.map((row) => row.name))
  await preparePlanner(superuser)
})
afterAll(() => hub.stop())

/** Partitions have no policy and no reader: the parent or a function reads them. */
const isPartition = (table: string) => /^records_y|^search_documents_all$/.test(table)

/** Statements that have a plan. */
const planned = () => [...seen].filter((text) => /^\s*(select|insert|update|delete|with)\b/i.test(text))
const others = () => [...seen].filter((text) => !/^\s*(select|insert|update|delete|with)\b/i.test(text))
const namesTenantTable = (text: string) =>
  [...text.matchAll(/\b"?hub"?\."?(\w+)"?/g)].some(([, table]) => tenantTables.has(table!))

describe('the walk', () => {
  test('calls every function of every store', async () => {
    const { called, never } = await coverage.take()
    expect(never).toEqual([])
    expect(called.length).toBeGreaterThan(50)
  })

  test('succeeds at every operation whose own tests the run on the oldest PostgreSQL leaves out', () => {
    const script = readFileSync(join(import.meta.dirname, '../../.ci/older-postgresql.sh'), 'utf8')
    const requests = hub.logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
    const succeeded = new Set(
      requests.filter(({ status }) => status < 400).map(({ method, route }) => `${method} ${route}`),
    )
    const missing = Object.entries(operations)
      .filter(([, { method, path }]) => !succeeded.has(`${method} ${path}`))
      .map(([id]) => `tests/api/${id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.test.ts`)
    expect(missing.filter((file) => !script.includes(file))).toEqual([])
  })

  test('touches every tenant table, and leaves rows of two tenants in each', async () => {
    const text = [...seen].join('\n')
    for (const table of tenantTables) {
      if (isPartition(table)) continue
      expect(text).toMatch(new RegExp(`\\bhub"?\\."?${table}\\b`))
      const { rows } = await superuser.query(`select count(distinct tenant_id)::int as tenants from hub.${table}`)
      expect(rows[0].tenants, table).toBeGreaterThan(1)
    }
  })
})

describe('every statement', () => {
  test('restricts each of its scans of tenant tables to a tenant that is a parameter', async () => {
    const breaches: string[] = []
    let scansLookedAt = 0
    for (const statement of planned()) {
      const { scans, unbound } = await unboundScans(superuser, statement, tenantTables)
      scansLookedAt += scans
      if (unbound.length > 0) breaches.push(`${unbound.join(', ')}: ${statement}`)
    }
    expect(breaches).toEqual([])
    expect(planned().filter(namesTenantTable).length).toBeGreaterThan(100)
    expect(scansLookedAt).toBeGreaterThan(500)
  })

  test('without a plan is one of a few', () => {
    const known = [
      /^begin( isolation level repeatable read)?( read only)?(; select hub\.set_tenant\('[a-z0-9-]+'\)(; set local enable_sort = off; set local enable_seqscan = off)?(; set local statement_timeout = (2|15|20)000)?)?$/,
      /^(commit|rollback)$/,
      /^begin; select hub\.set_tenant\(\$1\)$/,
      /^copy hub\.records_y\d{4}m\d{2} \(tenant_id, record_id, [a-z_, ]+\) from stdin \(format binary\)$/i,
    ]
    expect(others().filter((text) => !known.some((form) => form.test(text)))).toEqual([])
    for (const form of known) expect(others().some((text) => form.test(text))).toBe(true)
  })

  for (const [name, breaks] of Object.entries(textRules())) {
    test(name, () => expect([...seen].filter(breaks)).toEqual([]))
  }
})

/** Rule → whether a statement breaks it. */
function textRules(): Record<string, (text: string) => boolean> {
  return {
    'that inserts into a tenant table names tenant_id among its columns': (text) =>
      /^insert into/i.test(text) &&
      namesTenantTable(text) &&
      !/^insert into "?hub"?\."?\w+"? \([^)]*\btenant_id\b/i.test(text),
    'locks rows of one tenant only': (text) =>
      /\bfor (no key )?(update|share)\b|\bfor key share\b|skip locked/i.test(text) &&
      !/"?tenant_id"? = \$\d/.test(text),
    'has no function in ON CONFLICT DO UPDATE SET': (text) => /\bdo update set\b.*\w\(/is.test(text),
    'inserts from a SELECT with RETURNING or ON CONFLICT only': (text) =>
      /^insert\b(?!.*\bvalues\b).*\bselect\b/is.test(text) && !/\breturning\b|\bon conflict\b/i.test(text),
    'has no volatile function in an UPDATE': (text) =>
      /^update\b.*\b(now|random|clock_timestamp|gen_random_uuid|nextval|timeofday)\(/is.test(text),
    'has no subquery in VALUES': (text) => /\bvalues\b[^;]*\(\s*select\b/is.test(text),
    'is no MERGE, and opens no cursor': (text) => /^\s*(merge|declare)\b/i.test(text),
    'does not look at sizes or estimates': (text) => /reltuples|pg_\w*(relation|table|indexes)_size/i.test(text),
    'sets the tenant at the beginning of its transaction only': (text) =>
      /hub\.tenant_id|set_config\((?!'lock_timeout')/i.test(text) || (/set_tenant/.test(text) && !/^begin/.test(text)),
  }
}

describe('the rules catch', () => {
  test.each([
    'select canonical from hub.records where record_id = $1',
    'select canonical from hub.records where tenant_id = $1 or record_id = $2',
    "select canonical from hub.records where tenant_id = 'acme'",
    'select canonical from hub.records where tenant_id <> $1',
    'select canonical from hub.records where tenant_id = any($1)',
    'select r.canonical from hub.records r join hub.seals s using (seal_id) where r.tenant_id = $1',
    'select 1 from hub.archetypes where tenant_id = $1 and exists (select from hub.skills where skill_id = $2)',
    'update hub.skills set state = $1 where skill_id = $2',
    'delete from hub.archetypes where archetype_id = $1',
    'insert into hub.archetypes (tenant_id, archetype_id) select $1, skill_id from hub.skills on conflict do nothing',
    `with recursive walk(id) as (
       select to_id from hub.record_links where tenant_id = $1 and from_id = $2
       union select l.to_id from walk join hub.record_links l on l.from_id = walk.id
     ) select id from walk`,
  ])('a scan of all tenants: %s', async (statement) => {
    const { unbound } = await unboundScans(superuser, statement, tenantTables)
    expect(unbound).not.toEqual([])
  })

  test.each([
    ['names tenant_id among its columns', 'insert into hub.skills (skill_id, state) values ($1, $2)'],
    ['locks rows', 'select skill_id from hub.skills where state = $1 for update skip locked'],
    [
      'ON CONFLICT DO UPDATE SET',
      'insert into hub.x (tenant_id, a) values ($1, $2) on conflict (a) do update set a = now()',
    ],
    ['from a SELECT', 'insert into hub.skills (tenant_id, skill_id) select $1, unnest($2::text[])'],
    ['volatile', 'update hub.skills set updated_at = now() where tenant_id = $1'],
    ['subquery in VALUES', 'insert into hub.x (tenant_id, a) values ($1, (select 1))'],
    ['MERGE', 'merge into hub.skills using x on true when matched then delete'],
    ['sizes', `select pg_total_relation_size('hub.records')`],
    ['sets the tenant', `select hub.set_tenant('acme')`],
    ['sets the tenant', `set local hub.tenant_id = 'acme'`],
  ])('what breaks “%s”', (name, statement) => {
    const rules = Object.entries(textRules()).filter(([rule]) => rule.includes(name))
    expect(rules.length).toBe(1)
    expect(rules[0]![1](statement)).toBe(true)
  })

  test('conditions are split where all must hold', () => {
    expect(conjunctsOf("((a.tenant_id = $1) AND ((b = ') AND (') OR (c = 2)) AND ((d) AND (e)))")).toEqual([
      'a.tenant_id = $1',
      "(b = ') AND (') OR (c = 2)",
      'd',
      'e',
    ])
  })
})

/** That the application role may neither change nor remove records and seals is in privileges.test.ts. */
describe('row-level security', () => {
  const visibleTo = async (client: pg.ClientBase, table: string) => {
    const { rows } = await client.query(`select distinct tenant_id from hub.${table} order by 1`)
    return rows.map((row) => row.tenant_id)
  }
  const tables = () => [...tenantTables].filter((table) => !isPartition(table))

  test('shows no row of any tenant table to a transaction without a tenant', async () => {
    expect(tables().length).toBeGreaterThan(10)
    for (const table of tables()) {
      expect(await hub.test.database.withRegistry((tx) => visibleTo(tx.client, table)), table).toEqual([])
    }
  })

  test('shows to a transaction of a tenant its own rows, though the statement names none', async () => {
    for (const table of tables()) {
      for (const tenant of ['acme', 'globex']) {
        expect(await hub.test.database.withTenant(tenant, (tx) => visibleTo(tx.client, table)), table).toEqual([tenant])
      }
      expect(await hub.test.database.withTenant('nobody', (tx) => visibleTo(tx.client, table)), table).toEqual([])
    }
  })
})
