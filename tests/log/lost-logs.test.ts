import { access, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Tenant } from '../../server/http/caller.ts'
import { createLogRetirement } from '../../server/modules/log/checkpoint-sinks/log-retirement.ts'
import { decisionDraft, writeSealed } from '../hub/attack-scenes.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'

let hub: TestHub
let db: pg.Client
const operator = { operator: 'test' }

beforeAll(async () => {
  hub = await startHub()
  db = await hub.superuserClient()
  hub.modules.checkpoints.keeper.start()
  hub.modules.hub.sweeper.start()
})
afterAll(async () => {
  await hub.modules.hub.sweeper.stop()
  await hub.modules.checkpoints.keeper.stop()
  await hub.stop()
})

const isThere = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  )
const fileOf = (tenant: Tenant) => hub.modules.checkpoints.filesOf(tenant.logName)[0]!
const lost = () => hub.modules.checkpoints.lostLogs()
const health = async () => (await hub.call('acme', 'GET', '/v1/health', { token: null })).body

/** A tenant whose log has a checkpoint outside of the database. */
async function keptTenant(slug: string): Promise<Tenant> {
  const wanted = { slug, mode: 'A', adminEmail: `admin@${slug}.example` } as const
  const { tenant } = await hub.modules.tenants.administration.create(wanted, operator)
  await writeSealed(hub, tenant, decisionDraft('kept'))
  await hub.modules.log.logs.integrate(tenant)
  const head = await hub.test.database.withTenant(slug, (tx) => hub.modules.log.logs.head(tx))
  hub.modules.checkpoints.keeper.headSigned(tenant, head!)
  // The file is created before its log is in the list of known logs, and written after.
  await expect.poll(() => readFile(fileOf(tenant), 'utf8').catch(() => '')).toContain(tenant.logName)
  return tenant
}

/** Deletes every row of the tenant, and its entry and its published keys unless they are kept. */
async function remove({ slug, logName }: Tenant, kept: { entry?: boolean; key?: boolean } = {}): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'hub'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and a.attname = 'tenant_id'`,
  )
  for (const { name } of rows) await db.query(`delete from ${name} where tenant_id = $1`, [slug])
  if (!kept.key) await db.query('delete from hub.published_keys where name = $1', [logName])
  if (!kept.entry) await db.query('delete from hub.tenants where slug = $1', [slug])
}

/** Ways to delete every row of a tenant, and the problem that each leaves. */
const attacks = [
  { slug: 'emptied', entry: true, key: true, problem: 'no_rows', line: 'has no head or no key any more' },
  { slug: 'entry-left', entry: true, key: false, problem: 'no_tenant', line: 'has no tenant any more' },
  { slug: 'key-left', entry: false, key: true, problem: 'no_tenant', line: 'has no tenant any more' },
  { slug: 'removed', entry: false, key: false, problem: 'no_tenant', line: 'has no tenant any more' },
] as const

test('a tenant that was removed from the database is an alarm, whatever is left of it', async () => {
  const tenants: Tenant[] = []
  for (const { slug } of attacks) tenants.push(await keptTenant(slug))
  expect((await health()).degraded).toBeUndefined()
  expect(await lost()).toEqual([])
  const expected: object[] = []
  for (const [at, attack] of attacks.entries()) {
    await remove(tenants[at]!, attack)
    expected.push({ log_name: tenants[at]!.logName, problem: attack.problem })
    expect(await lost()).toEqual(expected)
    // The first has the fewest traces.
    if (at === 0) await expect.poll(async () => (await health()).degraded).toBe(true)
  }
  const hasLine = ({ line }: { line: string }, at: number) =>
    hub.logLines.some((each) => each.includes(line) && each.includes(tenants[at]!.logName))
  await expect.poll(() => attacks.every(hasLine), { timeout: scaled(90_000) }).toBe(true)
  const body = await health()
  expect(body.checks.logs).toEqual({ ok: false, reason: expect.stringContaining('hub log audit') })
  for (const { logName } of tenants) expect(JSON.stringify(body)).not.toContain(logName)
  // An entry that was put in again stands for nothing without a key.
  await db.query(
    `insert into hub.tenants (slug, mode, log_name, created_at, suspended_at) values ('ghost', 'A', $1, now(), now())`,
    [tenants.at(-1)!.logName],
  )
  expect(await lost()).toEqual(expected)
  await db.query(`delete from hub.tenants where slug = 'ghost'`)
  const files = tenants.map(fileOf)
  for (const file of files) await rename(file, `${file}.moved`)
  expect(await lost()).toEqual(expected)
  for (const file of files) await rename(`${file}.moved`, file)
  // Taking lines out of the list hides no log whose file is left.
  const list = join(dirname(files[0]!), 'known-logs.txt')
  const lines = await readFile(list, 'utf8')
  await writeFile(
    list,
    lines
      .split('\n')
      .filter((line) => !line.includes(tenants[0]!.logName))
      .join('\n'),
  )
  expect(new Set(await lost())).toEqual(new Set(expected))
  await writeFile(list, lines)
  // The next tests begin without an alarm.
  for (const { logName } of tenants) await hub.modules.checkpoints.putAside(logName, 0, 'over')
  expect(await lost()).toEqual([])
})

test('a file that was removed is an alarm, and is not begun anew', async () => {
  const tenant = await keptTenant('unkept')
  await rm(fileOf(tenant))
  expect(await lost()).toContainEqual({ log_name: tenant.logName, problem: 'no_file' })
  const reports = `select from hub.records where tenant_id = 'unkept' and event_kind = 'hub.tamper_detected'
    and canonical like '%kept_checkpoints_present%'`
  await expect.poll(async () => (await db.query(reports)).rowCount).toBe(1)
  await hub.modules.log.logs.integrate(tenant)
  const head = await hub.test.database.withTenant('unkept', (tx) => hub.modules.log.logs.head(tx))
  const kept = { kept_at: '2026-11-23T00:00:00.000000Z', log_name: tenant.logName, tree_size: head!.treeSize }
  const again = hub.modules.checkpoints.retire(tenant, { ...kept, checkpoint: head!.checkpoint }, {} as never)
  await expect(again).rejects.toThrow(/are missing: restore /)
  expect(await isThere(fileOf(tenant))).toBe(false)
})

test('a log that was retired may go, unless it went on', async () => {
  const { modules, test: store } = hub
  const retirement = createLogRetirement({
    database: store.database,
    logs: modules.log.logs,
    keys: modules.keys.provenance,
    governance: modules.governance,
    checkpoints: modules.checkpoints,
  })
  const names = async () => (await lost()).map(({ log_name }) => log_name)
  const ended = await keptTenant('ended')
  const statement = await retirement.retire(ended, 'contract ended', operator)
  expect(statement.statement).toContain('reason "contract ended"')
  await remove(ended)
  expect(await names()).not.toContain(ended.logName)

  const wentOn = await keptTenant('went-on')
  await retirement.retire(wentOn, 'contract ended', operator)
  await writeSealed(hub, wentOn, decisionDraft('later'))
  await modules.log.logs.integrate(wentOn)
  const head = await store.database.withTenant('went-on', (tx) => modules.log.logs.head(tx))
  modules.checkpoints.keeper.headSigned(wentOn, head!)
  const newest = async () => (await modules.checkpoints.newest(wentOn.logName))?.treeSize
  await expect.poll(newest).toBe(head!.treeSize)
  await remove(wentOn)
  expect(await names()).toContain(wentOn.logName)
})
