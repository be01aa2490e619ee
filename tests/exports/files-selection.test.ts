import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyFile } from '../../cli/verify/verify-file.ts'
import { type EventFilter, eventFilterTypes, matchesEvent } from '../../contract/event-filter.ts'
import { matchesFilter, type RecordFilter } from '../../contract/record-filter.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { decision, telemetry } from '../hub/record-lab.ts'
import { type ExportLab, linesOf, mixedDrafts, openExportLab, type WrittenFiles } from './files-lab.ts'

type Record = ReturnType<typeof linesOf>[number]

let lab: ExportLab

beforeAll(async () => {
  lab = await openExportLab()
})
afterAll(() => lab.drop())

/** It verifies offline, and everything that is not in it is accounted for. */
async function expectVerified({ path, manifest, rows }: WrittenFiles, leaves: number): Promise<void> {
  const { report } = await verifyFile(path, {})
  expect(report).toMatchObject({ verified: true, checked: rows, failures: [] })
  expect(report.manifest).toMatchObject({ isSigned: true, isInLog: true, leftOut: leaves - rows, file: 'matches' })
  expect(manifest.counts).toEqual({ exported: rows, left_out: leaves - rows })
}

const idsOf = (text: string) => linesOf(text).map((line) => line.record_id)

describe('a filter', () => {
  let tenant: Tenant
  let all: Record[]

  beforeAll(async () => {
    tenant = await lab.openTenant('filters')
    await lab.writeRecords(tenant, ...mixedDrafts())
    await lab.writeRecords(tenant, ...[0, 1, 2, 3].map(telemetry))
    await lab.writeRecords(tenant, { ...decision('by another'), createdBy: 'client-2' })
    all = linesOf((await lab.export(tenant)).text)
  })

  const filters: [string, RecordFilter | (() => RecordFilter)][] = [
    ['of nothing', {}],
    ['of one type', { record_type: ['decision'] }],
    ['of several types', { record_type: ['output', 'telemetry_event'] }],
    ['of a record', () => ({ record_id: String(all[17]!.record_id) })],
    ['of an unknown record', { record_id: '019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a' }],
    ['of a skill', { skill_id: 'sum-up' }],
    ['of an archetype', { archetype_id: 'analyst' }],
    ['of a user', { user_id: 'user:kim+3@example.com' }],
    ['of a creator', { created_by: 'client-2' }],
    ['of a kind of event', { event_kind: 'custom.reviewed' }],
    ['of two members', { skill_id: 'sum-up', record_type: ['output'] }],
    ['of members that exclude each other', { event_kind: 'custom.reviewed', skill_id: 'sum-up' }],
    ['from a time on', () => ({ created_at__gte: String(all[50]!.created_at) })],
    ['up to a time', () => ({ created_at__lt: String(all[50]!.created_at) })],
    [
      'between two times',
      () => ({ created_at__gte: String(all[10]!.created_at), created_at__lt: String(all[90]!.created_at) }),
    ],
    ['up to before all', { created_at__lt: '2020-01-01T00:00:00.000000Z' }],
    ['from after all', { created_at__gte: '2099-01-01T00:00:00.000000Z' }],
    [
      'of an empty time',
      { created_at__gte: '2030-01-01T00:00:00.000000Z', created_at__lt: '2020-01-01T00:00:00.000000Z' },
    ],
  ]

  test.each(filters)('%s', async (_, given) => {
    const filter = typeof given === 'function' ? given() : given
    const written = await lab.export(tenant, { filter })
    const expected = all.filter((record) => matchesFilter(filter, columnsOf(record), String(record.created_at)))
    expect(linesOf(written.text)).toEqual(expected)
    expect(written.manifest.export.filter).toEqual(filter)
    const { report } = await verifyFile(written.path, {})
    expect(report).toMatchObject({ verified: true, checked: expected.length })
    expect(report.manifest).toMatchObject({ isInLog: true, leftOut: written.manifest.counts.left_out })
    if (!('created_at__gte' in filter) && !('created_at__lt' in filter)) await expectVerified(written, all.length)
  })

  test.each<EventFilter>([
    { success: true },
    { success: false },
    { latency_ms__gte: 1, llm_platform: 'claude' },
    { cost_usd__gte: 0, cost_usd__lte: 1_000_000 },
  ])('of texts: %o', async (filter) => {
    const expected = all.filter(
      (record) => eventFilterTypes(filter).some((type) => type === record.record_type) && matchesEvent(filter, record),
    )
    for (const verify of [false, true]) {
      const written = await lab.export(tenant, { filter, verify })
      expect(idsOf(written.text)).toEqual(expected.map(({ record_id }) => record_id))
      await expectVerified(written, all.length)
    }
  })

  test('of a session', async () => {
    const written = await lab.export(tenant, { filter: { session_id: 'none', trace_id: 'a'.repeat(32) } })
    expect(linesOf(written.text)).toEqual([])
  })

  test('that finds records of a type which its creator may not see', async () => {
    const written = await lab.export(tenant, {
      recordTypes: ['telemetry_event', 'governance_event'],
      filter: { record_type: ['governance_event', 'decision'] },
    })
    expect(new Set(linesOf(written.text).map((line) => line.record_type))).toEqual(new Set(['governance_event']))
    await expectVerified(written, all.length)
  })

  test.each(['jsonl', 'csv', 'parquet'] as const)('without provenance in %s', async (format) => {
    const filter: RecordFilter = { record_type: ['decision'] }
    const written = await lab.export(tenant, { format, filter, includeProvenance: false })
    const { text, manifest } = written
    expect(manifest.seals).toBeUndefined()
    expect(manifest.seals_sha256).toBeUndefined()
    expect(manifest.counts).toEqual({ exported: 17, left_out: all.length - 17 })
    if (format === 'jsonl') {
      const rows = all.filter((record) => record.record_type === 'decision')
      expect(linesOf(text)).toEqual(rows.map(({ provenance_hash: _h, provenance_cosign: _c, ...rest }) => rest))
    }
    const { report } = await verifyFile(written.path, {})
    expect(report.manifest).toMatchObject({ isSigned: true, file: 'matches' })
  })
})

function columnsOf(record: Record) {
  const text = (name: string) => (record[name] === undefined ? null : String(record[name]))
  const isSkilled = record.record_type === 'output' || record.record_type === 'telemetry_event'
  return {
    record_id: String(record.record_id),
    record_type: String(record.record_type),
    created_by: String(record.created_by),
    skill_id: isSkilled ? text('skill_id') : null,
    archetype_id: isSkilled ? text('archetype_id') : null,
    user_id: isSkilled ? text('user_id') : null,
    event_kind: text('event_kind'),
  }
}

describe('a range of time', () => {
  test('takes exactly what lies in it, although the log has it in another order', async () => {
    const tenant = await lab.openTenant('late')
    const sealed = async (name: string) => {
      const drafts = [1, 2, 3].map((n) => ({ ...decision(`${name} ${n}`), createdBy: 'client-1' }))
      return lab.records.sealer.seal(tenant, drafts)
    }
    const batches = { a: await sealed('a'), b: await sealed('b'), c: await sealed('c'), d: await sealed('d') }
    // The first to be sealed is committed last, and what came between lies in two parts of the log.
    for (const name of ['c', 'a', 'd', 'b'] as const) {
      await lab.database.withTenant(tenant.slug, (tx) => lab.records.writer.insert(tx, batches[name]))
      await lab.logs.integrate(tenant)
    }
    const records = Object.values(batches).flatMap((batch) => batch.records)
    const inLog = ['c', 'a', 'd', 'b'].flatMap((name) => batches[name as 'a'].records)
    const times = [...records.map(({ createdAt }) => createdAt), '2099-01-01T00:00:00.000000Z']
    for (const from of times.filter((_, at) => at % 2 === 0)) {
      for (const to of times.filter((_, at) => at % 3 === 0)) {
        const filter = { created_at__gte: from, created_at__lt: to }
        const written = await lab.export(tenant, { filter })
        const expected = inLog.filter(({ createdAt }) => from <= createdAt && createdAt < to)
        expect(idsOf(written.text)).toEqual(expected.map(({ recordId }) => recordId))
        const { report } = await verifyFile(written.path, {})
        expect([report.verified, report.manifest?.isInLog]).toEqual([true, true])
      }
    }
  })

  test('covers no more of the log than can hold its records', async () => {
    const tenant = await lab.openTenant('ranges')
    const ids: string[] = []
    for (let n = 0; n < 20; n++) ids.push(...(await lab.writeRecords(tenant, decision(`${n}`))))
    const times = linesOf((await lab.export(tenant)).text).map((line) => String(line.created_at))
    const written = await lab.export(tenant, { filter: { created_at__gte: times[7]!, created_at__lt: times[11]! } })
    expect(idsOf(written.text)).toEqual(ids.slice(7, 11))
    expect(written.manifest.log).toMatchObject({ from: 7, to: 11, tree_size: 20 })
    expect(written.manifest.seals).toHaveLength(4)
    expect(written.manifest.counts).toEqual({ exported: 4, left_out: 0 })
  })
})

describe('large records', () => {
  test('go through in pages that memory can hold, and seals that are larger than a page', async () => {
    const tenant = await lab.openTenant('large')
    const large = (at: number) => ({
      recordType: 'artifact' as const,
      fields: { title: `${at}`, content: `${'ü'.repeat(450_000)}${at}` },
    })
    const ids = [
      ...(await lab.writeRecords(tenant, decision('before'))),
      ...(await lab.writeRecords(tenant, ...Array.from({ length: 12 }, (_, at) => large(at)))),
      ...(await lab.writeRecords(tenant, ...[1, 2, 3].map((n) => decision(`after ${n}`)))),
    ]
    for (const order of [{}, { verify: true }, { filter: { record_type: ['artifact' as const] } }]) {
      const written = await lab.export(tenant, order)
      expect(idsOf(written.text)).toEqual('filter' in order ? ids.slice(1, 13) : ids)
      await expectVerified(written, ids.length)
    }
  })
})

describe('a tenant', () => {
  test('without a record', async () => {
    const tenant = await lab.openTenant('nobody')
    for (const format of ['jsonl', 'csv', 'parquet'] as const) {
      const written = await lab.export(tenant, { format, verify: true })
      expect(written).toMatchObject({
        rows: 0,
        progress: [
          [0, 0],
          [0, 0],
        ],
      })
      expect(written.verificationSummary).toEqual({ checked: 0, verified: 0, tampered: 0, cosign_invalid: 0 })
      await expectVerified(written, 0)
    }
  })

  test('gets its own records alone', async () => {
    const [one, other] = [await lab.openTenant('one'), await lab.openTenant('other')]
    const mine = await lab.writeRecords(one, decision('mine'))
    await lab.writeRecords(other, decision('not mine'))
    expect(idsOf((await lab.export(one)).text)).toEqual(mine)
  })
})
