import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Tenant } from '../../server/http/caller.ts'
import type { RecordSort } from '../../server/modules/records/record-query-types.ts'
import { callerOf, decision, openRecordLab, type RecordLab } from './record-lab.ts'

let lab: RecordLab
let acme: Tenant
/** Five records of 6 MiB: three of them begin within the 16 MiB of one answer. */
let ids: string[]

beforeAll(async () => {
  lab = await openRecordLab()
  acme = await lab.openTenant('acme')
  ids = []
  for (let i = 0; i < 5; i++) {
    const fields = { skill_id: 'large', content: 'x'.repeat(6 * 1024 * 1024), cost_usd_estimate: Math.floor(i / 2) }
    ids.push(...(await lab.write(acme, { recordType: 'output', fields })))
  }
})

afterAll(() => lab.drop())

test.each<[RecordSort, string]>([
  ['created_at', 'forwards'],
  ['-created_at', 'backwards'],
  ['cost_usd_estimate', 'forwards'],
  ['-cost_usd_estimate', 'backwards'],
])('a page by %s ends where the answer would be too large, and the next one goes on there', async (sort, way) => {
  const sizes: number[] = []
  const met: unknown[] = []
  let cursor: string | null = null
  do {
    const query = { sort, limit: 1000, verify: true, ...(cursor === null ? {} : { cursor }) }
    const page = await lab.reading.query(callerOf(acme), query)
    expect(page.verification_summary).toMatchObject({ checked: page.records.length, verified: page.records.length })
    sizes.push(page.records.length)
    for (const record of page.records) met.push(record.record_id)
    cursor = page.next_cursor
  } while (cursor !== null)
  expect(sizes).toEqual([3, 2])
  expect(met).toEqual(way === 'forwards' ? ids : ids.toReversed())
})

test('a limit within the size is kept to', async () => {
  const page = await lab.reading.query(callerOf(acme), { limit: 2 })
  expect(page.records.map((record) => record.record_id)).toEqual(ids.slice(0, 2))
  expect(page.next_cursor).not.toBeNull()
  const all = await lab.reading.query(callerOf(acme), { limit: 1, sort: '-created_at', record_id: ids[4]! })
  expect(all.next_cursor).toBeNull()
})

test('a walk is truncated where the answer would be too large', async () => {
  const [root] = await lab.write(acme, decision('root', ids))
  const walk = { depth: 2, direction: 'both' } as const
  const { records, edges, truncated } = await lab.relations.related(callerOf(acme), root!, walk)
  expect(records.map((record) => record.record_id)).toEqual([root, ...ids.slice(0, 3)])
  expect(edges).toEqual(ids.slice(0, 3).map((to) => ({ from: root, to })))
  expect(truncated).toBe(true)
})
