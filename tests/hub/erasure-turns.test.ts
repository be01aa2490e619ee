import { afterAll, beforeAll, expect, test } from 'vitest'
import { createErasureJob } from '../../server/modules/erasure/erasure-job.ts'
import type { Erasure } from '../../server/modules/erasure/erasure-types.ts'
import type { TenantDirectory } from '../../server/modules/tenants/tenants-types.ts'
import { decision, pathOf, write } from '../api/record-cases.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const slugs = ['a', 'b', 'c']
const directory = {
  slugs: async () => slugs,
  find: async (slug: string) => (slug === 'gone' ? undefined : { slug }),
} as unknown as TenantDirectory

/** The job on tenants with so many parts to do each, which are noted as they are done. */
function jobOf(counts: Record<string, number>, options: { firstOf?: (count: number) => number; fails?: string } = {}) {
  const done: string[] = []
  const erasure = {
    async *parts({ slug }: { slug: string }) {
      for (let count = 0; count < counts[slug]!; count++) {
        if (slug === options.fails) throw new Error('away')
        done.push(slug)
        yield
      }
    },
  } as unknown as Erasure
  const { firstOf = () => 0 } = options
  return { done, job: createErasureJob({ erasure, directory, firstOf }) }
}
const run = (job: ReturnType<typeof createErasureJob>, signal = new AbortController().signal) =>
  job.handler({ data: {}, signal })

test('tenants take turns, so that none waits for the end of another', async () => {
  const { done, job } = jobOf({ a: 4, b: 1, c: 2 })
  await run(job)
  expect(done).toEqual(['a', 'b', 'c', 'a', 'c', 'a', 'a'])
})

test('another one begins each time', async () => {
  const { done, job } = jobOf({ a: 1, b: 1, c: 1 }, { firstOf: (count) => count - 1 })
  await run(job)
  expect(done).toEqual(['c', 'a', 'b'])
})

test('one that fails keeps none waiting, and has the job tried again', async () => {
  const { done, job } = jobOf({ a: 2, b: 2, c: 1 }, { fails: 'b' })
  await expect(run(job)).rejects.toThrow('the records of 1 tenants stayed')
  expect(done).toEqual(['a', 'c', 'a'])
})

test('it ends between two parts, and has an hour until then', async () => {
  const stop = new AbortController()
  const { done, job } = jobOf({ a: 2, b: 2, c: 2 })
  stop.abort()
  await run(job, stop.signal)
  expect(done).toEqual([])
  expect(job.secondsMax).toBe(3600)
})

let hub: TestHub
const time = fakeClock()
beforeAll(async () => {
  hub = await startHub({ time })
})
afterAll(() => hub.stop())

test('a part purges what is too old, or erases what is due', async () => {
  await hub.call('acme', 'PUT', '/api/v1/hub/retention-rules', {
    body: { rules: [{ record_type: 'artifact', max_days: 10 }] },
  })
  const old = await write(hub, 'acme', { record_type: 'artifact', title: 'Old' })
  const due = await write(hub, 'acme', decision)
  await hub.call('acme', 'DELETE', pathOf(due, '?reason=x'))
  time.step({ days: 31 })
  const parts = hub.modules.hub.erasure.parts(await hub.tenant('acme'))[Symbol.asyncIterator]()
  const statusOf = async (id: string) => {
    const { status, body } = await hub.call('acme', 'GET', pathOf(id))
    return status === 200 ? body.is_purged : status
  }
  const stored = async () =>
    (await (await hub.superuserClient()).query('select from hub.records where record_id = $1', [due])).rowCount
  expect(await parts.next()).toMatchObject({ done: false })
  expect([await statusOf(old), await stored()]).toEqual([true, 1])
  expect(await parts.next()).toMatchObject({ done: false, value: { erased: 1, held: 0 } })
  expect(await stored()).toBe(0)
  expect(await parts.next()).toMatchObject({ done: true })
})
