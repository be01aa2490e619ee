import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { rosterPullPageBytesMax } from '../../contract/limits.ts'
import { type SyncLab, startSyncLab } from '../roster-sync/sync-lab.ts'
import { busiestTurn } from '../support/busiest-turn.ts'
import type { TestTenant } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'

/** CPU time; on two idle cores it is 70 ms at most. */
const blockedMsMax = scaled(300)

let lab: SyncLab
beforeAll(async () => {
  lab = await startSyncLab()
  await lab.connect('acme')
  await lab.sync('acme')
})
afterAll(() => lab.close())
beforeEach(() => {
  lab.source.faults = {}
})

const many = (count: number, entryOf: (index: number) => object) => Array.from({ length: count }, (_, i) => entryOf(i))

/** The list in the first answer about a resource, whatever was asked for, and none in those that follow. */
async function pullOf(
  resource: 'Users' | 'Groups',
  entries: readonly object[],
  ends: 'completed' | 'failed',
  tenant: TestTenant = 'acme',
) {
  const body = Buffer.from(JSON.stringify({ totalResults: entries.length, Resources: entries }))
  lab.source.faults.answer = ({ resource: asked, startIndex }) =>
    asked === resource && startIndex === 1 ? { status: 200, body } : undefined
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert
  let sync: any
  const blockedMs = Math.round(
    await busiestTurn(async () => {
      sync = await lab.reaches(tenant, await lab.start(tenant), ends)
    }),
  )
  process.stdout.write(`${(body.length / 1e6).toFixed(1)} MB of ${resource}: blocked for ${blockedMs} ms at most\n`)
  return { sync, blockedMs, isWithin: body.length <= rosterPullPageBytesMax }
}

test('a page that is too large is not read at all', async () => {
  const { sync, blockedMs } = await pullOf(
    'Users',
    many(300_000, (i) => ({ id: i, userName: { a: i } })),
    'failed',
  )
  expect(sync.error.detail).toMatch(/GET \/Users\?startIndex=1&count=1: .* or the directory leaves `count` aside/)
  expect(blockedMs).toBeLessThan(blockedMsMax)
})

test('a page of far more entries than were asked for is refused', async () => {
  const { sync, blockedMs, isWithin } = await pullOf(
    'Users',
    many(100_000, (i) => ({ id: i, userName: 'a' })),
    'failed',
  )
  expect(sync.error.detail).toMatch(/count=200 the directory answered 100000 entries, and the Hub takes 10000 at most/)
  expect(isWithin).toBe(true)
  expect(blockedMs).toBeLessThan(blockedMsMax)
})

test('what cannot be read is told apart quickly', async () => {
  const { sync, blockedMs } = await pullOf(
    'Users',
    many(9_000, (i) => ({ id: i, userName: { a: i } })),
    'completed',
  )
  expect(sync).toMatchObject({ added: 0, skipped: 9_000 })
  expect(blockedMs).toBeLessThan(blockedMsMax)
})

test('odd people of many values each', async () => {
  const emails = (i: number) => many(1000, (at) => ({ value: `${i}.${at}@x.example` }))
  const people = many(100, (i) => ({ id: i, userName: `many-${i}`, emails: emails(i) }))
  const { sync, blockedMs, isWithin } = await pullOf('Users', people, 'completed')
  expect([isWithin, sync.added]).toEqual([true, 100])
  expect(blockedMs).toBeLessThan(blockedMsMax)
})

test('a group of very many members', async () => {
  await lab.connect('globex')
  const members = many(100_000, (i) => ({ value: `00000000-0000-0000-0000-${i}` }))
  lab.source.groups = [{ id: 'g', displayName: 'Everybody', members }]
  const { blockedMs } = await pullOf('Groups', lab.source.groups, 'completed', 'globex')
  expect(blockedMs).toBeLessThan(blockedMsMax)
})
