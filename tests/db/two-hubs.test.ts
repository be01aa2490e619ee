import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { loadConfig } from '../../server/config.ts'
import { asRole, clientConfig, connectionUrl } from '../../server/db/connection-settings.ts'
import { type OpenedDatabase, openDatabase } from '../../server/db/open-database.ts'
import { serviceLogins } from '../../server/db/roles.ts'

const { superuser } = inject('testCluster')
const warnings: object[] = []
const log = { info: () => {}, error: () => {}, warn: (details: object) => void warnings.push(details) }

/** A Hub with a master key of its own, on a database of its own, on the server of all tests. */
class Hub {
  readonly database = `hub_${randomBytes(6).toString('hex')}`
  readonly masterKey = randomBytes(32)
  readonly logins = serviceLogins(this.masterKey)
  readonly target = { ...superuser, database: this.database }

  async start(): Promise<OpenedDatabase> {
    const env = { HUB_DATABASE_URL: connectionUrl(this.target), HUB_MASTER_KEY: this.masterKey.toString('base64') }
    return openDatabase(loadConfig(env), { purpose: 'command', log })
  }

  /** What a login, of whatever Hub, gets for a statement in this database. */
  async ask(login: { user: string; password: string }, statement: string): Promise<pg.QueryResult> {
    const client = new pg.Client(clientConfig(asRole(this.target, login), 'hub-test'))
    await client.connect()
    try {
      await client.query("begin; set local hub.tenant_id = 'acme'")
      return await client.query(statement)
    } finally {
      await client.end()
    }
  }

  /** Changes whenever the rights on a schema are written, even to what they were. */
  async rights(): Promise<unknown[]> {
    const { rows } = await administrator(this.database, (client) =>
      client.query(
        `select nspname, xmin::text, nspacl::text from pg_namespace where nspname in ('hub', 'hub_jobs') order by 1`,
      ),
    )
    return rows
  }
}

async function administrator<T>(database: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(clientConfig({ ...superuser, database }, 'hub-test'))
  await client.connect()
  return work(client).finally(() => client.end())
}

const one = new Hub()
const other = new Hub()

beforeAll(async () => {
  for (const hub of [one, other]) {
    await administrator('postgres', (client) => client.query(`create database ${hub.database}`))
    await (await hub.start()).stop()
  }
  await administrator(other.database, async (client) => {
    for (let number = 0; number < 100; number++) {
      await client.query(
        "insert into hub.tenants (slug, mode, log_name, created_at) values ('t' || $1, 'A', 'log ' || $1, now())",
        [String(number)],
      )
    }
    await client.query('analyze hub.tenants')
  })
})
afterAll(async () => {
  for (const hub of [one, other]) {
    await administrator('postgres', (client) => client.query(`drop database ${hub.database} with (force)`))
  }
  for (const { user } of [one, other].flatMap((hub) => Object.values(hub.logins))) {
    await administrator('postgres', (client) => client.query(`drop role ${user}`))
  }
})

test.each([
  'select * from hub.tenants',
  'select * from hub.records',
  'select * from hub.token_keys',
  "insert into hub.client_directory values ('x', 'acme')",
  "select hub.set_tenant('acme')",
  'select hub.ensure_record_partitions(1)',
  'select * from hub_jobs.job',
  "select query_to_xml('select * from hub.tenants', false, false, '')",
  "select table_to_xml((select oid from pg_class where relname = 'tenants')::regclass, false, false, '')",
])('the logins of one Hub get nothing out of the database of another: %s', async (statement) => {
  for (const login of Object.values(one.logins)) {
    await expect(other.ask(login, statement)).rejects.toMatchObject({ code: '42501' })
  }
  await expect(one.ask(one.logins.app, 'select * from hub.tenants')).resolves.toMatchObject({ rows: [] })
})

test('nor do the samples of the planner tell them anything', async () => {
  const samples = "select tablename, attname from pg_stats where schemaname in ('hub', 'hub_jobs')"
  expect((await other.ask(one.logins.app, samples)).rows).toEqual([])
})

test('a start changes no rights where all is in place', async () => {
  const before = await one.rights()
  await (await one.start()).stop()
  expect(await one.rights()).toEqual(before)
})

test('a start closes a database that was open to every Hub of the server', async () => {
  const open = 'grant usage on schema hub to hub_app, hub_ingest; grant usage on schema hub_jobs to hub_app'
  await administrator(one.database, (client) => client.query(open))
  expect((await one.ask(other.logins.app, 'select * from hub.tenants')).rows).toEqual([])
  await (await one.start()).stop()
  await expect(one.ask(other.logins.app, 'select * from hub.tenants')).rejects.toMatchObject({ code: '42501' })
  await expect(one.ask(other.logins.app, 'select * from hub_jobs.job')).rejects.toMatchObject({ code: '42501' })
})

test('a start warns of logins of another master key, and leaves them: a Hub may be at work with them', async () => {
  const { user } = other.logins.app
  await administrator(one.database, (client) => client.query(`grant usage on schema hub to ${user}`))
  warnings.length = 0
  await (await one.start()).stop()
  expect(warnings).toEqual([{ sql: [`revoke usage on schema hub from "${user}";`] }])
  const { sql } = warnings[0] as { sql: string[] }
  await administrator(one.database, (client) => client.query(sql.join('\n')))
  await expect(one.ask(other.logins.app, 'select * from hub.tenants')).rejects.toMatchObject({ code: '42501' })
})
