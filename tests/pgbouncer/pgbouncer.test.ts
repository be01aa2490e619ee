import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { loadConfig } from '../../server/config.ts'
import { connectionUrl } from '../../server/db/connection-settings.ts'
import { openDatabase } from '../../server/db/open-database.ts'
import { serviceLogins } from '../../server/db/roles.ts'
import { walkEverything } from '../db/query-walk.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { startHub } from '../support/hub.ts'
import { makeTenant, startHubProcess } from '../support/hub-process.ts'
import { patience } from '../support/machine-speed.ts'
import { PgBouncer } from '../support/pgbouncer.ts'
import { event } from '../telemetry/events.ts'

/** Sessions of the server that the Hub did not open, with settings that it does not expect. */
const connectQuery = `set timezone = 'Asia/Tokyo'; set datestyle = 'SQL, DMY'; set statement_timeout = 0`
const poolSize = 3

describe('behind PgBouncer in transaction mode', () => {
  const cluster = inject('testCluster')
  let bouncer: PgBouncer
  let db: TestDatabase
  beforeAll(async () => {
    bouncer = await PgBouncer.start(cluster.superuser, { poolSize, connectQuery })
    db = await createTestDatabase()
  })
  afterAll(async () => {
    await db?.drop()
    await bouncer?.stop()
    await removeDataDirectories()
  })

  const settings = (given: Record<string, string>) => ({
    HUB_DATABASE_URL: connectionUrl(bouncer.before(db.targets.owner)),
    HUB_DATABASE_DIRECT_URL: db.url,
    HUB_MASTER_KEY: cluster.masterKey,
    ...given,
  })
  const open = (given: Record<string, string>) => openDatabase(loadConfig(settings(given)), { purpose: 'command' })

  test('every statement of the service works', async () => {
    const hub = await startHub({ pooler: bouncer, poolSize: 8, settings: { HUB_OUTBOUND_ALLOW: '127.0.0.1' } })
    try {
      await walkEverything(hub)
      const { body } = await hub.call('acme', 'GET', '/api/v1/hub/records?limit=5')
      expect(body.records).toHaveLength(5)
      for (const { created_at } of body.records) expect(created_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3,6}Z$/)
    } finally {
      await hub.stop()
    }
  })

  test('transactions of more connections than the server has are in UTC, and have their time limit', async () => {
    const database = await open({ HUB_DATABASE_POOL: '8' })
    try {
      const read = `select current_setting('timezone') as zone, current_setting('datestyle') as dates,
        current_setting('statement_timeout') as time_limit, pg_backend_pid() as pid from pg_sleep(0.02)`
      const found = await Promise.all(
        Array.from({ length: 24 }, (_, at) =>
          database.withTenant(`tenant-${at}`, async ({ client }) => (await client.query(read)).rows[0]),
        ),
      )
      expect(new Set(found.map(({ zone, dates, time_limit }) => [zone, dates, time_limit].join()))).toEqual(
        new Set(['UTC,ISO, YMD,30s']),
      )
      expect(new Set(found.map(({ pid }) => pid)).size).toBeLessThanOrEqual(poolSize)
      // Nothing of a transaction is left in the sessions of the server.
      const client = new pg.Client(bouncer.before(db.targets.app))
      await client.connect()
      const { rows } = await client.query(`select current_setting('timezone') as zone,
        coalesce(current_setting('hub.tenant_id', true), '') as tenant, (select count(*)::int from pg_prepared_statements) as prepared`)
      await client.end()
      expect(rows).toEqual([{ zone: 'Asia/Tokyo', tenant: '', prepared: 0 }])
    } finally {
      await database.stop()
    }
  })

  test('a Hub serves, and loses nothing when PgBouncer is killed and started again', async () => {
    const dataDir = await freshDataDirectory()
    const given = settings({ HUB_DATABASE_POOL: '8', HUB_LIMIT_FACTOR: '10000' })
    const hub = await startHubProcess(dataDir, given)
    try {
      const client = new HubClient({
        baseUrl: hub.url,
        ...(await makeTenant(dataDir, 'pooled', undefined, undefined, given)),
      })
      const skill = { record_type: 'skill_definition', skill_id: 'sum-up', skill_version: '1.0.0', name: 'Sum up' }
      await client.post('/api/v1/hub/records', { body: skill })
      const acknowledged: string[] = []
      let ends = false
      const work = async () => {
        while (!ends) {
          const { record_id } = await client
            .post<{ record_id?: string }>('/api/v1/telemetry/events', { body: event() })
            .catch(() => ({ record_id: undefined }))
          if (record_id !== undefined) acknowledged.push(record_id)
        }
      }
      const working = Promise.all(Array.from({ length: 8 }, work))
      await expect.poll(() => acknowledged.length, patience).toBeGreaterThan(50)
      await bouncer.kill()
      await bouncer.start()
      const before = acknowledged.length
      await expect.poll(() => acknowledged.length, patience).toBeGreaterThan(before + 50)
      ends = true
      await working
      const superuser = await db.superuserClient()
      const { rows } = await superuser.query<{ id: string }>(
        `select record_id as id from hub.records where tenant_id = 'pooled' and record_type = 'telemetry_event'`,
      )
      const stored = new Set(rows.map(({ id }) => id))
      expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
    } finally {
      await hub.stop()
    }
  })

  test('the configuration of docs/scaling.md lets the roles of the Hub in, and no other', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/scaling.md'), 'utf8')
    const sql = /```sql\n(.*?)```/s.exec(page)?.[1] ?? ''
    const query = /^auth_query = (.*)$/m.exec(page)?.[1] ?? ''
    const superuser = await db.superuserClient()
    await superuser.query(sql)
    const auth = { user: 'pgbouncer', password: 'choose-one', query }
    const documented = await PgBouncer.start(cluster.superuser, { poolSize, auth })
    try {
      const database = await open({ HUB_DATABASE_URL: connectionUrl(documented.before(db.targets.owner)) })
      await database.ping()
      await database.stop()
      const owner = new pg.Client(documented.before(db.targets.owner))
      await expect(owner.connect()).rejects.toThrow()
    } finally {
      await documented.stop()
      await superuser.query('drop owned by pgbouncer; drop role pgbouncer')
    }
  })

  test('HUB_DATABASE_URL alone at a pooler is refused with the variable to set', async () => {
    const env = { HUB_DATABASE_URL: settings({}).HUB_DATABASE_URL, HUB_MASTER_KEY: cluster.masterKey }
    await expect(openDatabase(loadConfig(env), { purpose: 'command' })).rejects.toMatchObject({
      name: 'StartupError',
      fix: expect.stringContaining('HUB_DATABASE_DIRECT_URL'),
    })
  })

  test('a pooler before another database than HUB_DATABASE_DIRECT_URL is refused', async () => {
    const other = await createTestDatabase()
    try {
      const pooled = connectionUrl(bouncer.before(other.targets.owner))
      await expect(open({ HUB_DATABASE_URL: pooled })).rejects.toMatchObject({
        name: 'StartupError',
        message: expect.stringContaining('two databases'),
        fix: expect.stringContaining('HUB_DATABASE_DIRECT_URL'),
      })
    } finally {
      await other.drop()
    }
  })

  test('a pooler that is down, or knows no role of the Hub, is refused with what to do', async () => {
    const down = connectionUrl({ ...bouncer.before(db.targets.owner), port: 1 })
    await expect(open({ HUB_DATABASE_URL: down })).rejects.toMatchObject({
      name: 'StartupError',
      message: expect.stringContaining(serviceLogins(db.masterKey).app.user),
      fix: expect.stringContaining('auth_query'),
    })
  })
})
