import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { schemaRules, withTenantTables } from '../../server/db/distribution/schema-rules.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

/** What keeps the schema distributable by tenant, and a tenant's rows its own: read from the catalog. */

/** Tables without a tenant: registries that every process reads. A new one is a decision, so it is named here. */
const registries = [
  'client_directory',
  'inbound_directory',
  'published_keys',
  'revocations',
  'schema_migrations',
  'tenants',
  'token_keys',
]

/** Rule → a query for the tenant tables that break it; its first column is the table's name. */
const rules: Record<string, string> = {
  ...Object.fromEntries(schemaRules.map(({ text, sql }) => [text, sql])),

  'row-level security is enabled': 'select name from tenant_table where not relrowsecurity',

  'row-level security is forced': 'select name from tenant_table where not relforcerowsecurity',

  'only the application and the insert-only role have grants, and the latter only INSERT': `
    select name, a.privilege_type from tenant_table t join pg_class c on c.oid = t.oid, aclexplode(c.relacl) a
    where a.grantee <> c.relowner
      and (a.grantee not in ('hub_app'::regrole, 'hub_ingest'::regrole) or a.is_grantable
        or a.privilege_type not in ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
        or (a.grantee = 'hub_ingest'::regrole and a.privilege_type <> 'INSERT'))`,
}

/** Two tables that break each rule, so that no rule passes because its query finds nothing whatever the schema. */
const lawless = `
  create table hub.lawless (n serial primary key, tenant_id varchar, record_id uuid, other_tenant text,
    foreign key (other_tenant) references hub.tenant_settings (tenant_id) on delete set null);
  create table hub.outlaw (slug text references hub.tenant_settings (tenant_id));
  create index on hub.lawless (record_id);
  create function hub.f() returns trigger language plpgsql as 'begin return new; end';
  create trigger t before insert on hub.lawless for each row execute function hub.f();
  create rule r as on delete to hub.lawless do instead nothing;
  create policy p on hub.lawless for select to hub_app using (true);
  grant truncate on hub.lawless to hub_ingest;
  create table hub.lawless_key (tenant_id text not null, at timestamptz, primary key (tenant_id, at))`

let db: TestDatabase
let superuser: pg.Client
beforeAll(async () => {
  db = await createTestDatabase()
  superuser = await db.superuserClient()
})
afterAll(() => db.drop())

async function tablesThatBreak(rule: string): Promise<string[]> {
  const { rows } = await superuser.query<{ name: string }>(withTenantTables + rule)
  return rows.map((row) => row.name)
}

describe('in every tenant table', () => {
  for (const [name, rule] of Object.entries(rules)) {
    test(name, async () => {
      expect(await tablesThatBreak(rule)).toEqual([])
      await superuser.query(`begin; ${lawless}`)
      const caught = await tablesThatBreak(rule).finally(() => superuser.query('rollback'))
      expect(caught.filter((table) => /^(lawless|lawless_key|tenant_settings)$/.test(table))).not.toEqual([])
    })
  }
})

test('every table is a tenant table or a named registry', async () => {
  const { rows } = await superuser.query<{ name: string }>(
    `select c.relname as name from pg_class c
     where c.relnamespace = 'hub'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id') order by 1`,
  )
  expect(rows.map((row) => row.name)).toEqual(registries)
})

test('partitions of records carry no grant but INSERT to the insert-only role', async () => {
  const { rows } = await superuser.query(
    `select c.relname as leaf, array(
       select (a.grantee::regrole)::text || ' ' || a.privilege_type from aclexplode(c.relacl) a
       where a.grantee <> c.relowner) as grants
     from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'hub.records'::regclass`,
  )
  expect(rows.length).toBeGreaterThan(3)
  for (const row of rows) expect(row.grants).toEqual(['hub_ingest INSERT'])
})

test('functions with their owner’s rights fix their search path, and the public may execute none', async () => {
  const { rows } = await superuser.query(
    `select p.oid::regprocedure::text as function from pg_proc p where p.pronamespace = 'hub'::regnamespace
       and ((p.prosecdef and not coalesce(p.proconfig::text ~ 'search_path', false))
         or p.proacl is null or exists (select from aclexplode(p.proacl) a where a.grantee = 0))`,
  )
  expect(rows).toEqual([])
})

test('every tenant table is distributed by a migration and described for queries', async () => {
  const tables = await tablesThatBreak('select name from tenant_table')
  expect(tables.length).toBeGreaterThan(10)
  const folder = join(import.meta.dirname, '../../server/db')
  const described = globSync(join(folder, 'tables/*.ts')).map((file) => readFileSync(file, 'utf8'))
  const sql = globSync(join(folder, 'migrations/*.sql')).map((file) => readFileSync(file, 'utf8'))
  for (const name of tables) {
    expect(described.join('\n')).toContain(`'hub.${name}': {`)
    expect(sql.join('\n')).toContain(`select hub.distribute('hub.${name}');`)
  }
})
