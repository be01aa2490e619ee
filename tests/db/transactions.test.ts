import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asServiceError } from '../../server/db/database-errors.ts'
import { FetchRequiredError } from '../../server/db/fetch-required.ts'
import { openPools } from '../../server/db/pooled-database.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await createTestDatabase()
})
afterAll(() => db.drop())

const archetype = (tenant_id: string, archetype_id: string) => ({ tenant_id, archetype_id, name: 'x' })

async function archetypesOf(tenant: string): Promise<string[]> {
  return db.database.withTenant(tenant, async ({ db: kysely }) => {
    const rows = await kysely
      .selectFrom('hub.archetypes')
      .select('archetype_id')
      .where('tenant_id', '=', tenant)
      .orderBy('archetype_id')
      .execute()
    return rows.map((row) => row.archetype_id)
  })
}

test('what commits is kept; what throws is rolled back', async () => {
  await db.database.withTenant('keep', (tx) =>
    tx.db.insertInto('hub.archetypes').values(archetype('keep', 'a')).execute(),
  )
  const failing = db.database.withTenant('keep', async (tx) => {
    await tx.db.insertInto('hub.archetypes').values(archetype('keep', 'b')).execute()
    throw new Error('changed my mind')
  })
  await expect(failing).rejects.toThrow('changed my mind')
  expect(await archetypesOf('keep')).toEqual(['a'])
})

test('a tenant sees and writes its own rows only, whatever the query names', async () => {
  await db.database.withTenant('mine', (tx) =>
    tx.db.insertInto('hub.archetypes').values(archetype('mine', 'a')).execute(),
  )
  const seen = await db.database.withTenant('theirs', (tx) => tx.db.selectFrom('hub.archetypes').selectAll().execute())
  expect(seen).toEqual([])
  const writing = db.database.withTenant('theirs', (tx) =>
    tx.db.insertInto('hub.archetypes').values(archetype('mine', 'b')).execute(),
  )
  await expect(writing).rejects.toMatchObject({ code: '42501' })
  const deleted = await db.database.withTenant('theirs', (tx) => tx.client.query('delete from hub.archetypes'))
  expect(deleted.rowCount).toBe(0)
})

test('the tenant ends with the transaction, also on a connection that is used again', async () => {
  const single = openPools({ ...db.targets, size: 1 })
  const tenantNow = "select current_setting('hub.tenant_id', true) as tenant, pg_backend_pid() as pid"
  const inside = await single.withTenant('brief', (tx) => tx.client.query(tenantNow))
  const after = await single.withRegistry((tx) => tx.client.query(tenantNow))
  expect(inside.rows[0].tenant).toBe('brief')
  expect(after.rows[0]).toEqual({ tenant: '', pid: inside.rows[0].pid })
  await single.close()
})

test.each(["x'; drop schema hub; --", '', 'A', 'ümlaut', 'a'.repeat(64), '1abc'])('%j is no tenant', async (slug) => {
  await expect(db.database.withTenant(slug, async () => {})).rejects.toThrow('not a tenant slug')
})

describe('misuse', () => {
  test('a transaction inside another is refused, and the outer one rolls back', async () => {
    const nested = db.database.withTenant('outer', async (tx) => {
      await tx.db.insertInto('hub.archetypes').values(archetype('outer', 'a')).execute()
      await db.database.withTenant('inner', async () => {})
    })
    await expect(nested).rejects.toThrow(/inside another/)
    expect(await archetypesOf('outer')).toEqual([])
  })

  test('a swallowed error does not pass for a commit', async () => {
    const swallowing = db.database.withTenant('swallow', async (tx) => {
      await tx.client.query('select 1/0').catch(() => {})
      return 'done'
    })
    await expect(swallowing).rejects.toThrow(/rolled back/)
  })

  test('a read-only transaction does not write', async () => {
    const writing = db.database.withTenant(
      'reader',
      (tx) => tx.db.insertInto('hub.archetypes').values(archetype('reader', 'a')).execute(),
      { readOnly: true },
    )
    await expect(writing).rejects.toMatchObject({ code: '25006' })
  })
})

test('afterCommit runs after the commit, once, and never after a rollback', async () => {
  const calls: string[] = []
  await db.database.withTenant('after', async (tx) => {
    tx.afterCommit(() => calls.push('committed'))
    calls.push('working')
  })
  await db.database
    .withTenant('after', async (tx) => {
      tx.afterCommit(() => calls.push('never'))
      throw new Error('no')
    })
    .catch(() => {})
  expect(calls).toEqual(['working', 'committed'])
})

test('afterCommit may open the next transaction', async () => {
  const next = Promise.withResolvers<string[]>()
  await db.database.withTenant('chain', async (tx) => {
    await tx.db.insertInto('hub.archetypes').values(archetype('chain', 'a')).execute()
    tx.afterCommit(() => void archetypesOf('chain').then(next.resolve, next.reject))
  })
  expect(await next.promise).toEqual(['a'])
})

test('of two transactions in a deadlock, the one that lost runs again', async () => {
  await db.database.withTenant('dead', (tx) =>
    tx.db
      .insertInto('hub.archetypes')
      .values([archetype('dead', 'a'), archetype('dead', 'b')])
      .execute(),
  )
  let runs = 0
  let updated = 0
  const bothUpdated = Promise.withResolvers<void>()
  const cross = (first: string, second: string) =>
    db.database.withTenant('dead', async (tx) => {
      runs += 1
      for (const id of [first, second]) {
        await tx.db
          .updateTable('hub.archetypes')
          .set({ name: `after ${first}` })
          .where('tenant_id', '=', 'dead')
          .where('archetype_id', '=', id)
          .execute()
        updated += 1
        if (updated === 2) bothUpdated.resolve()
        await bothUpdated.promise
      }
    })
  await Promise.all([cross('a', 'b'), cross('b', 'a')])
  expect(runs).toBe(3)
})

test('gives up on a transaction that keeps failing to serialize, after three runs', async () => {
  let runs = 0
  const failing = db.database.withTenant('retry', async (tx) => {
    runs += 1
    await tx.client.query("do $$ begin raise exception 'again' using errcode = '40001'; end $$")
  })
  await expect(failing).rejects.toMatchObject({ code: '40001' })
  expect(runs).toBe(3)
})

test('values arrive as the schema says: microseconds, safe integers, dates as text', async () => {
  const { rows } = await db.database.withRegistry((tx) =>
    tx.client.query(`select '2026-03-01 12:00:00.123456+02'::timestamptz as micros, '2026-03-01 12:00Z'::timestamptz as whole,
                            9007199254740991::int8 as big, '2026-03-01'::date as day, count(*) as n`),
  )
  expect(rows[0]).toEqual({
    micros: '2026-03-01T10:00:00.123456Z',
    whole: '2026-03-01T12:00:00.000000Z',
    big: 9007199254740991,
    day: '2026-03-01',
    n: 1,
  })
  const tooBig = db.database.withRegistry((tx) => tx.client.query('select 9007199254740993::int8'))
  await expect(tooBig).rejects.toThrow(/beyond/)
})

describe('a database that is away', () => {
  const unavailable = { slug: 'hub-unavailable', status: 503 }

  test('is hub-unavailable when nothing listens', async () => {
    const away = { ...db.targets.app, host: '/nonexistent' }
    const database = openPools({ app: away, ingest: away, size: 2 })
    await expect(database.ping()).rejects.toMatchObject(unavailable)
    await expect(database.withTenant('a1', async () => {})).rejects.toMatchObject(unavailable)
    await expect(database.ingest('a1', [])).rejects.toMatchObject(unavailable)
    await database.close()
  })

  test('is hub-unavailable when a statement takes too long, and its connection is used again', async () => {
    const single = openPools({ ...db.targets, size: 1 })
    const pid = async () => (await single.withRegistry((tx) => tx.client.query('select pg_backend_pid() as pid'))).rows
    const before = await pid()
    const slow = single.withRegistry((tx) => tx.client.query('set local statement_timeout = 20; select pg_sleep(5)'))
    await expect(slow).rejects.toMatchObject({ slug: 'hub-unavailable', status: 503, retryAfterSeconds: 5 })
    expect(await pid()).toEqual(before)
    await single.close()
  })

  test('is hub-unavailable when ingest takes too long, and its connection is used again', async () => {
    const single = openPools({ ...db.targets, size: 1 })
    const slow = { name: 'slow', text: "select set_config('statement_timeout', '20', true), pg_sleep(0)" }
    const sleep = { name: 'sleep', text: 'select pg_sleep(5)' }
    const steps = [slow, sleep].map((statement) => ({ statement, values: [] }))
    await expect(single.ingest('a1', steps)).rejects.toMatchObject({ slug: 'hub-unavailable', retryAfterSeconds: 5 })
    await single.ingest('a1', [])
    await single.close()
  })

  test('is hub-unavailable when the connection is cut in the middle of ingest, which is not tried again', async () => {
    const superuser = await db.superuserClient()
    const ids = () =>
      superuser.query(
        `select pid from pg_stat_activity where application_name = 'hub-ingest' and datname = current_database() and state = 'active'`,
      )
    const sleep = { statement: { name: 'sleep', text: 'select pg_sleep(5)' }, values: [] }
    const cut = db.database.ingest('cut', [sleep])
    const refused = expect(cut).rejects.toMatchObject(unavailable)
    let ended: number[] = []
    while (ended.length === 0) {
      ended = (await ids()).rows.map(({ pid }) => pid)
      for (const pid of ended) await superuser.query('select pg_terminate_backend($1)', [pid])
    }
    await refused
    // One that was ended may still be seen; another would be a second try.
    expect((await ids()).rows.filter(({ pid }) => !ended.includes(pid))).toEqual([])
  })

  test('is hub-unavailable when the connection is cut in the middle, and the next transaction works', async () => {
    const superuser = await db.superuserClient()
    const cut = db.database.withTenant('cut', async (tx) => {
      const { rows } = await tx.client.query('select pg_backend_pid() as pid')
      await superuser.query('select pg_terminate_backend($1)', [rows[0].pid])
      await tx.client.query('select pg_sleep(5)')
    })
    await expect(cut).rejects.toMatchObject(unavailable)
    await db.database.withTenant('cut', (tx) => tx.client.query('select 1'))
  })

  test('costs idle connections nothing but a reconnect', async () => {
    const superuser = await db.superuserClient()
    await db.database.ping()
    await superuser.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'hub-app' and datname = current_database()`,
    )
    await db.database.withTenant('idle', (tx) => tx.client.query('select 1'))
  })

  test('is hub-unavailable when every connection is in use for too long', async () => {
    const single = openPools({ ...db.targets, size: 1 })
    const [held, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const holding = single.withTenant('hold', () => {
      held.resolve()
      return end.promise
    })
    await held.promise
    await expect(single.withTenant('wait', async () => {})).rejects.toMatchObject(unavailable)
    end.resolve()
    await holding
    await single.close()
  })

  test.each(['08006', '25P03', '57P01', '57P03', '53300'])('SQLSTATE %s is hub-unavailable', (code) => {
    expect(asServiceError(Object.assign(new Error('x'), { code }))).toMatchObject({
      ...unavailable,
      retryAfterSeconds: 2,
    })
  })

  test('SQLSTATE 53100 is hub-unavailable, and says that storage is full', () => {
    expect(asServiceError(Object.assign(new Error('x'), { code: '53100' }))).toMatchObject({
      ...unavailable,
      message: expect.stringMatching(/^Storage is full: the disk of the database/),
      extensions: { full: 'database' },
    })
  })

  test.each(['23505', '42501', '22P02'])('SQLSTATE %s is the statement’s own', (code) => {
    const error = Object.assign(new Error('x'), { code })
    expect(asServiceError(error)).toBe(error)
  })
})

describe('a commit that is not confirmed', () => {
  const unknown = {
    slug: 'hub-unavailable',
    status: 503,
    retryAfterSeconds: 2,
    message: expect.stringMatching(/did not confirm/),
  }
  const step = {
    statement: { name: 'add', text: 'insert into hub.idempotency_keys values ($1, $2, $3, $4, now())' },
    values: ['unsure', Buffer.alloc(32), Buffer.alloc(32), '{}'],
  }

  /** Runs PL/pgSQL when a transaction that wrote to the table commits. */
  async function atCommit(table: string, body: string): Promise<void> {
    const superuser = await db.superuserClient()
    await superuser.query(`
      drop trigger if exists at_commit on ${table};
      create or replace function at_commit() returns trigger language plpgsql as $$ begin ${body}; return null; end $$;
      create constraint trigger at_commit after insert on ${table} deferrable initially deferred
        for each row execute function at_commit()`)
  }
  const write = (id: string) =>
    db.database.withTenant('unsure', async (tx) => {
      await tx.db.insertInto('hub.archetypes').values(archetype('unsure', id)).execute()
      tx.afterCommit(() => seen.push(id))
    })
  const seen: string[] = []

  test('a warning at COMMIT leaves a visible change without a promise', async () => {
    await atCommit('hub.archetypes', "raise warning 'the standby does not have it'")
    await expect(write('warned')).rejects.toMatchObject(unknown)
    expect(await archetypesOf('unsure')).toEqual(['warned'])
    expect(seen).toEqual(['warned'])
  })

  test.each(['XX000', '58030'])('SQLSTATE %s at COMMIT is not tried again', async (code) => {
    await atCommit('hub.archetypes', `raise exception 'a node is lost' using errcode = '${code}'`)
    await expect(write('lost')).rejects.toMatchObject(unknown)
    await atCommit('hub.idempotency_keys', `raise exception 'a node is lost' using errcode = '${code}'`)
    const ingest = db.database.ingest('unsure', [step])
    await expect(ingest).rejects.toMatchObject(unknown)
    expect(seen).toEqual(['warned'])
  })

  test('a refusal at COMMIT stays the error that it is', async () => {
    await atCommit('hub.archetypes', "raise exception 'no' using errcode = '23514'")
    await expect(write('refused')).rejects.toMatchObject({ code: '23514' })
  })

  test('ingest takes a warning of COMMIT alike, and none of a step before', async () => {
    await atCommit('hub.idempotency_keys', "raise warning 'the standby does not have it'")
    const ingest = db.database.ingest('unsure', [step])
    await expect(ingest).rejects.toMatchObject(unknown)
    const superuser = await db.superuserClient()
    const { rows } = await superuser.query("select tenant_id from hub.idempotency_keys where tenant_id = 'unsure'")
    expect(rows).toHaveLength(1)
    await superuser.query(`create function warn() returns int language plpgsql as
      $$ begin raise warning 'of a step'; return 1; end $$`)
    await db.database.ingest('unsure', [{ statement: { name: 'warn', text: 'select warn()' }, values: [] }])
  })
})

test('onQuery sees every statement, the opening too', async () => {
  const seen: string[] = []
  const database = openPools({ ...db.targets, size: 1, onQuery: (text) => seen.push(text) })
  await database.withTenant('watch', (tx) =>
    tx.db.selectFrom('hub.archetypes').select('name').where('tenant_id', '=', 'watch').execute(),
  )
  await database.close()
  expect(seen).toEqual([
    "begin; select hub.set_tenant('watch')",
    'select "name" from "hub"."archetypes" where "tenant_id" = $1',
    'commit',
  ])
})

test('a transaction runs again for each thing that it has not asked for before, and for one and the same a few times', async () => {
  const fetched = new Set<number>()
  const many = db.database.withTenant('fetch', async () => {
    const missing = Array.from({ length: 30 }, (_, n) => n).find((n) => !fetched.has(n))
    if (missing !== undefined) throw new FetchRequiredError(`number ${missing}`, async () => void fetched.add(missing))
    return fetched.size
  })
  expect(await many).toBe(30)
  let runs = 0
  const inVain = db.database.withTenant('fetch', async () => {
    runs += 1
    throw new FetchRequiredError('what never comes', async () => {})
  })
  await expect(inVain).rejects.toThrow('what never comes')
  expect(runs).toBe(10)
})
