import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import pg from 'pg'
import { extract, pack } from 'tar-stream'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../server/config.ts'
import { type BackupManifest, manifestName, signManifest } from '../../server/db/backup/backup-format.ts'
import { makeRecordPartitions } from '../../server/db/backup/backup-tables.ts'
import { restoreBackup } from '../../server/db/backup/restore-backup.ts'
import { writeBackup } from '../../server/db/backup/write-backup.ts'
import { clientConfig } from '../../server/db/connection-settings.ts'
import { migrate } from '../../server/db/migrate.ts'
import { openDatabase } from '../../server/db/open-database.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { createEmptyDatabase } from '../cli/empty-database.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
let directory: string
let backup: string
const targets: Awaited<ReturnType<typeof createEmptyDatabase>>[] = []

beforeAll(async () => {
  hub = await startHub()
  directory = await mkdtemp(join(tmpdir(), 'hub-backup-'))
  await prepareTelemetry(hub, 'acme', 'globex')
  for (const tenant of ['acme', 'globex'] as const) {
    for (let at = 0; at < 5; at += 1) {
      // More than a part, with what COPY has to escape.
      const content = `${at}${`\\\t\n"'é\u{1f600}`.repeat(60_000)}`
      const body = { record_type: 'artifact', title: `${tenant} ${at}`, content }
      expect((await hub.call(tenant, 'POST', '/api/v1/hub/records', { body })).status).toBe(201)
    }
    await hub.modules.log.logs.integrate(await hub.tenant(tenant))
  }
  // As in a Hub that is older than the partitions that a start makes.
  await makeRecordPartitions(await ownerClient(), ['records_y2025m12', 'records_y2026m01'])
  backup = join(directory, 'all.tar.gz')
  await save(backup)
})
afterEach(async () => {
  await Promise.all(targets.splice(0).map((target) => target.drop()))
})
afterAll(async () => {
  await Promise.all(owners.map((client) => client.end()))
  await hub.stop()
  await rm(directory, { recursive: true, force: true })
})

async function ownerClient(): Promise<pg.Client> {
  const client = new pg.Client(clientConfig(hub.test.targets.owner, 'hub-test'))
  await client.connect()
  owners.push(client)
  return client
}
const owners: pg.Client[] = []
const masterKey = () => hub.test.masterKey
const save = (destination: string) =>
  writeBackup({ owner: hub.test.targets.owner, masterKey: masterKey(), hubVersion: '9.9.9', destination })

async function emptyTarget() {
  const target = await createEmptyDatabase()
  targets.push(target)
  return target
}

const leftOut = ['schema_migrations', 'sessions', 'refresh_families', 'spent_logins', 'magic_links']

/** Every row of every table, as text, in an order of its own. */
async function contentOf(client: pg.Client): Promise<Record<string, string[]>> {
  const { rows } = await client.query<{ name: string }>(
    `select relname::text as name from pg_class where relnamespace = 'hub'::regnamespace and relkind in ('r', 'p') and not relispartition and relname <> all ($1)`,
    [leftOut],
  )
  const content: Record<string, string[]> = {}
  for (const { name } of rows) {
    const found = await client.query<{ row: string }>(`select md5(t::text) as row from hub.${name} t order by 1`)
    content[name] = found.rows.map(({ row }) => row)
  }
  return content
}

/** What row-level security, rights and partitions make of the schema. */
async function schemaOf(client: pg.Client): Promise<unknown[]> {
  const { rows } = await client.query(
    `select relname::text, relkind, relrowsecurity, relforcerowsecurity, relispartition,
       (select array_agg(attname::text order by 1) from pg_attribute where attrelid = c.oid and attstattarget = 0) as unanalyzed,
       regexp_replace(relacl::text, 'hub_[a-z]+_[0-9a-f]{8}', '', 'g') as acl, pg_get_expr(relpartbound, c.oid) as bound
     from pg_class c where relnamespace = 'hub'::regnamespace order by 1`,
  )
  return rows
}

test('all rows of all tables come back, in a schema that is the same', async () => {
  const target = await emptyTarget()
  const restored = await restoreBackup(await target.owner(), backup, masterKey())
  expect(restored).toMatchObject({ hub_version: '9.9.9', tenants: ['acme', 'cmode', 'globex'], tombstones: 0 })
  expect(restored.created_at).toMatch(/^\d{4}-.*\d{6}Z$/)
  const [before, after] = [await hub.superuserClient(), await target.superuser()]
  const content = await contentOf(before)
  expect(Object.keys(content).length).toBeGreaterThan(30)
  expect(content.records!.length).toBe(restored.records)
  expect(await contentOf(after)).toEqual(content)
  expect(await schemaOf(after)).toEqual(await schemaOf(before))
  // Sessions and links are not in it.
  expect((await before.query('select from hub.magic_links')).rowCount).toBeGreaterThan(0)
  expect((await after.query('select from hub.magic_links')).rowCount).toBe(0)
})

test('the file is for its owner alone, is never put in the place of another, and may be named after the time', async () => {
  expect((await stat(backup)).mode & 0o777).toBe(0o600)
  await expect(save(backup)).rejects.toThrow(/The file .*all\.tar\.gz already exists/)
  const folder = await mkdtemp(join(directory, 'folder-'))
  const { file, bytes, records, tenants } = await save(folder)
  expect(await readdir(folder)).toEqual([file.slice(folder.length + 1)])
  expect(file).toMatch(/hub-\d{8}T\d{6}Z\.tar\.gz$/)
  expect({ bytes, tenants }).toEqual({ bytes: (await stat(file)).size, tenants: 3 })
  expect(records).toBeGreaterThan(10)
  await expect(save(join(directory, 'nowhere', 'x.tar.gz'))).rejects.toThrow(/could not be written/)
})

test('what is written meanwhile is in it wholly or not at all', async () => {
  const file = join(directory, 'meanwhile.tar.gz')
  let isOver = false
  const writing = (async () => {
    while (!isOver)
      await hub.call('acme', 'POST', '/api/v1/hub/records', { body: { record_type: 'artifact', title: 'x' } })
  })()
  await save(file).finally(() => {
    isOver = true
  })
  await writing
  const target = await emptyTarget()
  await restoreBackup(await target.owner(), file, masterKey())
  const { rows } = await (await target.superuser()).query(
    `select (select count(*) from hub.records r where not exists (select from hub.seals s where s.seal_id = r.seal_id)) as records,
       (select count(*) from hub.seals s where not exists (select from hub.records r where r.seal_id = s.seal_id)) as seals,
       (select count(*) from hub.seals s where not exists (select from hub.log_entries e where e.seal_id = s.seal_id)
          and not exists (select from hub.seal_arrivals a where s.seal_id = any (a.seal_ids))) as places`,
  )
  expect(rows[0]).toEqual({ records: 0, seals: 0, places: 0 })
})

test('a backup of an earlier version is loaded as it was, and then migrated', async () => {
  const earlier = await mkdtemp(join(directory, 'migrations-'))
  const migrations = resolve(import.meta.dirname, '../../server/db/migrations')
  const files = (await readdir(migrations)).sort().slice(0, 7)
  for (const name of files) await cp(join(migrations, name), join(earlier, name))
  const source = await emptyTarget()
  const owner = await source.owner()
  await migrate(owner, { directory: earlier })
  await owner.query(`insert into hub.tenants values ('old', 'A', null, 'orghub/log/old', now())`)
  await owner.query('begin')
  await owner.query(`select hub.set_tenant('old')`)
  await owner.query(`insert into hub.seals values ('old', gen_random_uuid(), 'k', now(), sha256('x'), sha256('x'))`)
  await owner.query('commit')
  const destination = join(directory, 'old.tar.gz')
  await writeBackup({ owner: source.target, masterKey: masterKey(), hubVersion: '0.0.1', destination })

  const target = await emptyTarget()
  await restoreBackup(await target.owner(), destination, masterKey())
  const env = { HUB_DATABASE_URL: target.url, HUB_MASTER_KEY: masterKey().toString('base64') }
  const opened = await openDatabase(loadConfig(env), { purpose: 'command' })
  await opened.stop()
  expect(opened.migrationsApplied[0]).toMatch(/^0008-/)
  const { rows } = await (await target.superuser()).query('select tenant_id from hub.seal_arrivals')
  expect(rows).toEqual([{ tenant_id: 'old' }])
})

/** The entries of an archive by name, in their order. */
async function entriesOf(file: string): Promise<Map<string, Buffer>> {
  const entries = new Map<string, Buffer>()
  const archive = extract()
  archive.end(gunzipSync(await readFile(file)))
  for await (const entry of archive) {
    const chunks: Buffer[] = []
    for await (const chunk of entry) chunks.push(chunk as Buffer)
    entries.set(entry.header.name, Buffer.concat(chunks))
  }
  return entries
}

async function archiveOf(name: string, entries: Map<string, Buffer>): Promise<string> {
  const archive = pack()
  for (const [entry, content] of entries) archive.entry({ name: entry }, content)
  archive.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of archive) chunks.push(chunk as Buffer)
  const file = join(directory, name)
  await writeFile(file, gzipSync(Buffer.concat(chunks)))
  return file
}

const partIn = (entries: Map<string, Buffer>, of: string) => [...entries.keys()].find((name) => name.includes(of))!

describe('nothing at all is loaded', () => {
  const changes: [string, RegExp, (entries: Map<string, Buffer>) => void][] = [
    [
      'a byte was changed',
      /part tenants\/acme\/archetypes\/000000 was changed/,
      (entries) => {
        const name = partIn(entries, 'acme/archetypes')
        entries.set(name, Buffer.from(entries.get(name)!.toString().replace('analyst', 'analyse')))
      },
    ],
    ['a part is missing', /is missing or misplaced/, (entries) => void entries.delete(partIn(entries, 'acme/seals'))],
    [
      'a part was added',
      /was changed|was added/,
      (entries) => {
        const manifest = entries.get(manifestName)!
        entries.delete(manifestName)
        entries.set('tenants/acme/archetypes/000001', Buffer.from('acme\tx\t\\N\n'))
        entries.set(manifestName, manifest)
      },
    ],
    [
      'the manifest was fitted to a change',
      /manifest was changed/,
      (entries) => {
        const manifest: BackupManifest = JSON.parse(entries.get(manifestName)!.toString())
        manifest.rows.archetypes = 7
        entries.set(manifestName, Buffer.from(JSON.stringify(manifest)))
      },
    ],
    [
      'the manifest was made with another key',
      /manifest was changed/,
      (entries) => {
        const manifest: BackupManifest = JSON.parse(entries.get(manifestName)!.toString())
        entries.set(manifestName, Buffer.from(JSON.stringify(signManifest(manifest, Buffer.alloc(32)))))
      },
    ],
    ['its end is missing', /the file was truncated/, (entries) => void entries.delete(manifestName)],
    [
      'its head is missing',
      /does not start with the header of a backup/,
      (entries) => void entries.delete('backup.json'),
    ],
    [
      'an entry does not belong to a backup',
      /does not belong to a backup/,
      (entries) => {
        const manifest = entries.get(manifestName)!
        entries.delete(manifestName)
        entries.set('tenants/acme/"records/000000', Buffer.from('x'))
        entries.set(manifestName, manifest)
      },
    ],
    [
      'a row cannot be read',
      /cannot be restored: .*column/,
      (entries) => {
        entries.set(partIn(entries, 'acme/archetypes'), Buffer.from('acme\n'))
      },
    ],
    [
      'a table is another',
      /is not the one of its migrations/,
      (entries) => {
        const head = JSON.parse(entries.get('backup.json')!.toString())
        head.tables[0].columns = ['x"; drop schema hub; --']
        entries.set('backup.json', Buffer.from(JSON.stringify(head)))
      },
    ],
    [
      'it is of a later version',
      /newer than this version of the Hub/,
      (entries) => {
        const head = JSON.parse(entries.get('backup.json')!.toString())
        for (let more = 0; more < 9; more += 1) head.migrations.push({ name: 'later', checksum: 'x' })
        entries.set('backup.json', Buffer.from(JSON.stringify(head)))
      },
    ],
    [
      'its form is of a later version',
      /created by Hub 9\.9\.9, in a format that this version does not support/,
      (entries) => {
        const head = JSON.parse(entries.get('backup.json')!.toString())
        entries.set('backup.json', Buffer.from(JSON.stringify({ ...head, format: 2 })))
      },
    ],
  ]
  test.each(changes)('when %s', async (_, message, change) => {
    const entries = await entriesOf(backup)
    change(entries)
    await expectRefused(await archiveOf('changed.tar.gz', entries), message)
  })

  test('when the file was cut off, or is none', async () => {
    const bytes = await readFile(backup)
    const file = join(directory, 'cut.tar.gz')
    await writeFile(file, bytes.subarray(0, bytes.length >> 1))
    await expectRefused(file, /cannot be restored/)
    await writeFile(file, 'not a backup')
    await expectRefused(file, /cannot be restored/)
    await expectRefused(join(directory, 'nowhere'), /cannot be restored/)
  })

  test('under another master key', async () => {
    const target = await emptyTarget()
    await expect(restoreBackup(await target.owner(), backup, Buffer.alloc(32, 1))).rejects.toThrow(
      /different master key/,
    )
  })

  test('but of the whole backup on the same connection', async () => {
    const entries = await entriesOf(backup)
    entries.set(partIn(entries, 'acme/archetypes'), Buffer.from('acme\n'))
    const target = await emptyTarget()
    const owner = await target.owner()
    await expect(restoreBackup(owner, await archiveOf('changed.tar.gz', entries), masterKey())).rejects.toThrow(
      'column',
    )
    expect((await restoreBackup(owner, backup, masterKey())).tenants).toHaveLength(3)
  })

  test('where the last word is no', async () => {
    const target = await emptyTarget()
    const owner = await target.owner()
    const beforeCommit = async () => {
      throw new Error('no')
    }
    const refusal = restoreBackup(owner, backup, masterKey(), { beforeCommit })
    await expect(refusal).rejects.toThrow('no')
    expect((await owner.query(`select to_regnamespace('hub') as hub`)).rows).toEqual([{ hub: null }])
  })

  test('where there is a Hub', async () => {
    const target = await emptyTarget()
    const owner = await target.owner()
    await restoreBackup(owner, backup, masterKey())
    const content = await contentOf(await target.superuser())
    await expect(restoreBackup(owner, backup, masterKey())).rejects.toThrow(
      /already contains a Hub, with the tenant acme/,
    )
    expect(await contentOf(await target.superuser())).toEqual(content)
  })

  async function expectRefused(file: string, message: RegExp): Promise<void> {
    const target = await emptyTarget()
    const owner = await target.owner()
    await expect(restoreBackup(owner, file, masterKey())).rejects.toThrow(message)
    expect((await owner.query(`select to_regnamespace('hub') as hub`)).rows).toEqual([{ hub: null }])
  }
})
