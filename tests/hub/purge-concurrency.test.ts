import { afterAll, beforeAll, expect, test } from 'vitest'
import { DomainError } from '../../contract/domain-error.ts'
import type { Caller, Tenant } from '../../server/http/caller.ts'
import { callerOf, decision, openRecordLab, type RecordLab } from './record-lab.ts'

let lab: RecordLab
let acme: Tenant
let caller: Caller

beforeAll(async () => {
  lab = await openRecordLab()
  acme = await lab.openTenant('acme')
  caller = callerOf(acme)
})

afterAll(() => lab.drop())

async function eventsOf(id: string): Promise<unknown[]> {
  const { records } = await lab.reading.query(caller, { record_type: 'governance_event', limit: 1000 })
  return records.filter((record) => record.subject === `record:${id}`).map((record) => record.event_kind)
}

const slugs = (results: PromiseSettledResult<unknown>[]) =>
  results.map((result) =>
    result.status === 'fulfilled' ? 'ok' : result.reason instanceof DomainError ? result.reason.slug : result.reason,
  )

test('of many deletions at once, each with the same ETag, one changes the record and the others are told', async () => {
  const [id] = await lab.write(acme, decision('a'))
  const { etag } = await lab.reading.get(caller, id!, false)
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, () => lab.purger.purge(caller, id!, { reason: 'once', ifMatch: etag })),
  )
  expect(slugs(results).sort()).toEqual([...Array(7).fill('concurrent-modification'), 'ok'])
  expect(await eventsOf(id!)).toEqual(['hub.record_purged'])
})

test('of many deletions at once without an ETag, all get the one answer', async () => {
  const [id] = await lab.write(acme, decision('a'))
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, i) => lab.purger.purge(caller, id!, { reason: `reason ${i}` })),
  )
  expect(new Set(answers.map(({ answer }) => JSON.stringify(answer))).size).toBe(1)
  expect(await eventsOf(id!)).toEqual(['hub.record_purged'])
})

test('deletions and restores at once leave a state that the events explain', async () => {
  const [id] = await lab.write(acme, decision('a'))
  await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      i % 2 === 0 ? lab.purger.purge(caller, id!, { reason: 'x' }) : lab.purger.restore(caller, id!, {}),
    ),
  )
  const events = await eventsOf(id!)
  const { record } = await lab.reading.get(caller, id!, false)
  expect(events).toEqual(events.map((_, i) => (i % 2 === 0 ? 'hub.record_purged' : 'hub.record_restored')))
  expect(record.is_purged).toBe(events.length % 2 === 1)
})

test('a read answers the state that its ETag names, while the state changes', async () => {
  const [id] = await lab.write(acme, decision('a'))
  let isChanging = true
  const changes = async () => {
    for (let i = 0; i < 60; i++) {
      await lab.purger.purge(caller, id!, { reason: 'x' })
      await lab.purger.restore(caller, id!, {})
    }
    isChanging = false
  }
  const seen = new Set<boolean>()
  const reads = async () => {
    while (isChanging) {
      const { record, etag } = await lab.reading.get(caller, id!, false)
      const revision = Number(/-(\d+)"$/.exec(etag)?.[1])
      // Every odd change is a purge.
      expect({ revision, isPurged: record.is_purged }).toEqual({ revision, isPurged: revision % 2 === 1 })
      seen.add(revision % 2 === 1)
    }
  }
  await Promise.all([changes(), reads(), reads(), reads()])
  expect(seen.size).toBe(2)
})

test('a record is gone when its recovery period is over, before anything removes it', async () => {
  const [id] = await lab.write(acme, decision('a'))
  await lab.purger.purge(caller, id!, { reason: 'x' })
  const superuser = await lab.superuserClient()
  await superuser.query('update hub.record_states set hard_delete_after = now() where record_id = $1', [id])
  const attempts = [
    () => lab.reading.get(caller, id!, false),
    () => lab.reading.verify(caller, id!),
    () => lab.purger.purge(caller, id!, { reason: 'x' }),
    () => lab.purger.restore(caller, id!, {}),
    () => lab.relations.related(caller, id!, { depth: 1, direction: 'both' }),
  ]
  for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ slug: 'not-found' })
  expect((await lab.reading.query(caller, { record_id: id!, include_purged: true })).records).toEqual([])
})
