import { beforeEach, expect, test } from 'vitest'
import type { Database } from '../../server/db/database.ts'
import { createCatalogues } from '../../server/modules/telemetry/ingest/telemetry-catalogue.ts'

/** What is stored, and reads of it that end when the test says so. */
let stored: string[]
let reads: { seen: string[]; end(): void; fail(): void }[]
let now: number

beforeEach(() => {
  stored = ['a']
  reads = []
  now = 0
})

function open() {
  const noRow = { executeTakeFirst: async () => undefined }
  const query = { select: () => query, where: () => query, ...noRow }
  const database = {
    withTenant: async (tenantId: string, work: (tx: object) => Promise<unknown>) => {
      const seen = [...stored]
      await new Promise<void>((resolve, reject) => {
        reads.push({ seen, end: resolve, fail: () => reject(new Error('away')) })
      })
      return work({ tenantId, seen, db: { selectFrom: () => query } })
    },
  }
  return createCatalogues({
    database: database as unknown as Database,
    archetypes: { allIds: async (tx) => new Set((tx as unknown as { seen: string[] }).seen) },
    skills: { allStates: async () => new Map(), stateOf: async () => undefined, register: async () => {} },
    nowMs: () => now,
  })
}

const idsOf = async (catalogue: Promise<{ archetypeIds: ReadonlySet<string> }>) => [...(await catalogue).archetypeIds]
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('is read once for many, and again after a second', async () => {
  const catalogues = open()
  const both = Promise.all([idsOf(catalogues.of('t')), idsOf(catalogues.of('t'))])
  await turn()
  reads[0]!.end()
  expect(await both).toEqual([['a'], ['a']])
  now = 999
  expect(await idsOf(catalogues.of('t'))).toEqual(['a'])
  expect(reads).toHaveLength(1)
  now = 1000
  stored.push('b')
  const later = idsOf(catalogues.of('t'))
  await turn()
  reads[1]!.end()
  expect(await later).toEqual(['a', 'b'])
})

test('a change in this process counts at once, even against a read that is under way', async () => {
  const catalogues = open()
  const early = idsOf(catalogues.of('t'))
  await turn()
  stored.push('b')
  catalogues.changed('t')
  const late = idsOf(catalogues.of('t'))
  await turn()
  for (const read of reads) read.end()
  expect(await early).toEqual(['a'])
  expect(await late).toEqual(['a', 'b'])
  expect(await idsOf(catalogues.of('t'))).toEqual(['a', 'b'])
})

test('a fresh read begins after the call, and all who ask meanwhile share the next one', async () => {
  const catalogues = open()
  const first = idsOf(catalogues.fresh('t'))
  await turn()
  stored.push('b')
  const waiting = [catalogues.fresh('t'), catalogues.fresh('t'), catalogues.fresh('t')].map(idsOf)
  await turn()
  expect(reads).toHaveLength(1)
  reads[0]!.end()
  expect(await first).toEqual(['a'])
  await turn()
  expect(reads).toHaveLength(2)
  reads[1]!.end()
  expect(await Promise.all(waiting)).toEqual([
    ['a', 'b'],
    ['a', 'b'],
    ['a', 'b'],
  ])
})

test('a failed read is told to those who wait for it, and kept from nobody else', async () => {
  const catalogues = open()
  const failing = idsOf(catalogues.of('t'))
  const next = idsOf(catalogues.fresh('t'))
  await turn()
  reads[0]!.fail()
  await expect(failing).rejects.toThrow('away')
  await turn()
  reads[1]!.end()
  expect(await next).toEqual(['a'])
})

test('tenants are apart', async () => {
  const catalogues = open()
  const one = idsOf(catalogues.of('one'))
  await turn()
  reads[0]!.end()
  await one
  stored.push('b')
  const two = idsOf(catalogues.of('two'))
  await turn()
  reads[1]!.end()
  expect(await two).toEqual(['a', 'b'])
  expect(await idsOf(catalogues.of('one'))).toEqual(['a'])
})
