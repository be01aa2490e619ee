import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { type ConnectionTarget, clientConfig, connectionUrl } from '../../server/db/connection-settings.ts'
import { migrate } from '../../server/db/migrate.ts'
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

test('a migration that changed after it was applied stops the start', async () => {
  await migrate(owner, { directory: folder })
  await writeFile(join(folder, '0001-foundation.sql'), '-- another text')
  await expect(migrate(owner, { directory: folder })).rejects.toMatchObject({
    name: 'StartupError',
    message: expect.stringMatching(/^The database was migrated by another version of this program: .*0001-foundation/),
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
    message: expect.stringMatching(/newer than this program.*next/),
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

test('a gap in the numbers is noticed before anything runs', async () => {
  await writeFile(join(folder, '0099-late.sql'), 'select 1')
  await expect(migrate(owner, { directory: folder })).rejects.toThrow(/0099-late.sql should be number/)
  const { rows } = await owner.query(`select to_regnamespace('hub') as schema`)
  expect(rows[0].schema).toBeNull()
})
