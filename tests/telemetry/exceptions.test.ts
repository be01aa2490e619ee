import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Tenant } from '../../server/http/caller.ts'
import type { ExceptionsQuery } from '../../server/modules/telemetry/exceptions/exceptions-schemas.ts'
import { createCostExceptions, scannedMax } from '../../server/modules/telemetry/exceptions/exceptions-service.ts'
import { type Scan, scanRecords } from '../../server/modules/telemetry/exceptions/exceptions-store.ts'
import { createPriceBook } from '../../server/modules/telemetry/prices/list-price-book.ts'
import { openRecordLab, type RecordLab } from '../hub/record-lab.ts'

/** How the list finds its way through many records: each request looks at a bounded number of them. */

const fine = 23_000
/** Every so many events one is unpriced; all of them are by one user, who has outputs too. */
const oneIn = 4000

let lab: RecordLab
let acme: Tenant
let ids: string[]

beforeAll(async () => {
  lab = await openRecordLab()
  acme = await lab.openTenant('acme')
  const other = await lab.openTenant('other')
  const draft = (index: number) => ({ recordType: 'telemetry_event' as const, fields: fieldsOf(index) })
  ids = await lab.load(acme, fine, draft)
  await lab.load(acme, 500, (index) => ({
    recordType: 'output',
    fields: { skill_id: 'rare', archetype_id: 'rare', user_id: 'user:rare', title: String(index) },
  }))
  await lab.load(other, 30_000, () => ({ recordType: 'telemetry_event', fields: fieldsOf(oneIn - 1) }))
})
afterAll(() => lab.drop())

function fieldsOf(index: number) {
  const isRare = index % oneIn === oneIn - 1
  const name = isRare ? 'rare' : 'common'
  return {
    ...{ skill_id: name, skill_version: '1.0.0', archetype_id: name, user_id: `user:${name}`, llm_platform: 'claude' },
    ...{ ts: '2026-01-01T00:00:00.000000Z', success: true, latency_ms: 100, tokens_in: 1000, tokens_out: 100 },
    ...(isRare ? {} : { cost_usd_computed: 0.0045, price_source: 'test' }),
    cost_usd_estimate: 0.0045,
  }
}

const rareIds = () => ids.filter((_, index) => index % oneIn === oneIn - 1)

/** Every page of a list, and how many records each request looked at. */
async function pagesOf(query: ExceptionsQuery) {
  const scanned: number[] = []
  const counting = {
    ...lab.database,
    withTenant: ((slug, work, mode) => {
      scanned.push(0)
      return lab.database.withTenant(slug, (tx) => work({ ...tx, client: countRows(tx.client, scanned) }), mode)
    }) as typeof lab.database.withTenant,
  }
  const book = createPriceBook()
  const exceptions = createCostExceptions({
    ...{ database: counting, cursorKey: Buffer.alloc(32, 7) },
    prices: { freshBookOf: async () => book },
  })
  const pages: string[][] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await exceptions.list(acme, { ...query, ...(cursor === undefined ? {} : { cursor }) })
    pages.push(page.items.map((item) => item.record_id))
    cursor = page.next_cursor
  }
  return { pages, scanned }
}

function countRows<Client extends { query: unknown }>(client: Client, scanned: number[]): Client {
  const query = async (statement: unknown) => {
    const answer = await (client.query as (statement: unknown) => Promise<{ rows: unknown[] }>).call(client, statement)
    scanned[scanned.length - 1]! += answer.rows.length
    return answer
  }
  return { query } as unknown as Client
}

test('a request looks at ten thousand records at most, and the next one goes on there', async () => {
  const { pages, scanned } = await pagesOf({})
  expect(pages.map((page) => page.length)).toEqual([2, 3, 0])
  expect(pages.flat()).toEqual(rareIds())
  expect(scanned).toEqual([scannedMax, scannedMax, fine - 2 * scannedMax])
})

test('a page that is full ends there, and no record is left out between pages', async () => {
  const { pages, scanned } = await pagesOf({ limit: 1 })
  expect(pages.flat()).toEqual(rareIds())
  for (const page of pages) expect(page.length).toBeLessThanOrEqual(1)
  for (const count of scanned) expect(count).toBeLessThanOrEqual(scannedMax)
})

test('what is rare is found without looking at the rest', async () => {
  for (const filter of [{ user_id: 'user:rare' }, { skill_id: 'rare' }, { archetype_id: 'rare' }]) {
    const { pages, scanned } = await pagesOf({ ...filter, kind: 'unpriced' })
    expect(pages).toEqual([rareIds()])
    expect(scanned).toEqual([rareIds().length + 500])
  }
  expect((await pagesOf({ user_id: 'user:rare', skill_id: 'common' })).pages).toEqual([[]])
})

describe('the plan of a scan', () => {
  const all = 'telemetry_event'
  test.each<[string, Partial<Scan> & { index: Scan['index'] }, rows: number]>([
    ['everything', { index: { column: 'record_type', value: all } }, 100],
    ['a rare user', { index: { column: 'user_id', value: 'user:rare' } }, 100],
    ['a common skill', { index: { column: 'skill_id', value: 'common' } }, 100],
    ['a rare archetype', { index: { column: 'archetype_id', value: 'rare' } }, 100],
    ['nobody', { index: { column: 'user_id', value: 'user:nobody' } }, 0],
  ])('of %s reads what it answers, from anywhere', async (_, scan, rows) => {
    for (const place of [0, fine / 2]) {
      for (const operator of ['>', '>='] as const) {
        for (const belowId of [undefined, 'ffffffff-ffff-7fff-bfff-ffffffffffff']) {
          const above = { operator, recordId: ids[place]! }
          expect(await buffersOf({ above, belowId, limit: 100, ...scan })).toMatchObject({ rows })
        }
      }
    }
    await buffersOf({ above: undefined, belowId: undefined, limit: 100, ...scan })
  })

  /** Buffers of a scan, which must not be many for its rows. */
  async function buffersOf(scan: Scan) {
    return lab.database.withTenant(
      'acme',
      async (tx) => {
        let plan: Record<string, number> = {}
        const query = async ({ text, values }: { text: string; values: unknown[] }) => {
          const explained = await tx.client.query(`explain (analyze, buffers, format json) ${text}`, values)
          plan = explained.rows[0]['QUERY PLAN'][0].Plan
          return { rows: [] }
        }
        await scanRecords({ ...tx, client: { query } as never }, scan)
        const buffers = plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!
        expect(buffers).toBeLessThan(50 + 12 * scan.limit)
        return { rows: plan['Actual Rows'] }
      },
      { readOnly: true, inIndexOrder: true },
    )
  }
})
