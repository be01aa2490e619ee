import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Tenant } from '../../server/http/caller.ts'
import { deltaOf } from '../../server/modules/telemetry/rollups/rollup-delta.ts'
import { Rollups } from '../../server/modules/telemetry/rollups/rollup-service.ts'
import { insertDelta } from '../../server/modules/telemetry/rollups/rollup-store.ts'
import type { SummaryQuery } from '../../server/modules/telemetry/summary/summary-schemas.ts'
import {
  createTelemetrySummaries,
  type TelemetrySummaries,
} from '../../server/modules/telemetry/summary/summary-service.ts'
import type { CountedEvent } from '../../server/modules/telemetry/telemetry-types.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { type ExpectedRow, expectedSummary, nearestRank } from './summary-oracle.ts'

let opened: TestDatabase
let summaries: TelemetrySummaries
let rollups: Rollups
const cursorKey = Buffer.alloc(32, 7)
const acme: Tenant = { slug: 'acme', mode: 'A', baseUrl: 'http://127.0.0.1', hasOwnAddress: false, logName: 'log' }
const globex: Tenant = { ...acme, slug: 'globex' }

/** Two months, so that the clocks of all the zones below are set within them. */
const firstMs = Date.parse('2026-03-01T00:00:00Z')
const lastMs = Date.parse('2026-04-12T00:00:00Z')
const zones = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns', 'Australia/Lord_Howe', 'Europe/London']

const random = seeded(20260321)
const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!

const events = Array.from({ length: 1200 }, (): CountedEvent => {
  const model = oneOf(['claude-sonnet-4-5', 'gpt-5', 'in-house', undefined])
  return {
    skillId: oneOf(['sum-up', 'reply', 'translate']),
    archetypeId: oneOf(['analyst', 'support']),
    userId: oneOf(['user:kim@example.com', 'user:ada@example.com', 'user:Zoë', 'user:😀', 'user:\uffee']),
    platform: oneOf(['claude', 'chatgpt', 'custom:x']),
    model,
    epochMs: firstMs + Math.floor(random() * (lastMs - firstMs)),
    errorCode: random() < 0.9 ? undefined : oneOf(['timeout', 'rate_limited', 'E-42']),
    latencyMs: 1 + Math.floor(random() ** 4 * 599_998),
    tokensIn: Math.floor(random() * 2 ** 31),
    tokensOut: Math.floor(random() * 1000),
    costEstimateMicros: Math.floor(random() * 10 ** oneOf([3, 6, 12, 15])),
    costComputedMicros: model === undefined || model === 'in-house' ? undefined : Math.floor(random() * 1e6),
  }
})

beforeAll(async () => {
  opened = await createTestDatabase()
  summaries = createTelemetrySummaries({ database: opened.database, cursorKey })
  rollups = new Rollups({ database: opened.database, log: { error: (_, message) => expect.fail(message) } })
  await ingest(globex, events.slice(0, 100))
})
afterAll(() => opened.drop())

function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** As ingest does it, in deltas of a few or of many events. */
async function ingest(tenant: Tenant, some: readonly CountedEvent[]): Promise<void> {
  for (let at = 0, size = 1; at < some.length; at += size, size = oneOf([1, 7, 150])) {
    const entries = deltaOf(some.slice(at, at + size))
    await opened.database.withTenant(tenant.slug, (tx) => insertDelta(tx, entries))
  }
}

async function allPages(query: SummaryQuery, limit: number) {
  const rows = []
  let cursor: string | null = null
  let pages = 0
  do {
    const page = await summaries.summarize(acme, { ...query, limit, ...(cursor ? { cursor } : {}) })
    if (page.next_cursor !== null) expect(page.rows).toHaveLength(limit)
    rows.push(...page.rows)
    cursor = page.next_cursor
    pages += 1
    expectNumbers(page.totals, expectedOf(query).totals)
  } while (cursor !== null)
  return { rows, pages }
}

const known = new Map<string, ReturnType<typeof expectedSummary>>()
let counted: readonly CountedEvent[] = []
function expectedOf(query: SummaryQuery) {
  return known.getOrInsertComputed(JSON.stringify(query), () => expectedSummary(counted, query))
}

function expectNumbers(
  actual: { latency_ms: { p50: number; p95: number; p99: number } },
  expected: Omit<ExpectedRow, 'start' | 'key'>,
): void {
  const { latency_ms, ...numbers } = actual
  const { latencies, ...exact } = expected
  expect(numbers).toEqual(exact)
  for (const [name, share] of [
    ['p50', 0.5],
    ['p95', 0.95],
    ['p99', 0.99],
  ] as const) {
    const value = nearestRank(latencies, share)
    expect(Math.abs(latency_ms[name] - value), `${name} ${latency_ms[name]} ${value}`).toBeLessThanOrEqual(0.02 * value)
  }
}

const filters: SummaryQuery[] = [
  {},
  { skill_id: 'reply' },
  { archetype_id: 'support' },
  { user_id: 'user:Zoë' },
  { llm_platform: 'custom:x' },
  { llm_model: 'gpt-5' },
  { skill_id: 'reply', llm_model: 'in-house' },
  { user_id: 'user:😀', archetype_id: 'analyst' },
  { skill_id: 'nobody' },
  { success: true },
  { success: false, skill_id: 'reply' },
  { error_code: 'timeout' },
  { error_code: 'timeout', user_id: 'user:Zoë' },
  { error_code: 'timeout', success: true },
]
const groupings = [undefined, 'skill', 'archetype', 'user', 'platform', 'model', 'error_code'] as const
const ranges = [
  ['2026-03-20T00:00:00Z', '2026-04-10T00:00:00Z'],
  ['2026-03-06T13:15:00Z', '2026-04-07T02:45:00Z'],
  ['2026-02-01T00:00:00Z', '2026-05-01T00:00:00Z'],
] as const

/** Every interval, grouping and filter; zones, ranges and page sizes take turns. */
const queries = [undefined, 'hour', 'day'].flatMap((interval) =>
  groupings.flatMap((group_by) =>
    filters.map((filter, index): SummaryQuery => {
      const place = index + groupings.indexOf(group_by)
      const [from, to] = ranges[place % ranges.length]!
      return {
        ...{ from, to, ...filter },
        ...(group_by && { group_by }),
        ...(interval && { interval: interval as 'hour' | 'day', time_zone: zones[place % zones.length]! }),
      }
    }),
  ),
)

let turn = 0
/** Of every second query: each has its turn, folded and unfolded. */
async function expectAllRight(of: readonly CountedEvent[]): Promise<void> {
  counted = of
  known.clear()
  let rowsSeen = 0
  let pagesSeen = 0
  turn += 1
  for (const [index, query] of queries.entries()) {
    if (index % 2 === turn % 2) continue
    const limit = [1000, 37, 4][index % 3]!
    const expected = expectedOf(query)
    const isLong = expected.rows.length > 25 * limit
    const { rows, pages } = await allPages(query, isLong ? 1000 : limit)
    const name = JSON.stringify(query)
    const places = rows.map(({ start, key }) => ({ start, key }))
    expect(places, name).toEqual(expected.rows.map(({ start, key }) => ({ start, key })))
    for (const [at, { start: _start, key: _key, ...numbers }] of rows.entries()) {
      const { start, key, ...exact } = expected.rows[at]!
      expectNumbers(numbers, exact)
    }
    rowsSeen += rows.length
    pagesSeen += pages
  }
  expect(rowsSeen).toBeGreaterThan(2000)
  expect(pagesSeen).toBeGreaterThan(100)
}

/** As the folding job does, but for the days, which stay open. */
async function foldAll(): Promise<void> {
  for (let more = true; more; ) {
    const folded = await rollups.fold(acme.slug)
    if (folded === 'busy') throw new Error('someone else folds')
    more = folded.more
  }
}

async function stored(table: string): Promise<number> {
  const client = await opened.superuserClient()
  const { rows } = await client.query(`select count(*)::int as count from hub.${table} where tenant_id = 'acme'`)
  await client.end()
  return rows[0].count
}

describe('the summary is that of the events themselves', () => {
  test('before anything is folded', async () => {
    await ingest(acme, events.slice(0, 600))
    await expectAllRight(events.slice(0, 600))
  })

  test('when a part is folded', async () => {
    await foldAll()
    expect(await stored('telemetry_deltas')).toBe(0)
    await ingest(acme, events.slice(600, 1000))
    await expectAllRight(events.slice(0, 1000))
  })

  test('when all is folded, and days are closed', async () => {
    await rollups.settle(acme.slug)
    expect([await stored('telemetry_deltas'), await stored('rollup_open_days')]).toEqual([0, 0])
    await expectAllRight(events.slice(0, 1000))
  })

  test('when closed days get more events, folded and not', async () => {
    await ingest(acme, events.slice(1000, 1020))
    await foldAll()
    expect(await stored('rollup_open_days')).toBeGreaterThan(5)
    expect(await stored('rollup_open_days')).toBeLessThan(35)
    await ingest(acme, events.slice(1020))
    await expectAllRight(events)
  })
})

test('the reconciliation has the same rows and sums', async () => {
  const query = { from: ranges[0][0], to: ranges[0][1], interval: 'day', time_zone: 'Europe/Berlin' } as const
  for (const group_by of ['model', 'user'] as const) {
    const { rows, totals } = await summaries.reconcile(acme, { ...query, group_by, limit: 1000 })
    const expected = expectedSummary(counted, { ...query, group_by })
    const shared = (row: ExpectedRow) => {
      const { start, key, invocations, unpriced, cost_usd_estimate, cost_usd_computed } = row
      return { start, key, invocations, unpriced, cost_usd_estimate, cost_usd_computed }
    }
    expect(rows.map((row) => shared(row as unknown as ExpectedRow))).toEqual(expected.rows.map(shared))
    expect(totals.variance_usd).toBeCloseTo(expected.totals.cost_usd_estimate - expected.totals.cost_usd_computed, 3)
    expect(totals.variance_ratio).toBeCloseTo(totals.variance_usd / totals.cost_usd_computed, 5)
  }
})

test('a cursor keeps the range that the first page was of', async () => {
  let now = lastMs - 1
  const moving = createTelemetrySummaries({ database: opened.database, cursorKey, nowMs: () => now })
  const query: SummaryQuery = { interval: 'day', limit: 3 }
  const first = await moving.summarize(acme, query)
  now += 40 * 86_400_000
  const second = await moving.summarize(acme, { ...query, cursor: first.next_cursor! })
  expect(second.totals).toEqual(first.totals)
  expect(second.rows[0]!.start).toBe('2026-03-16T00:00:00.000000Z')
  expect((await moving.summarize(acme, query)).rows).toEqual([])
})

test('the longest keys fit into a cursor', async () => {
  const users = ['\u0001', '\u0002', '~', '😀', '🙂'].map((sign) => `user:${sign.repeat(254)}`)
  const ofUsers = users.map((userId): CountedEvent => ({ ...events[0]!, userId, skillId: 'long', epochMs: lastMs }))
  await ingest(acme, ofUsers)
  const query: SummaryQuery = { from: '2026-04-11T00:00:00Z', skill_id: 'long', group_by: 'user', limit: 1 }
  const keys: (string | null | undefined)[] = []
  let cursor: string | null = null
  do {
    const page = await summaries.summarize(acme, { ...query, ...(cursor ? { cursor } : {}) })
    keys.push(...page.rows.map((row) => row.key))
    cursor = page.next_cursor
  } while (cursor !== null)
  expect(keys).toEqual(users)
})

test('what an unreadable delta says is left out', async () => {
  const query: SummaryQuery = { from: ranges[2][0], to: ranges[2][1] }
  const before = await summaries.summarize(acme, query)
  await opened.database.withTenant('acme', (tx) => insertDelta(tx, '{"v":99}'))
  expect(await summaries.summarize(acme, query)).toEqual(before)
})

test('many deltas do not keep other work waiting', async () => {
  const some = deltaOf(Array.from({ length: 1000 }, (_, at) => events[at % events.length]!))
  await opened.database.withTenant('globex', async (tx) => {
    for (let count = 0; count < 128; count += 1) await insertDelta(tx, some)
  })
  // Each reading of the clock is later than other work may wait, so each decoded part ends its turn of the event loop.
  let nowMs = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 1000))
  let turns = 0
  const count = () => {
    turns += 1
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  const { totals } = await summaries.summarize(globex, { from: ranges[2][0], to: ranges[2][1] })
  clearImmediate(counting)
  clock.mockRestore()
  expect(totals.invocations).toBe(100 + 128 * 1000)
  expect(turns).toBeGreaterThanOrEqual(128)
})
