import { afterAll, beforeAll, expect, test } from 'vitest'
import { DomainError } from '../../contract/domain-error.ts'
import type { Erased } from '../../server/modules/erasure/erasure-types.ts'
import { decision, pathOf, query, write } from '../api/record-cases.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const time = fakeClock()
let hub: TestHub

beforeAll(async () => {
  hub = await startHub({ time, poolSize: 16 })
})
afterAll(() => hub.stop())

/** Purged records, whose buffer is not over. */
async function purgedRecords(count: number): Promise<string[]> {
  const ids: string[] = []
  for (let at = 0; at < count; at++) {
    const id = await write(hub, 'acme', decision)
    await hub.call('acme', 'DELETE', pathOf(id, '?reason=x'))
    ids.push(id)
  }
  return ids
}

const inAYear = () => new Date(time.wallMs() + 365 * 86_400_000).toISOString().replace('Z', '000Z')
const run = async (asOf?: string) => hub.modules.hub.erasure.run(await hub.tenant('acme'), asOf ? { asOf } : {})
const stored = async () => {
  const { records } = await query(hub, 'acme', '?record_type=decision&include_purged=true&limit=1000')
  return new Map<string, boolean>(
    records.map((each: { record_id: string; is_purged: boolean }) => [each.record_id, each.is_purged]),
  )
}
const erasedSubjects = async (): Promise<string[]> => {
  const { records } = await query(hub, 'acme', '?event_kind=hub.record_hard_deleted&limit=1000')
  return records.map((event: { subject: string }) => event.subject.slice('record:'.length))
}

test('two runs erase each record once', async () => {
  const ids = await purgedRecords(20)
  time.step({ days: 31 })
  const runs: Erased[] = await Promise.all([run(), run(), run()])
  expect(runs.reduce((sum, { erased }) => sum + erased, 0)).toBe(20)
  expect((await erasedSubjects()).filter((id) => ids.includes(id)).sort()).toEqual([...ids].sort())
})

test('what is restored meanwhile stays, and everything else goes', async () => {
  const ids = await purgedRecords(20)
  const restores = ids.map((id) => hub.call('acme', 'POST', pathOf(id, ':restore')))
  const [{ erased }, ...answers] = await Promise.all([run(inAYear()), ...restores])
  const restored = ids.filter((_, at) => answers[at]!.status === 200)
  expect(erased + restored.length).toBe(20)
  for (const { status } of answers) expect([200, 404]).toContain(status)
  const left = await stored()
  expect(ids.filter((id) => left.has(id))).toEqual(restored)
  for (const id of restored) expect(left.get(id)).toBe(false)
})

test('what is held meanwhile stays', async () => {
  const ids = await purgedRecords(20)
  const holds = ids.slice(10).map((id) => {
    const body = { name: 'Case', reason: 'x', record_ids: [id] }
    return hub.call('acme', 'POST', '/api/v1/hub/legal-holds', { body })
  })
  const [{ erased }, ...answers] = await Promise.all([run(inAYear()), ...holds])
  const held = ids.slice(10).filter((_, at) => answers[at]!.status === 201)
  const left = await stored()
  expect(ids.filter((id) => left.has(id))).toEqual(held)
  expect(erased).toBe(20 - held.length)
})

test('many records go in parts, and the signal ends a run between two', async () => {
  const { sealer, writer } = hub.modules.recordStore.records
  const globex = await hub.tenant('globex')
  const drafts = Array.from({ length: 1100 }, (_, at) => ({
    recordType: 'decision' as const,
    createdBy: 'client-1',
    fields: { ...decision, decision_id: `D-${at}` },
  }))
  const batch = await sealer.seal(globex, drafts)
  await hub.test.database.withTenant('globex', (tx) => writer.insert(tx, batch))
  const body = { rules: [{ record_type: 'decision', max_days: 1 }] }
  await hub.call('globex', 'PUT', '/api/v1/hub/retention-rules', { body })
  time.step({ days: 2 })
  const { erasure } = hub.modules.hub
  expect(await erasure.purgeOverdue(globex, { signal: AbortSignal.abort() })).toBe(0)
  expect(await erasure.purgeOverdue(globex)).toBe(1100)
  time.step({ days: 31 })
  expect(await erasure.run(globex, { signal: AbortSignal.abort() })).toEqual({ erased: 0, held: 0 })
  expect(await erasure.run(globex)).toEqual({ erased: 1100, held: 0 })
  const certificate = await hub.call('globex', 'GET', pathOf(batch.records[700]!.recordId, '/deletion-certificate'))
  expect(certificate.status).toBe(200)
})

test('one that cannot be done leaves everything as it was', async () => {
  const ids = await purgedRecords(3)
  time.step({ days: 31 })
  const { storage } = hub.modules
  const { write: keep } = storage
  storage.write = async () => {
    throw new DomainError('hub-unavailable', 'The disk is full.')
  }
  await expect(run()).rejects.toThrow('The disk is full.')
  storage.write = keep
  const client = await hub.superuserClient()
  const { rows } = await client.query('select count(*)::int as count from hub.tombstones where record_id = any($1)', [
    ids,
  ])
  expect(rows).toEqual([{ count: 0 }])
  expect(await run()).toEqual({ erased: 3, held: 0 })
})
