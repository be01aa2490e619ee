import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { loadConfig } from '../../server/config.ts'
import { type ConnectionTarget, clientConfig, connectionUrl } from '../../server/db/connection-settings.ts'
import { openDatabase } from '../../server/db/open-database.ts'
import { serviceLogins } from '../../server/db/roles.ts'

const { superuser } = inject('testCluster')
const suffix = randomBytes(6).toString('hex')
const database = `hub_${suffix}`
const masterKey = randomBytes(32)
let administrator: pg.Client

/** Starts against a database of this owner, and stops again. */
async function start(target: ConnectionTarget): Promise<readonly string[]> {
  const env = { HUB_DATABASE_URL: connectionUrl(target), HUB_MASTER_KEY: masterKey.toString('base64') }
  const opened = await openDatabase(loadConfig(env), { purpose: 'serve' })
  await opened.withTenant('acme', (tx) =>
    tx.db.selectFrom('hub.records').selectAll().where('tenant_id', '=', 'acme').execute(),
  )
  await opened.stop()
  return opened.migrationsApplied
}

async function owner(attributes: string): Promise<ConnectionTarget> {
  const user = `owner_${randomBytes(6).toString('hex')}`
  await administrator.query(`create role ${user} login password 'p@ss/w:rd' ${attributes}`)
  return { ...superuser, database, user, password: 'p@ss/w:rd' }
}

beforeAll(async () => {
  administrator = new pg.Client(clientConfig(superuser, 'hub-test'))
  await administrator.connect()
  await administrator.query(`create database ${database}`)
})
afterAll(async () => {
  await administrator.query(`drop database ${database} with (force)`)
  const { rows } = await administrator.query<{ name: string }>(
    `select rolname as name from pg_roles where rolname ~ '^owner_' or rolname = any($1)`,
    [Object.values(serviceLogins(masterKey)).map((login) => login.user)],
  )
  for (const { name } of rows) await administrator.query(`drop role ${name}`)
  await administrator.end()
})

test('an owner who may not make roles is told the SQL, and that SQL is all it takes', async () => {
  const target = await owner('nocreaterole')
  await administrator.query(`alter database ${database} owner to ${target.user}`)
  const refusal = await start(target).catch((error: unknown) => error)
  expect(refusal).toMatchObject({ name: 'StartupError', message: expect.stringContaining(target.user) })
  const { fix } = refusal as { fix: string }
  const { app, ingest } = serviceLogins(masterKey)
  expect(fix).toContain(`create role ${app.user} login nosuperuser nobypassrls`)
  expect(fix).toContain(`create role ${ingest.user} login`)
  expect(fix).not.toContain(app.password)
  for (const line of fix.split('\n').slice(1)) await administrator.query(line)
  expect(await start(target)).toContain('0001-foundation')
  expect(await start(target)).toEqual([])
  await administrator.query(`reassign owned by ${target.user} to postgres`)
})

test('a password that someone changed is set back by an owner who may', async () => {
  const { app } = serviceLogins(masterKey)
  await administrator.query(`alter role ${app.user} password 'changed'`)
  const target = { ...superuser, database }
  expect(await start(target)).toEqual([])
})

test('a login that may bypass row security is refused, with the SQL that mends it', async () => {
  const { app } = serviceLogins(masterKey)
  await administrator.query(`alter role ${app.user} bypassrls`)
  await expect(start({ ...superuser, database })).rejects.toMatchObject({
    name: 'StartupError',
    fix: expect.stringContaining(`alter role ${app.user} nosuperuser nobypassrls;`),
  })
  await administrator.query(`alter role ${app.user} nosuperuser nobypassrls`)
})

test('a user who may not write to the database is told whose it must be', async () => {
  const target = await owner('')
  await expect(start(target)).rejects.toMatchObject({
    name: 'StartupError',
    fix: expect.stringContaining('alter database'),
  })
})

test('a wrong password names the user and not the password', async () => {
  const target = { ...(await owner('')), password: 'hunter2' }
  await expect(start(target)).rejects.toMatchObject({
    name: 'StartupError',
    message: expect.stringMatching(new RegExp(`rejects the user ${target.user}`)),
  })
  await expect(start(target)).rejects.toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
  )
})

test('a database that does not exist is named, with the SQL that makes it', async () => {
  await expect(start({ ...superuser, database: 'nowhere' })).rejects.toMatchObject({
    name: 'StartupError',
    fix: expect.stringContaining('create database "nowhere"'),
  })
})

test('a server that is down is named', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  const down = { ...superuser, host: '127.0.0.1', port, database }
  await expect(start(down)).rejects.toMatchObject({
    name: 'StartupError',
    message: expect.stringContaining(`127.0.0.1:${port} cannot be reached`),
  })
})

test('two addresses of two databases are refused before one of them gets a table', async () => {
  const other = `${database}_other`
  await administrator.query(`create database ${other}`)
  try {
    const open = (direct: string) =>
      openDatabase(
        loadConfig({
          HUB_DATABASE_URL: connectionUrl({ ...superuser, database }),
          HUB_DATABASE_DIRECT_URL: connectionUrl({ ...superuser, database: direct }),
          HUB_MASTER_KEY: masterKey.toString('base64'),
        }),
        { purpose: 'command' },
      )
    const refusal = await open(other).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ name: 'StartupError', fix: expect.stringContaining('HUB_DATABASE_DIRECT_URL') })
    expect((refusal as Error).message).toContain(`${database} on`)
    expect((refusal as Error).message).toContain(`${other} on`)
    const client = new pg.Client(clientConfig({ ...superuser, database: other }, 'hub-test'))
    await client.connect()
    const { rows } = await client.query(`select nspname from pg_namespace where nspname = 'hub'`)
    await client.end()
    expect(rows).toEqual([])
    await (await open(database)).stop()
  } finally {
    await administrator.query(`drop database ${other} with (force)`)
  }
})
