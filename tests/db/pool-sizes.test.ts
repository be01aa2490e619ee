import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database, TransactionMode } from '../../server/db/database.ts'
import { openPools } from '../../server/db/pooled-database.ts'
import { inBackground } from '../../server/db/work-classes.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

const size = 4
/** A quarter is for the others. */
const ofTenant = 3
let db: TestDatabase
let pools: Database

beforeAll(async () => {
  db = await createTestDatabase()
  pools = openPools({ ...db.targets, size })
})
afterAll(async () => {
  await pools.close()
  await db.drop()
})

/** Transactions that run until they are ended, and the order in which they began. */
function holder() {
  const began: string[] = []
  const ends: (() => void)[] = []
  const all: Promise<void>[] = []
  return {
    began,
    hold(tenant: string, mode?: TransactionMode) {
      const end = Promise.withResolvers<void>()
      ends.push(end.resolve)
      const work = async () => {
        began.push(tenant)
        await end.promise
      }
      all.push(pools.withTenant(tenant, work, mode))
    },
    async endAll() {
      for (const end of ends) end()
      await Promise.all(all)
    },
  }
}

describe('with a tenant that asks for more than the pool has', () => {
  test('another one is served beside it, and the rest of the first waits', async () => {
    const { began, hold, endAll } = holder()
    for (let at = 0; at < 2 * size; at += 1) hold('greedy')
    await expect.poll(() => began.length).toBe(ofTenant)
    expect(await pools.withTenant('neighbour', async () => 'served')).toBe('served')
    expect(began).toEqual(Array(ofTenant).fill('greedy'))
    expect(pools.waits().write.waiting).toBe(2 * size - ofTenant)
    await endAll()
    expect(began).toHaveLength(2 * size)
    expect(pools.waits().write).toMatchObject({ waiting: 0, waited: 2 * size - ofTenant, refused: 0 })
  })

  test('its summaries leave the connections to other reads, its own too', async () => {
    const { began, hold, endAll } = holder()
    for (let at = 0; at < size; at += 1) hold('greedy', { readOnly: true, summary: true })
    await expect.poll(() => began.length).toBe(1)
    for (const tenant of ['greedy', 'neighbour']) {
      expect(await pools.withTenant(tenant, async () => 'served', { readOnly: true })).toBe('served')
    }
    expect(began).toHaveLength(1)
    await endAll()
  })

  test('the database is seen to answer while every connection is in use', async () => {
    const { began, hold, endAll } = holder()
    for (let at = 0; at < size; at += 1) for (const tenant of ['one', 'two']) hold(tenant)
    await expect.poll(() => began.length).toBe(size)
    await pools.ping()
    expect(began).toHaveLength(size)
    await endAll()
  })
})

describe('the time limit of a statement', () => {
  const limitOf = async (mode?: TransactionMode) => {
    const show = async ({ client }: { client: { query(text: string): Promise<{ rows: unknown[] }> } }) =>
      (await client.query('show statement_timeout')).rows
    return (await pools.withTenant('limits', show, mode))[0]
  }

  test('is that of the class, and ends with the transaction', async () => {
    expect(await limitOf({ readOnly: true })).toEqual({ statement_timeout: '15s' })
    expect(await limitOf({ readOnly: true, summary: true })).toEqual({ statement_timeout: '20s' })
    expect(await limitOf({ readOnly: true, search: true })).toEqual({ statement_timeout: '2s' })
    expect(await inBackground(() => limitOf({ readOnly: true }))).toEqual({ statement_timeout: '30s' })
    expect(await limitOf()).toEqual({ statement_timeout: '30s' })
  })

  test.each([
    [{ readOnly: true }, 'The query took too long. Request less: a smaller `limit`'],
    [{ readOnly: true, summary: true }, 'The query took too long. Narrow the summary: a shorter range'],
    [{ readOnly: true, search: true }, 'The query took too long. Search for fewer or for rarer words'],
    [{}, 'The query took too long. Try again shortly.'],
  ])('in %j says what to narrow', async (mode, detail) => {
    const slow = pools.withTenant(
      'limits',
      (tx) => tx.client.query('set local statement_timeout = 20; select pg_sleep(5)'),
      mode,
    )
    await expect(slow).rejects.toMatchObject({
      ...{ slug: 'hub-unavailable', status: 503, retryAfterSeconds: 5 },
      message: expect.stringContaining(detail),
    })
  })
})
