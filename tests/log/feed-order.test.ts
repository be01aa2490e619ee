import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Tenant } from '../../server/http/caller.ts'
import { get, logPath } from '../api/log-cases.ts'
import { recordsPath } from '../api/record-cases.ts'
import { decision } from '../hub/record-lab.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const writers = 6
const writesEach = 25
const readers = 2

let hub: TestHub
let acme: Tenant
beforeAll(async () => {
  hub = await startHub({ poolSize: 12 })
  acme = await hub.tenant('acme')
})
afterAll(() => hub.stop())

/** Writes, and commits some time after the ids and times were given out: commits land out of their order. */
async function write(name: string, heldMs: number): Promise<string> {
  const { sealer, writer } = hub.modules.recordStore.records
  const batch = await sealer.seal(acme, [{ ...decision(name), createdBy: 'client-1' }])
  await hub.test.database.withTenant('acme', async (tx) => {
    await writer.insert(tx, batch)
    await delay(heldMs)
  })
  return batch.records[0]!.recordId
}

/** Looks again and again, and a last time after the end. */
async function poll(ended: () => boolean, look: () => Promise<unknown>): Promise<void> {
  for (let isLast = false; !isLast; await delay(5)) {
    isLast = ended()
    await look()
  }
}

test('a reader of the feed gets each record once, whenever it is committed; one who polls by time loses some', async () => {
  let ended = false
  const isEnded = () => ended
  const byFeed = Array.from({ length: readers }, () => [] as string[])
  const feeds = byFeed.map(async (seen, i) => {
    let after = 0
    await poll(isEnded, async () => {
      for (let more = true; more; ) {
        const page = await get(hub, `${logPath}/entries?after=${after}&limit=${[1000, 3][i]}`)
        for (const item of page.items) if (item.record.record_type === 'decision') seen.push(item.record_id)
        after = page.last_position
        more = page.next_cursor !== null
      }
    })
  })

  const byTime = new Set<string>()
  let since = '2000-01-01T00:00:00Z'
  const polling = poll(isEnded, async () => {
    const { records } = await get(hub, `${recordsPath}?record_type=decision&created_at__gte=${since}&limit=1000`)
    for (const { record_id, created_at } of records) {
      byTime.add(record_id)
      since = created_at
    }
  })

  const written = await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      const ids: string[] = []
      for (let i = 0; i < writesEach; i++)
        ids.push(await write(`${writer}-${i}`, writer === 0 ? 60 : Math.random() * 5))
      return ids
    }),
  )
  ended = true
  await Promise.all([...feeds, polling])

  const committed = written.flat().sort()
  expect(committed).toHaveLength(writers * writesEach)
  for (const seen of byFeed) {
    expect(seen.toSorted()).toEqual(committed)
    expect(seen).toEqual(byFeed[0])
    // Not in the order of ids and times, or this would have shown nothing.
    expect(seen).not.toEqual(committed)
  }
  expect(byTime.size).toBeLessThan(committed.length)
})

test('a transaction that is held open hides what it wrote, and not what others commit meanwhile', async () => {
  const { last_position: start } = await get(hub, `${logPath}/entries?after=0&limit=1000`)
  const { sealer, writer } = hub.modules.recordStore.records
  const early = await sealer.seal(acme, [{ ...decision('early'), createdBy: 'client-1' }])
  const stored = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const held = hub.test.database.withTenant('acme', async (tx) => {
    await writer.insert(tx, early)
    stored.resolve()
    await release.promise
  })
  await stored.promise
  const late = await write('late', 0)
  const first = await get(hub, `${logPath}/entries?after=${start}`)
  expect(first.items.map((item: { record_id: string }) => item.record_id)).toEqual([late])
  release.resolve()
  await held
  const second = await get(hub, `${logPath}/entries?after=${first.last_position}`)
  const earlyId = early.records[0]!.recordId
  expect(second.items.map((item: { record_id: string }) => item.record_id)).toEqual([earlyId])
  expect(earlyId < late).toBe(true)
})
