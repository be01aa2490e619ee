import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ExamineOptions, examine } from '../../cli/doctor/examine.ts'
import { type Finding, lineOf, worstOf } from '../../cli/doctor/finding.ts'
import { type CliHub, startCliHub } from './cli-hub.ts'

let lab: CliHub
let superuser: pg.Client
let directory: string
beforeAll(async () => {
  lab = await startCliHub()
  superuser = await lab.hub.test.superuserClient()
  directory = await mkdtemp(join(tmpdir(), 'hub-doctor-'))
})
afterAll(async () => {
  await lab.stop()
  await rm(directory, { recursive: true, force: true })
})

const room = async () => Number.MAX_SAFE_INTEGER

/** Runs the checks beside the Hub of the test, with further or other variables. */
function findings(env: Record<string, string> = {}, options: Partial<ExamineOptions> = {}): Promise<Finding[]> {
  const sinks = { HUB_CHECKPOINT_SINK: `file://${directory}` }
  return examine({ env: { ...lab.env, ...sinks, ...env }, freeBytes: room, ...options })
}

async function find(check: string, ...given: Parameters<typeof findings>): Promise<Finding[]> {
  return (await findings(...given)).filter((finding) => finding.check === check)
}

const of = (check: string, status: string, detail: RegExp) =>
  expect.objectContaining({ check, status, detail: expect.stringMatching(detail), action: expect.stringMatching(/\w/) })

test('beside a running Hub, everything but the settings of the test server is fine', async () => {
  const all = await findings()
  const bad = all.filter(({ check, status }) => status !== 'ok' && check !== 'settings')
  expect(bad).toEqual([])
  expect(all).toContainEqual({ check: 'service', status: 'ok', detail: `The Hub runs at ${lab.hub.baseUrl}.` })
  for (const finding of all) expect(lineOf(finding)).toMatch(/^(ok|warning|problem) +[a-z ]+: .*\.?$/)
})

test('an invalid setting is found, and nothing else is tried', async () => {
  const all = await findings({ HUB_PORT: 'x' })
  expect(all[0]).toEqual(of('configuration', 'problem', /^HUB_PORT is "x"/))
  expect(all.map(({ check }) => check)).toEqual(['configuration', 'database'])
})

test('a Hub in production that trusts no proxy gets a warning', async () => {
  const env = { HUB_ENV: 'production', HUB_BASE_URL: 'https://hub.example.com' }
  expect(await find('configuration', env)).toEqual([of('configuration', 'warning', /^HUB_TRUSTED_PROXIES is not set/)])
})

test('a secret file that everybody can read is found', async () => {
  const file = join(directory, 'token')
  await writeFile(file, 't'.repeat(40))
  await chmod(file, 0o644)
  expect(await find('configuration', { HUB_OPERATOR_TOKEN_FILE: file })).toEqual([
    of('configuration', 'warning', /every user can read/),
  ])
})

test('a wrong, a missing and a readable master key are found', async () => {
  const other = Buffer.alloc(32, 9).toString('base64')
  expect(await find('master key', { HUB_MASTER_KEY: other })).toEqual([of('master key', 'problem', /different/)])
  const dataDir = join(directory, 'keys')
  await mkdir(dataDir)
  const env = { HUB_MASTER_KEY: '', HUB_DATA_DIR: dataDir }
  expect(await find('master key', env)).toEqual([of('master key', 'problem', /There is none/)])
  const keyFile = join(dataDir, 'master.key')
  await writeFile(keyFile, lab.hub.test.masterKey.toString('base64'))
  await chmod(keyFile, 0o644)
  expect(await find('master key', env)).toContainEqual(of('master key', 'problem', /mode 644/))
})

test('a missing migration and a foreign one are found', async () => {
  const { rows } = await superuser.query('select * from hub.schema_migrations order by version desc limit 1')
  const [last] = rows
  await superuser.query('delete from hub.schema_migrations where version = $1', [last.version])
  const missing = await find('migrations')
  await superuser.query(
    'insert into hub.schema_migrations (version, name, checksum, applied_at) values ($1, $2, $3, $4)',
    [last.version, last.name, 'other', last.applied_at],
  )
  const foreign = await find('migrations')
  await superuser.query('update hub.schema_migrations set checksum = $1 where version = $2', [
    last.checksum,
    last.version,
  ])
  expect(missing).toEqual([of('migrations', 'problem', /^1 of \d+ are missing/)])
  expect(foreign).toEqual([of('migrations', 'problem', /is not the one of this version/)])
})

test('a disk that is nearly full is found', async () => {
  const free = (mebibytes: number) => ({ freeBytes: async () => mebibytes * 1024 * 1024 })
  expect(await find('disk', {}, free(511))).toEqual([of('disk', 'problem', /511 MiB are free/)])
  expect(await find('disk', {}, free(1000))).toEqual([of('disk', 'warning', /1,000 MiB are free/)])
})

test('a clock that differs from that of the database is found', async () => {
  const off = (ms: number) => ({ now: () => Date.now() + ms })
  expect(await find('clock', {}, off(-60_000))).toEqual([of('clock', 'problem', /behind/)])
  expect(await find('clock', {}, off(60_000))).toEqual([of('clock', 'problem', /ahead of/)])
})

test('late and failed jobs, and waiting work of tenants, are found', async () => {
  await superuser.query(
    `insert into hub_jobs.queue (name, policy, retry_limit, retry_delay, retry_backoff, expire_seconds,
       retention_seconds, deletion_seconds, partition, table_name)
     values ('planted', 'standard', 0, 0, false, 900, 9000, 9000, false, 'job_common')`,
  )
  await superuser.query(
    `insert into hub_jobs.job (name, state, start_after, completed_on, policy)
     values ('planted', 'failed', now(), now(), 'standard'), ('planted', 'created', now() - interval '2 hours', null, 'standard')`,
  )
  await superuser.query(`insert into hub.telemetry_deltas (tenant_id, delta_id, entries)
    values ('acme', '01890000-0000-7000-8000-000000000001', '')`)
  const all = await findings()
  await superuser.query(`delete from hub_jobs.job where name = 'planted'`)
  await superuser.query(`delete from hub.telemetry_deltas where delta_id = '01890000-0000-7000-8000-000000000001'`)
  expect(all).toContainEqual(of('jobs', 'problem', /Jobs wait for over 5 minutes.*planted \(1\)/))
  expect(all).toContainEqual(of('jobs', 'warning', /Failed within a day.*planted \(1\)/))
  expect(all).toContainEqual(of('queues', 'problem', /have waited for \d+ s/))
})

test('a stale checkpoint is found', async () => {
  await superuser.query(
    `insert into hub.log_heads (tenant_id, tree_size, root, checkpoint, signed_at)
     values ('acme', 1000, '', '', now() - interval '1 hour')
     on conflict (tenant_id) do update set tree_size = 1000, signed_at = excluded.signed_at`,
  )
  const [found] = await find('checkpoints')
  await superuser.query(`update hub.log_heads set signed_at = now() where tenant_id = 'acme'`)
  expect(found).toEqual(of('checkpoints', 'problem', /have no current checkpoint/))
  expect(await find('checkpoints', { HUB_CHECKPOINT_SINK: 'off' })).toEqual([of('checkpoints', 'warning', /off/)])
})

test('tenants beyond the limit are not checked, and the findings say so', async () => {
  for (const check of ['queues', 'checkpoints']) {
    const [found] = await find(check, {}, { tenantsMax: 1 })
    expect(found?.detail).toMatch(/ Only the first 1 tenants were checked\.$/)
    expect((await find(check))[0]?.detail).not.toContain('Only the first')
  }
})

test('settings that lose records in a crash are found, also those of the database alone', async () => {
  const { rows } = await superuser.query('select quote_ident(current_database()) as name')
  await superuser.query(`alter database ${rows[0].name} set synchronous_commit = off`)
  const found = await find('settings')
  await superuser.query(`alter database ${rows[0].name} reset synchronous_commit`)
  // The server of the tests is a throwaway one.
  expect(found).toEqual([
    of('settings', 'problem', /^fsync is off/),
    of('settings', 'problem', /^full_page_writes is off/),
    of('settings', 'problem', /^synchronous_commit is off/),
  ])
})

test('neighbours that do not answer are found', async () => {
  const all = await findings({
    HUB_VALKEY_URL: 'redis://127.0.0.1:1',
    HUB_SMTP_URL: 'smtp://127.0.0.1:1',
    HUB_STORAGE_URL: 's3://bucket?endpoint=http://127.0.0.1:1&region=x&access_key_id=a&secret_access_key=secret1',
  })
  expect(all).toContainEqual(of('valkey', 'problem', /does not answer: .*ECONNREFUSED/))
  expect(all).toContainEqual(of('mail', 'problem', /ECONNREFUSED|ECONNECTION|ESOCKET/))
  expect(all).toContainEqual(of('files', 'problem', /cannot be used/))
  expect(JSON.stringify(all)).not.toContain('secret1')
})

test('partitions that are missing ahead are found', async () => {
  const { rows } = await superuser.query<{ leaf: string }>(
    `select 'records_' || to_char((now() at time zone 'UTC') + interval '1 month', '"y"YYYY"m"MM') as leaf`,
  )
  await superuser.query(`drop table hub.${rows[0]?.leaf}`)
  const found = await find('partitions')
  await superuser.query('select hub.ensure_record_partitions(3)')
  expect(found).toEqual([of('partitions', 'problem', /^hub\.records has none for \d{4}-\d\d/)])
})

test('a pool that the server cannot serve is found', async () => {
  expect(await find('connections', { HUB_DATABASE_POOL: '1000' })).toEqual([of('connections', 'problem', /leaves \d+/)])
  const pooled = { HUB_DATABASE_POOL: '1000', HUB_DATABASE_DIRECT_URL: lab.hub.test.url }
  const ok = {
    check: 'connections',
    status: 'ok',
    detail: expect.stringMatching(/^This machine's processes use up to 4,/),
  }
  expect(await find('connections', pooled)).toEqual([ok])
})

test('a read replica that is away, is the primary itself or has another database is found', async () => {
  const own = lab.env.HUB_DATABASE_URL!
  const named = (url: string) => find('replica', { HUB_DATABASE_READ_URL: url })
  expect(await find('replica')).toEqual([])
  expect(await named(own)).toEqual([of('replica', 'warning', /it is not a standby\.$/)])
  expect(await named(own.replace(/\/hub_[0-9a-f]+\?/, '/postgres?'))).toEqual([
    of('replica', 'problem', /another database than the primary/),
  ])
  expect(await named(own.replace(/port=\d+/, 'port=1'))).toEqual([of('replica', 'warning', /is not used/)])
})

test('a database that cannot be reached is found, without its password', async () => {
  const all = await findings({ HUB_DATABASE_URL: 'postgresql://owner:secret2@127.0.0.1:1/hub' })
  expect(all).toContainEqual(of('database', 'problem', /cannot be reached/))
  expect(JSON.stringify(all)).not.toContain('secret2')
})

test('the worst finding is the status', () => {
  const finding = (status: Finding['status']) => ({ check: 'a', status, detail: 'b' })
  expect(worstOf([])).toBe('ok')
  expect(worstOf([finding('ok'), finding('warning')])).toBe('warning')
  expect(worstOf([finding('problem'), finding('warning')])).toBe('problem')
})
