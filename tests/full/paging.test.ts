import { setImmediate as breathe } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Caller, Tenant } from '../../server/http/caller.ts'
import { findPage, pageMode } from '../../server/modules/records/record-page-store.ts'
import type { RecordSort } from '../../server/modules/records/record-query-types.ts'
import { callerOf, decision, openRecordLab, type RecordLab, telemetry } from '../hub/record-lab.ts'

const recordCount = 100_000

let lab: RecordLab
let acme: Tenant
let caller: Caller
let ids: string[]
/** The wall clock of the lab: half of the records are of the month before, so that a page can span partitions. */
let shiftMs = 0

beforeAll(async () => {
  const time = { wallMs: () => Date.now() + shiftMs, monotonicMs: () => performance.now() }
  lab = await openRecordLab({ time })
  acme = await lab.openTenant('acme')
  caller = callerOf(acme)
  const today = new Date()
  shiftMs = Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), 1) - 3_600_000 - today.getTime()
  ids = await lab.load(acme, recordCount / 2, telemetry)
  shiftMs = 0
  ids.push(...(await lab.load(acme, recordCount / 2, telemetry)))
})

afterAll(() => lab.drop())

async function pageThrough(sort: RecordSort): Promise<string[]> {
  const met: string[] = []
  let cursor: string | null | undefined
  do {
    const page = await lab.reading.query(caller, {
      record_type: 'telemetry_event',
      sort,
      limit: 1000,
      ...(cursor ? { cursor } : {}),
    })
    for (const record of page.records) met.push(String(record.record_id))
    cursor = page.next_cursor
  } while (cursor !== null)
  return met
}

/** Writes and purges for as long as `work` takes, and says how much. */
async function whileWritersAreBusy<Result>(work: () => Promise<Result>): Promise<{ result: Result; writes: number }> {
  let busy = true
  let writes = 0
  const writers = Array.from({ length: 2 }, async () => {
    while (busy) {
      await lab.load(acme, 20, telemetry)
      const [id] = await lab.write(acme, decision('busy'))
      await lab.purger.purge(caller, id!, { reason: 'busy' })
      writes += 1
      await breathe()
    }
  })
  try {
    return { result: await work(), writes }
  } finally {
    busy = false
    await Promise.all(writers)
  }
}

for (const sort of ['created_at', '-created_at', 'cost_usd_estimate', '-cost_usd_estimate'] as const) {
  test(`paging by ${sort} meets each of 100,000 records exactly once while writers are busy`, async () => {
    const { result: met, writes } = await whileWritersAreBusy(() => pageThrough(sort))
    expect(writes).toBeGreaterThan(10)
    expect(new Set(met).size).toBe(met.length)
    const known = new Set(ids)
    const metKnown = met.filter((id) => known.has(id))
    expect(metKnown).toHaveLength(recordCount)
    if (sort.endsWith('created_at')) expect(metKnown).toEqual(sort === 'created_at' ? ids : ids.toReversed())
  })
}

/** Buffers that the query of a page touches, by EXPLAIN of the very statement that the store sends. */
async function buffersOf(sort: RecordSort, after: { recordId: string; costMicros?: string } | undefined) {
  return lab.database.withTenant(
    acme.slug,
    async (tx) => {
      let buffers = 0
      const explaining = {
        query: async ({ text, values }: { text: string; values: unknown[] }) => {
          const explained = await tx.client.query(`explain (analyze, buffers, format json) ${text}`, values)
          const plan = explained.rows[0]['QUERY PLAN'][0].Plan
          buffers += plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
          // A plan is no page.
          return { rows: [] }
        },
      }
      const page = { sort, limit: 1000, after, now: new Date().toISOString() }
      await findPage({ ...tx, client: explaining as never }, { includePurged: false }, page)
      return buffers
    },
    pageMode,
  )
}

for (const statistics of ['none', 'fresh']) {
  test(`page 90 reads at most 1.5 times the buffers of page 1 (statistics: ${statistics})`, async () => {
    if (statistics === 'fresh') await (await lab.superuserClient()).query('analyze')
    const last = ids.length - 1
    const byTime = [await buffersOf('created_at', undefined), await buffersOf('created_at', { recordId: ids[89_000]! })]
    const backwards = [
      await buffersOf('-created_at', undefined),
      await buffersOf('-created_at', { recordId: ids[last - 89_000]! }),
    ]
    const position = { recordId: '00000000-0000-7000-8000-000000000000', costMicros: '45000' }
    const byCost = [await buffersOf('cost_usd_estimate', undefined), await buffersOf('cost_usd_estimate', position)]
    for (const [first, deep] of [byTime, backwards, byCost]) {
      expect(first).toBeGreaterThan(100)
      expect(deep).toBeLessThanOrEqual(first! * 1.5)
    }
  })
}
