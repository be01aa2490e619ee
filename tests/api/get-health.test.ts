import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { HealthService } from '../../server/modules/observability/health-service.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'

const poolSize = 4
let hub: TestHub
beforeAll(async () => {
  hub = await startHub({ poolSize })
})
afterAll(() => hub.stop())

test('needs neither token nor tenant', async () => {
  const { status, body } = await hub.call('acme', 'GET', '/v1/health', {
    token: null,
    headers: { 'x-service-tenant': undefined },
  })
  expect(status).toBe(200)
  expect(body).toEqual({
    status: 'ok',
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    checks: { database: { ok: true, latency_ms: expect.any(Number) } },
  })
})

test('is the same for every tenant, and for none', async () => {
  for (const token of [null, 'nonsense', await hub.token('globex')]) {
    expect((await hub.call('acme', 'GET', '/v1/health', { token })).status).toBe(200)
  }
})

test('takes no parameter', async () => {
  const { status, body } = await hub.call('acme', 'GET', '/v1/health?verbose=1')
  expect([status, body.errors[0].pointer]).toEqual([400, '/query/verbose'])
})

test('is answered while every connection for requests is in use', async () => {
  const end = Promise.withResolvers<void>()
  let running = 0
  const hold = async () => {
    running += 1
    await end.promise
  }
  const { database } = hub.test
  const holding = Array.from({ length: 2 * poolSize }, (_, at) => database.withTenant(at % 2 ? 'acme' : 'globex', hold))
  await expect.poll(() => running).toBe(poolSize)
  const { status, body } = await hub.call('acme', 'GET', '/v1/health', { token: null })
  expect([status, body.status, running]).toEqual([200, 'ok', poolSize])
  end.resolve()
  await Promise.all(holding)
})

describe('when the database is away', () => {
  test('is 503 with its body and Retry-After, and recovers by itself', async () => {
    const { host, port, user, password, database } = await hub.superuserClient()
    // A database can be closed from another one only.
    const admin = new pg.Client({
      host,
      port,
      database: 'postgres',
      ...(user && { user }),
      ...(password && { password }),
    })
    await admin.connect()
    await admin.query(`alter database "${database}" allow_connections false`)
    await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()`,
      [database],
    )
    const away = await until(503)
    expect(away.body).toEqual({
      status: 'unavailable',
      version: expect.any(String),
      checks: { database: { ok: false } },
    })
    expect(Number(away.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    await admin.query(`alter database "${database}" allow_connections true`)
    await admin.end()
    expect((await until(200)).body.status).toBe('ok')
  })

  async function until(status: number) {
    for (const deadline = Date.now() + scaled(30_000); Date.now() < deadline; ) {
      const answer = await hub.call('acme', 'GET', '/v1/health', { token: null })
      if (answer.status === status) return answer
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error(`/v1/health did not become ${status}`)
  }
})

describe('when the disk of the database is full', () => {
  const records = '/api/v1/hub/records'
  const artifact = { record_type: 'artifact', title: 'x' }
  const health = () => hub.call('acme', 'GET', '/v1/health', { token: null })
  let client: pg.Client
  beforeAll(async () => {
    client = await hub.superuserClient()
    await client.query(`create function public.disk_is_full() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`)
    await client.query(
      'create trigger full_disk before insert on hub.records for each row execute function public.disk_is_full()',
    )
  })
  afterEach(() => vi.restoreAllMocks())

  test.each([
    ['a record', records, artifact],
    ['a hold', '/api/v1/hub/legal-holds', { name: 'x', reason: 'x', all: true }],
    ['an export', '/api/v1/hub/records:export', {}],
  ])('writing %s is 503, and says that storage is full', async (_, path, body) => {
    const answer = await hub.call('acme', 'POST', path, { body })
    expect(answer.status, answer.text).toBe(503)
    expect(answer.body).toMatchObject({
      type: expect.stringMatching(/\/errors\/hub-unavailable$/),
      detail: expect.stringMatching(/^Storage is full: the disk of the database/),
      full: 'database',
    })
    expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    expect(answer.text).not.toContain('extend file')
  })

  test('the log has it as an error, and health gives the reason', async () => {
    await hub.call('acme', 'POST', records, { body: artifact })
    const lines = hub.logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'storage is full')
    expect(lines.at(-1)).toMatchObject({ level: 50, full: 'database', err: { code: '53100' } })
    await expect.poll(async () => (await health()).status).toBe(503)
    const { body, headers } = await health()
    expect(body).toEqual({
      status: 'unavailable',
      version: expect.any(String),
      checks: { database: { ok: false, reason: 'storage is full' } },
    })
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1)
  })

  test('other processes are told, and one that is told gives the reason too', async () => {
    const tell = vi.fn()
    hub.test.database.onFull(tell)
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 2_000)
    await hub.call('acme', 'POST', records, { body: artifact })
    expect(tell).toHaveBeenCalled()
    hub.test.database.onFull(() => {})
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 64_000)
    expect((await health()).status).toBe(200)
    hub.test.database.noteFull()
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 65_000)
    expect((await health()).body.checks.database.reason).toBe('storage is full')
  })

  test('reads go on, and health recovers once no write has met a full disk for a minute', async () => {
    expect((await hub.call('acme', 'GET', records)).status).toBe(200)
    await client.query('drop trigger full_disk on hub.records')
    const written = await hub.call('acme', 'POST', records, { body: artifact })
    expect(written.status, written.text).toBe(201)
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 126_000)
    expect((await health()).status).toBe(200)
  })
})

describe('the look at the database', () => {
  test('counts one that does not answer in time as away', async () => {
    const service = new HealthService({ version: '1.2.3', pingDatabase: () => new Promise(() => {}), timeoutMs: 20 })
    expect(await service.check()).toEqual({
      status: 'unavailable',
      version: '1.2.3',
      checks: { database: { ok: false } },
    })
  })

  test('is shared by those who ask at once', async () => {
    let looks = 0
    const service = new HealthService({ version: '1.2.3', pingDatabase: async () => void looks++, freshMs: 30 })
    await Promise.all(Array.from({ length: 50 }, () => service.check()))
    expect(looks).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 40))
    await service.check()
    expect(looks).toBe(2)
  })
})
