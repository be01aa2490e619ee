import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { TenantTx } from '../../server/db/database.ts'
import { createPriceBook } from '../../server/modules/telemetry/prices/list-price-book.ts'
import { allPrices, deletePrices, insertPrices } from '../../server/modules/telemetry/prices/prices-store.ts'
import { createTenantPrices } from '../../server/modules/telemetry/prices/tenant-prices.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

const catalogue = createPriceBook()
let lab: TestDatabase
let nowMs = 0
let reads = 0

beforeAll(async () => {
  lab = await createTestDatabase({
    onQuery: (text) => {
      if (/from "hub"\."price_overrides"/.test(text)) reads += 1
    },
  })
})
afterAll(() => lab.drop())
beforeEach(() => {
  nowMs = 0
  reads = 0
})

/** Takes every list as the one of its event: what happens to others is in tenant-prices-ingest.test.ts. */
const trusting = {
  proof: { read: async (tx: TenantTx) => ({ prices: await allPrices(tx), isProven: true, eventId: undefined }) },
  unproven: () => expect.unreachable(),
}
const open = () => createTenantPrices({ ...trusting, database: lab.database, book: catalogue, nowMs: () => nowMs })
type TenantPrices = ReturnType<typeof open>

function store(tenant: string, usd: number): Promise<void> {
  return lab.database.withTenant(tenant, async (tx) => {
    await deletePrices(tx)
    await insertPrices(tx, [
      {
        llm_model: 'home-grown',
        input_usd_per_mtok: usd,
        output_usd_per_mtok: 0,
        effective_from: '2026-01-01T00:00:00.000000Z',
      },
    ])
  })
}

async function priceIn(prices: TenantPrices, tenant: string): Promise<number | undefined> {
  return (await prices.bookOf(tenant)).priceOf('claude', 'home-grown', Date.UTC(2026, 5), 1, 0)?.costMicros
}

test('a tenant without prices of its own has the catalogue itself, read once a second', async () => {
  const prices = open()
  expect(await prices.bookOf('none')).toBe(catalogue)
  expect(reads).toBe(1)
  nowMs = 999
  const first = prices.bookOf('none')
  expect(prices.bookOf('none')).toBe(first)
  expect(reads).toBe(1)
  nowMs = 1000
  expect(await prices.bookOf('none')).toBe(catalogue)
  expect(reads).toBe(2)
})

test('those who ask at once read once, each tenant for itself', async () => {
  await store('one', 3)
  await store('two', 4)
  const prices = open()
  expect(await Promise.all(['one', 'two', 'one', 'two'].map((tenant) => priceIn(prices, tenant)))).toEqual([3, 4, 3, 4])
  expect(reads).toBe(2)
})

test('another process follows within a second of its reading, this one at once', async () => {
  await store('followed', 1)
  const here = open()
  const there = open()
  expect([await priceIn(here, 'followed'), await priceIn(there, 'followed')]).toEqual([1, 1])
  await store('followed', 2)
  here.changed('followed')
  expect([await priceIn(here, 'followed'), await priceIn(there, 'followed')]).toEqual([2, 1])
  nowMs = 1000
  expect(await priceIn(there, 'followed')).toBe(2)
})

test('the second counts from before the reading', async () => {
  await store('slow', 1)
  const prices = open()
  const slow = prices.bookOf('slow')
  nowMs = 900
  await slow
  await store('slow', 2)
  nowMs = 1000
  expect(await priceIn(prices, 'slow')).toBe(2)
})

test('what began to be read before a change is for those who asked before it', async () => {
  await store('raced', 1)
  const prices = open()
  const early = prices.bookOf('raced')
  prices.changed('raced')
  const late = prices.bookOf('raced')
  expect(late).not.toBe(early)
  await Promise.all([early, late])
  expect(prices.bookOf('raced')).toBe(late)
})

test('fresh prices are read after the call, whatever is known or being read', async () => {
  await store('fresh', 1)
  const prices = open()
  await prices.bookOf('fresh')
  await store('fresh', 2)
  expect(await priceIn(prices, 'fresh')).toBe(1)
  const fresh = await prices.freshBookOf('fresh')
  expect(fresh.priceOf('claude', 'home-grown', Date.UTC(2026, 5), 1, 0)?.costMicros).toBe(2)
  expect(await priceIn(prices, 'fresh')).toBe(2)
})

test('what could not be read is asked for again', async () => {
  let fails = true
  const prices = createTenantPrices({
    ...trusting,
    database: {
      ...lab.database,
      withTenant: (...args) => (fails ? Promise.reject(new Error('away')) : lab.database.withTenant(...args)),
    },
  })
  const asked = [prices.bookOf('away'), prices.bookOf('away')]
  expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  fails = false
  expect(await (await prices.bookOf('away')).priceOf('claude', 'claude-3-haiku', 0, 4, 0)?.costMicros).toBe(1)
})
