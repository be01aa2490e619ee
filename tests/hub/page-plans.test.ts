import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Tenant } from '../../server/http/caller.ts'
import { findPage, pageMode } from '../../server/modules/records/record-page-store.ts'
import type { PageRequest, RecordCriteria } from '../../server/modules/records/record-query-types.ts'
import { openRecordLab, type RecordLab, telemetry } from './record-lab.ts'

const common = 20_000
const rare = 60
const rareTrace = 'ab'.repeat(16)

let lab: RecordLab
let acme: Tenant
let ids: string[]

/** Values that are rare in one tenant, in the middle of many records, and common in the database. */
beforeAll(async () => {
  lab = await openRecordLab()
  acme = await lab.openTenant('acme')
  const other = await lab.openTenant('other')
  const draft = (index: number, name: string) => {
    const { fields } = telemetry(index)
    const own = { skill_id: `${name}-skill`, archetype_id: `${name}-type`, user_id: `user:${name}` }
    return { recordType: 'output' as const, createdBy: `${name}-client`, fields: { ...fields, ...own } }
  }
  const rareDraft = (index: number) => {
    const { fields, ...rest } = draft(index, 'rare')
    const traced = { ...fields, trace_id: rareTrace, session_id: 'rare-session' }
    return { ...rest, recordType: 'telemetry_event' as const, fields: traced }
  }
  const event = (index: number, kind: string) => ({
    recordType: 'governance_event' as const,
    fields: { event_kind: kind, subject: String(index) },
  })
  ids = await lab.load(acme, common / 4, (index) => draft(index, 'common'))
  await lab.load(acme, common / 4, (index) => event(index, 'custom.common'))
  ids.push(...(await lab.load(acme, rare, rareDraft)))
  ids.push(...(await lab.load(acme, rare, (index) => event(index, 'custom.rare'))))
  await lab.load(acme, common / 4, (index) => event(index, 'custom.common'))
  ids.push(...(await lab.load(acme, common / 4, (index) => draft(index, 'common'))))
  await lab.load(other, common, rareDraft)
  await lab.load(other, common / 10, (index) => event(index, 'custom.rare'))
})

afterAll(() => lab.drop())

/** Buffers that the page reads, prepared and planned for any values, as a connection does that has served it often. */
async function buffersOf(criteria: Partial<RecordCriteria>, page: Partial<PageRequest>) {
  return lab.database.withTenant(
    'acme',
    async (tx) => {
      const plans: Record<string, unknown>[] = []
      const explaining = {
        query: async ({ text, values }: { text: string; values: unknown[] }) => {
          await tx.client.query('set local plan_cache_mode = force_generic_plan')
          await tx.client.query(`prepare explained as ${text}`)
          const given = values.map((value) => (typeof value === 'number' ? String(value) : `'${value}'`)).join(', ')
          const { rows } = await tx.client.query(`explain (analyze, buffers, format json) execute explained(${given})`)
          await tx.client.query('deallocate explained')
          plans.push(rows[0]['QUERY PLAN'][0].Plan)
          return { rows: [] }
        },
      }
      await findPage(
        { ...tx, client: explaining as never },
        { includePurged: false, ...criteria },
        { sort: 'created_at', limit: 50, now: new Date().toISOString(), ...page },
      )
      const plan = plans[0]!
      return {
        rows: Number(plan['Actual Rows']),
        buffers: Number(plan['Shared Hit Blocks']) + Number(plan['Shared Read Blocks']),
      }
    },
    pageMode,
  )
}

const filters: Partial<RecordCriteria>[] = [
  { recordTypes: ['telemetry_event'] },
  { skillId: 'rare-skill' },
  { archetypeId: 'rare-type' },
  { userId: 'user:rare' },
  { createdBy: 'rare-client' },
  { eventKind: 'custom.rare' },
  { traceId: rareTrace },
  { sessionId: 'rare-session' },
  { recordTypes: ['telemetry_event'], userId: 'user:rare' },
  { recordTypes: ['telemetry_event'], skillId: 'rare-skill' },
  { recordTypes: ['governance_event'], eventKind: 'custom.rare' },
]

for (const statistics of ['none', 'fresh']) {
  describe(`with statistics: ${statistics}`, () => {
    beforeAll(async () => {
      if (statistics === 'fresh') await (await lab.superuserClient()).query('analyze')
    })

    // The look-ups of state and seal, the record itself, and the way down the indexes of the partitions.
    const buffersMax = 51 * 10 + 100

    test.each(filters.flatMap((filter) => (['created_at', '-created_at'] as const).map((sort) => ({ filter, sort }))))(
      'a page of $filter by $sort reads no more than its own rows',
      async ({ filter, sort }) => {
        const { rows, buffers } = await buffersOf(filter, { sort })
        expect(rows).toBe(51)
        expect(buffers).toBeLessThan(buffersMax)
      },
    )

    test.each(['created_at', '-created_at'] as const)(
      'a deep page with a filter, by %s, is entered where it begins',
      async (sort) => {
        const position = { recordId: ids[Math.floor(ids.length * 0.75)]! }
        const deep = await buffersOf({ createdBy: 'common-client' }, { sort, after: position })
        expect(deep.rows).toBe(51)
        expect(deep.buffers).toBeLessThan(buffersMax)
        for (const filter of [{ createdBy: 'common-client' }, { userId: 'user:common' }, { skillId: 'common-skill' }]) {
          const bounded = await buffersOf({ ...filter, fromId: ids[4000]!, beforeId: ids[4100]! }, { sort })
          expect(bounded.rows).toBe(51)
          expect(bounded.buffers).toBeLessThan(buffersMax)
        }
        const wide = { userId: 'user:common', fromId: ids[0]!, beforeId: ids.at(-1)! }
        const narrowed = await buffersOf(wide, { sort, after: position })
        expect(narrowed.rows).toBe(51)
        expect(narrowed.buffers).toBeLessThan(buffersMax)
      },
    )
  })
}

test('a filter of texts looks at a bounded number of records, and says where it ended', async () => {
  const criteria = { includePurged: false, recordTypes: ['output', 'telemetry_event'], event: {} } as const
  const pageOf = (llm_model: string, after?: { recordId: string }) =>
    lab.database.withTenant(
      'acme',
      (tx) =>
        findPage(
          tx,
          { ...criteria, event: { llm_model } },
          { sort: 'created_at', limit: 50, now: new Date().toISOString(), after },
        ),
      pageMode,
    )
  const first = await pageOf('no-such-model')
  expect(first.records).toEqual([])
  expect(first.next).toBeDefined()
  expect(await pageOf('no-such-model', first.next)).toEqual({ records: [], next: undefined })
})
