import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ConnectionTarget, clientConfig } from '../../server/db/connection-settings.ts'
import { recordPartitionOf } from '../../server/modules/records/record-copy.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

const denied = { code: '42501' }
const hex = Date.now().toString(16).padStart(12, '0')
const recordId = `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000001`
const leaf = `hub.${recordPartitionOf(recordId)}`
const columns = '(tenant_id, record_id, record_type, created_by, seal_id, leaf_index, salt, provenance_hash, canonical)'
const copyRow = `acme\t${recordId}\toutput\tx\t${recordId}\t0\t\\\\x00\t\\\\x00\t{}\n`

let db: TestDatabase
let app: pg.Client
let ingest: pg.Client

async function connect(target: ConnectionTarget): Promise<pg.Client> {
  const client = new pg.Client(clientConfig(target, 'hub-test'))
  await client.connect()
  return client
}

/** One statement in a transaction of this tenant, rolled back afterwards. */
async function asTenant(client: pg.Client, statement: string, tenant = 'acme'): Promise<pg.QueryResult> {
  await client.query(`begin; select hub.set_tenant('${tenant}')`)
  return client.query(statement).finally(() => client.query('rollback'))
}

beforeAll(async () => {
  db = await createTestDatabase()
  app = await connect(db.targets.app)
  ingest = await connect(db.targets.ingest)
  const superuser = await db.superuserClient()
  await superuser.query(
    `insert into hub.records ${columns} values ('acme', '${recordId}', 'output', 'x', '${recordId}', 0, '\\x', '\\x', '{}')`,
  )
  await superuser.query(`insert into hub.archetypes (tenant_id, archetype_id) values ('acme', 'a')`)
})
afterAll(async () => {
  await Promise.all([app.end(), ingest.end()])
  await db.drop()
})

describe('both roles', () => {
  test('are plain: no superuser, no bypass of row security, no databases, no roles', async () => {
    const superuser = await db.superuserClient()
    const { rows } = await superuser.query(
      `select bool_or(rolsuper or rolbypassrls or rolcreatedb or rolcreaterole or rolreplication) as any_power,
              count(*) as roles
       from pg_roles where rolname = any($1)`,
      // By name: other tests make logins of other master keys on the same server.
      [['hub_app', 'hub_ingest', db.targets.app.user, db.targets.ingest.user]],
    )
    expect(rows[0]).toEqual({ any_power: false, roles: 4 })
  })

  test('own nothing', async () => {
    const superuser = await db.superuserClient()
    const { rows } = await superuser.query(
      `select d.classid::regclass as catalog, d.objid from pg_shdepend d
       join pg_roles r on r.oid = d.refobjid and d.refclassid = 'pg_authid'::regclass
       where d.deptype = 'o' and r.rolname ~ '^hub_(app|ingest)'`,
    )
    expect(rows).toEqual([])
  })

  test.each([
    'create table hub.mine (x int)',
    'create table public.mine (x int)',
    'alter table hub.records disable row level security',
    'drop policy tenant_isolation on hub.archetypes',
    'truncate hub.records',
    "select hub.distribute('hub.records')",
    "select hub.isolate('hub.records')",
    'set role hub_owner',
    'insert into hub.schema_migrations values (9, $$x$$, $$x$$)',
  ])('may not: %s', async (statement) => {
    await expect(asTenant(app, statement)).rejects.toMatchObject(denied)
    await expect(asTenant(ingest, statement)).rejects.toMatchObject(denied)
  })
})

describe('the application role', () => {
  test('sees its tenant, no other, and without a tenant nothing, in every tenant table', async () => {
    expect((await asTenant(app, 'select from hub.records')).rowCount).toBe(1)
    expect((await asTenant(app, 'select from hub.records', 'other')).rowCount).toBe(0)
    const { rows } = await app.query<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c
       join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
       where c.relnamespace = 'hub'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
         and has_table_privilege(c.oid, 'select')`,
    )
    expect(rows.length).toBeGreaterThan(10)
    for (const { name } of rows) expect((await app.query(`select from ${name}`)).rowCount).toBe(0)
  })

  test.each([
    "update hub.records set canonical = '{}'",
    'delete from hub.records',
    `copy hub.records ${columns} from stdin`,
    `select * from ${leaf}`,
    `insert into ${leaf} ${columns} values ('acme', '${recordId}', 'x', 'x', '${recordId}', 0, '', '', '')`,
    "update hub.seals set key_id = 'x'",
    'delete from hub.seals',
    'delete from hub.tenants',
    "update hub.tenants set mode = 'C'",
    "update hub.tenants set log_name = 'x'",
    "update hub.published_keys set public_key = '\\\\x00'",
    "update hub.provenance_keys set private_key_sealed = '\\\\x00'",
    "update hub.token_keys set public_jwk = '{}'",
    "update hub.service_accounts set client_id = 'x'",
    "update hub.users set user_id = 'x'",
    "update hub.sessions set user_id = 'x'",
    "update hub.sessions set expires_at = now() + interval '1 year'",
    "update hub.user_identities set user_id = 'x'",
    "update hub.sso_connections set issuer = 'https://elsewhere.example'",
    "update hub.refresh_families set session_id = 'x'",
    "update hub.service_account_secrets set secret_hash = '\\\\x00'",
    "update hub.magic_links set email = 'someone@else.example'",
  ])('may not: %s', async (statement) => {
    await expect(asTenant(app, statement)).rejects.toMatchObject({ code: expect.stringMatching(/^(42501|0A000)$/) })
  })

  test('may note that a key is retired, and when an account was last used', async () => {
    for (const table of ['published_keys', 'token_keys', 'provenance_keys']) {
      await asTenant(app, `update hub.${table} set retired_at = now()`)
    }
    await asTenant(app, 'update hub.service_accounts set last_used_at = now()')
  })

  test('may make the coming partitions, though it owns no table', async () => {
    await app.query('select hub.ensure_record_partitions(1)')
    for (const months of ['-1', '25', 'null']) {
      await expect(app.query(`select hub.ensure_record_partitions(${months})`)).rejects.toMatchObject({ code: '22023' })
    }
  })
})

describe('the insert-only role', () => {
  test('copies into a partition', async () => {
    await ingest.query("begin; select hub.set_tenant('acme')")
    const stream = ingest.query(copyFrom(`copy ${leaf} ${columns} from stdin`))
    await pipeline([Buffer.from(copyRow.replace(/1\t/, '2\t'))], stream)
    expect(stream.rowCount).toBe(1)
    await ingest.query('rollback')
  })

  test.each([
    'select * from hub.records',
    `select * from ${leaf}`,
    `update ${leaf} set canonical = '{}'`,
    `delete from ${leaf}`,
    `insert into ${leaf} ${columns} values ('acme', '${recordId}', 'x', 'x', '${recordId}', 0, '', '', '') returning salt`,
    'select * from hub.seals',
    'select * from hub.idempotency_keys',
    'select * from hub.archetypes',
    'select * from hub.tenants',
    'select * from hub.token_keys',
    `insert into hub.archetypes (tenant_id, archetype_id) values ('acme', 'b')`,
    'select count(*) from hub_jobs.job',
  ])('may not: %s', async (statement) => {
    await expect(asTenant(ingest, statement)).rejects.toMatchObject(denied)
  })

  test('writes seals and idempotency keys of its tenant only', async () => {
    const insert = (tenant: string) =>
      `insert into hub.idempotency_keys (tenant_id, key_digest, request_digest, answer, created_at)
       values ('${tenant}', '\\x01', '\\x02', '{}', now())`
    expect((await asTenant(ingest, insert('acme'))).rowCount).toBe(1)
    await expect(asTenant(ingest, insert('other'))).rejects.toMatchObject(denied)
  })
})
