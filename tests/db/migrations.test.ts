import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { type ConnectionTarget, clientConfig, connectionUrl } from '../../server/db/connection-settings.ts'
import { migrate } from '../../server/db/migrate.ts'
import { linkRows, userRows } from '../../server/db/proven-rows.ts'
import { createRowProofs } from '../../server/db/row-proofs.ts'
import { endProcesses, openInProcess } from '../support/database-process.ts'

const cluster = inject('testCluster')
const shipped = join(import.meta.dirname, '../../server/db/migrations')
let target: ConnectionTarget
let administrator: pg.Client
let owner: pg.Client
let folder: string

async function connect(to: ConnectionTarget): Promise<pg.Client> {
  const client = new pg.Client(clientConfig(to, 'hub-test'))
  await client.connect()
  return client
}

beforeEach(async () => {
  const database = `hub_${randomBytes(8).toString('hex')}`
  administrator = await connect(cluster.superuser)
  await administrator.query(`create database ${database} owner hub_owner`)
  target = { ...cluster.owner, database }
  owner = await connect(target)
  folder = await mkdtemp(join(tmpdir(), 'hub-migrations-'))
  await cp(shipped, folder, { recursive: true })
})

afterEach(async () => {
  await endProcesses()
  await owner.end()
  await administrator.query(`drop database ${target.database} with (force)`)
  await administrator.end()
  await rm(folder, { recursive: true })
})

test('an empty database is migrated once; the second time there is nothing to do', async () => {
  expect((await migrate(owner)).applied).toContain('0001-foundation')
  expect((await migrate(owner)).applied).toEqual([])
})

test('of two processes that start at once, one migrates and both come up', async () => {
  const env = { HUB_DATABASE_URL: connectionUrl(target), HUB_MASTER_KEY: cluster.masterKey }
  const both = [1, 2].map(() => openInProcess({ purpose: 'serve', env }))
  const ready = await Promise.all(both.map((each) => each.said('ready')))
  expect(ready.filter((each) => (each.applied as string[]).length > 0)).toHaveLength(1)
  expect(await Promise.all(both.map((each) => each.ask('ping')))).toEqual([{ ping: 'ok' }, { ping: 'ok' }])
})

test('rows from before there were proofs are proven once, and later ones are not', async () => {
  const proofs = createRowProofs(Buffer.from(cluster.masterKey, 'base64'))
  const files = (await readdir(folder)).sort()
  const from = files.findIndex((file) => file.endsWith('-row-proofs.sql'))
  for (const file of files.slice(from)) await rm(join(folder, file))
  await migrate(owner, { directory: folder })
  const superuser = await connect({ ...cluster.superuser, database: target.database })
  const insert = (userId: string) =>
    superuser.query(
      `insert into hub.users (tenant_id, user_id, email, email_key, role, epoch, created_at, updated_at)
       values ('acme', $1, $1, $1, 'admin', 1, now(), now())`,
      [userId],
    )
  await insert('usr_before')
  await superuser.query(
    `insert into hub.magic_links (tenant_id, token_hash, email, purpose, created_at, expires_at)
     values ('acme', 'hash', 'root@acme.example', 'sign_in', now(), now() + interval '1 day')`,
  )
  expect(await migrate(owner, { proofs })).toMatchObject({ proven: { 'hub.users': 1, 'hub.magic_links': 1 } })
  await insert('usr_after')
  expect(await migrate(owner, { proofs })).toEqual({ applied: [], proven: {} })
  const users = await superuser.query('select * from hub.users order by user_id desc')
  expect(users.rows.map((row) => [row.user_id, proofs.holds(userRows, 'acme', row)])).toEqual([
    ['usr_before', true],
    ['usr_after', false],
  ])
  const links = await superuser.query('select * from hub.magic_links')
  expect(links.rows.map((row) => proofs.holds(linkRows, 'acme', row))).toEqual([true])
  // What the tables are bound by is bound again.
  const open = `select from pg_class where relnamespace = 'hub'::regnamespace and relrowsecurity and not relforcerowsecurity`
  expect((await superuser.query(open)).rowCount).toBe(0)
  await superuser.end()
})

test('a migration that changed after it was applied stops the start', async () => {
  await migrate(owner, { directory: folder })
  await writeFile(join(folder, '0001-foundation.sql'), '-- another text')
  await expect(migrate(owner, { directory: folder })).rejects.toMatchObject({
    name: 'StartupError',
    message: expect.stringMatching(/^The database was migrated by another version of the Hub: .*0001-foundation/),
    fix: expect.stringMatching(/Start the version .* or restore a backup/),
  })
})

test('a database newer than the program stops the start, and stays as it is', async () => {
  const count = (await migrate(owner, { directory: folder })).applied.length
  const next = `${String(count + 1).padStart(4, '0')}-next.sql`
  await writeFile(join(folder, next), 'create table hub.next (slug text primary key)')
  expect((await migrate(owner, { directory: folder })).applied).toHaveLength(1)
  await expect(migrate(owner)).rejects.toMatchObject({
    name: 'StartupError',
    message: expect.stringMatching(/newer than this version of the Hub.*next/),
  })
})

test('a migration that fails leaves nothing behind, names its line, and lets the next start try again', async () => {
  const count = (await migrate(owner, { directory: folder })).applied.length
  const next = `${String(count + 1).padStart(4, '0')}-next.sql`
  await writeFile(join(folder, next), 'create table hub.half (slug text);\n\nselect broken;\n')
  await expect(migrate(owner, { directory: folder })).rejects.toThrow(/-next failed in line 3: .*broken/)
  const { rows } = await owner.query(`select to_regclass('hub.half') as half`)
  expect(rows[0].half).toBeNull()
  await writeFile(join(folder, next), 'create table hub.whole (slug text);')
  expect((await migrate(owner, { directory: folder })).applied).toHaveLength(1)
})

test('writers go on while a migration waits for a lock, in short attempts', async () => {
  const count = (await migrate(owner, { directory: folder })).applied.length
  await owner.query('create table hub.busy (at integer)')
  const next = `${String(count + 1).padStart(4, '0')}-next.sql`
  await writeFile(join(folder, next), 'alter table hub.busy add column note text')
  const [reader, writer, migrating] = [await connect(target), await connect(target), await connect(target)]
  await reader.query('begin; select from hub.busy')
  let attempts = 0
  const query = migrating.query.bind(migrating) as (...args: unknown[]) => unknown
  migrating.query = ((...args: unknown[]) => {
    if (String(args[0]).startsWith('begin')) attempts += 1
    return query(...args)
  }) as never
  const migrated = migrate(migrating, { directory: folder })
  // Each of these would wait for the reader if the migration kept its place in the queue.
  while (attempts < 4) await writer.query('insert into hub.busy values (1)')
  await reader.query('commit')
  expect((await migrated).applied).toEqual([next.replace('.sql', '')])
  const { rows } = await owner.query('select count(*)::int as written, count(note)::int as notes from hub.busy')
  expect(rows).toEqual([{ written: expect.any(Number), notes: 0 }])
  expect(rows[0].written).toBeGreaterThan(4)
  await Promise.all([reader, writer, migrating].map((client) => client.end()))
})

test('a migration that gets no lock in all its attempts says what to do', async () => {
  const count = (await migrate(owner, { directory: folder })).applied.length
  await writeFile(
    join(folder, `${String(count + 1).padStart(4, '0')}-next.sql`),
    'alter table hub.tenants add note text',
  )
  const reader = await connect(target)
  await reader.query('begin; select from hub.tenants')
  await expect(migrate(owner, { directory: folder, attemptsMs: 0 })).rejects.toMatchObject({
    name: 'StartupError',
    message: expect.stringMatching(/-next got no lock/),
    fix: expect.stringMatching(/pg_stat_activity/),
  })
  await reader.end()
})

test('a gap in the numbers is noticed before anything runs', async () => {
  await writeFile(join(folder, '0099-late.sql'), 'select 1')
  await expect(migrate(owner, { directory: folder })).rejects.toThrow(/0099-late.sql should be number/)
  const { rows } = await owner.query(`select to_regnamespace('hub') as schema`)
  expect(rows[0].schema).toBeNull()
})
