import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Caller, Tenant } from '../../server/http/caller.ts'
import { microsOf, timeOfMicros } from '../../server/records/monotonic-timestamp.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { callerOf, decision, openRecordLab, type RecordLab } from './record-lab.ts'

const time = fakeClock()
const dayMicros = 86_400_000_000

let lab: RecordLab
let acme: Tenant
let caller: Caller

beforeAll(async () => {
  lab = await openRecordLab({ time })
  await (await lab.superuserClient()).query('select hub.ensure_record_partitions(24)')
  acme = await lab.openTenant('acme')
  caller = callerOf(acme)
})
afterAll(async () => {
  await lab.tampering.settled()
  await lab.drop()
})

const matter = { name: 'Case 17', reason: 'Litigation' }
const write = async (name = 'a') => (await lab.write(acme, decision(name)))[0]!
const purge = async (id: string) => (await lab.purger.purge(caller, id, { reason: 'x' })).answer
const place = (scope: object) => lab.holds.place(caller, { ...matter, ...scope })
const release = (hold: { hold_id: string }) => lab.holds.release(caller, hold.hold_id, 'Settled')
const stepDays = (days: number) => time.step({ days })
const refused = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error) => error.slug,
  )

/** What is stored of a record's buffer. */
async function bufferOf(id: string): Promise<{ hard_delete_after: string; buffer_left_micros: number | null }> {
  const superuser = await lab.superuserClient()
  const { rows } = await superuser.query(
    `select to_char(hard_delete_after at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as hard_delete_after,
       buffer_left_micros from hub.record_states where record_id = $1`,
    [id],
  )
  return rows[0]
}

describe('a hold over a purged record', () => {
  test.each([
    ['by its id', (id: string) => ({ record_ids: [id] })],
    ['by a filter', (id: string) => ({ filter: { record_id: id } })],
  ])('%s stops its clock, and gives back what was left', async (_, scopeOf) => {
    const id = await write()
    const { hard_delete_after: before } = await purge(id)
    stepDays(10)
    const hold = await place(scopeOf(id))
    const left = microsOf(before) - microsOf(hold.created_at)
    expect(await bufferOf(id)).toEqual({
      hard_delete_after: '9999-12-31T23:59:59.999999Z',
      buffer_left_micros: left,
    })
    stepDays(100)
    expect((await lab.reading.get(caller, id, true)).record).toMatchObject({
      is_purged: true,
      verification: { verified: true },
    })
    expect((await purge(id)).hard_delete_after).toBe(before)
    stepDays(1)
    expect((await purge(id)).hard_delete_after).toBe(before)
    await lab.erasure.run(acme)
    expect(await bufferOf(id)).toBeDefined()

    const { released_at } = await release(hold)
    const end = timeOfMicros(microsOf(released_at!) + left)
    expect(await bufferOf(id)).toEqual({ hard_delete_after: end, buffer_left_micros: null })
    expect((await purge(id)).hard_delete_after).toBe(end)
    stepDays(19)
    expect((await lab.reading.verify(caller, id)).verified).toBe(true)
    stepDays(2)
    await expect(lab.reading.get(caller, id, false)).rejects.toMatchObject({ slug: 'not-found' })
  })

  test('of several, the last one lets it go on', async () => {
    const id = await write('several')
    await purge(id)
    stepDays(10)
    const holds = [
      await place({ record_ids: [id] }),
      await place({ filter: { record_type: ['decision'] } }),
      await place({ record_ids: [id, await write()] }),
      await place({ filter: { record_id: id } }),
    ]
    const { buffer_left_micros: left } = await bufferOf(id)
    for (const hold of holds) {
      expect(await bufferOf(id)).toMatchObject({ buffer_left_micros: left })
      stepDays(10)
      await release(hold)
    }
    expect(await bufferOf(id)).toMatchObject({ buffer_left_micros: null })
    expect(microsOf((await purge(id)).hard_delete_after) - lab.clock.next().micros).toBeLessThan(20 * dayMicros)
  })

  test('a filter stops those only that it finds', async () => {
    const [held, free] = [await write(), await write()]
    for (const id of [held, free]) await purge(id)
    const hold = await place({ filter: { record_type: ['decision'], record_id: held } })
    expect((await bufferOf(held)).buffer_left_micros).not.toBeNull()
    expect((await bufferOf(free)).buffer_left_micros).toBeNull()
    await release(hold)
  })

  test('does not stop it from being restored; then it cannot be purged', async () => {
    const id = await write()
    await purge(id)
    const hold = await place({ record_ids: [id] })
    expect((await lab.purger.restore(caller, id, {})).answer.is_purged).toBe(false)
    expect(await refused(purge(id))).toBe('legal-hold')
    await release(hold)
    await purge(id)
    expect((await bufferOf(id)).buffer_left_micros).toBeNull()
    expect((await lab.reading.verify(caller, id)).verified).toBe(true)
  })

  test('a record whose recovery period is over takes no hold; a filter keeps it from being erased all the same', async () => {
    const id = await write()
    await purge(id)
    stepDays(31)
    await expect(place({ record_ids: [id] })).rejects.toMatchObject({ slug: 'validation-failed' })
    const hold = await place({ filter: { record_id: id } })
    expect((await bufferOf(id)).buffer_left_micros).toBeNull()
    await lab.erasure.run(acme)
    expect(await bufferOf(id)).toBeDefined()
    await release(hold)
    await lab.erasure.run(acme)
    expect(await bufferOf(id)).toBeUndefined()
    await expect(place({ record_ids: [id] })).rejects.toMatchObject({
      errors: [expect.objectContaining({ pointer: '/record_ids/0' })],
    })
  })

  test('many more records than one part has', async () => {
    const bulk = await lab.openTenant('bulk')
    const ids = await lab.load(bulk, 2500, (index) => decision(`many ${index}`))
    const superuser = await lab.superuserClient()
    await superuser.query(
      `insert into hub.record_states (tenant_id, record_id, revision, purged_at, hard_delete_after)
       select 'bulk', id, 1, $2::timestamptz, $2::timestamptz + interval '30 days' from unnest($1::uuid[]) as u (id)`,
      [ids, lab.clock.next().createdAt],
    )
    const frozen = async () => {
      const { rows } = await superuser.query(
        `select count(*)::int as frozen from hub.record_states where record_id = any($1) and buffer_left_micros is not null`,
        [ids],
      )
      return rows[0].frozen
    }
    const filtered = await lab.holds.place(callerOf(bulk), { ...matter, filter: { created_by: 'client-1' } })
    expect(await frozen()).toBe(2500)
    const named = await lab.holds.place(callerOf(bulk), { ...matter, record_ids: ids.slice(0, 1200) })
    await lab.holds.release(callerOf(bulk), filtered.hold_id, 'x')
    expect(await frozen()).toBe(1200)
    await lab.holds.release(callerOf(bulk), named.hold_id, 'x')
    expect(await frozen()).toBe(0)
  })
})

describe('four eyes', () => {
  const other = (): Caller => ({ ...caller, subject: 'client-2', clientId: 'client-2' })
  const withFourEyes = async (work: () => Promise<void>) => {
    await lab.retention.replace(caller, { rules: [], four_eyes: true })
    await work()
    await lab.retention.replace(caller, { rules: [], four_eyes: false })
  }

  test('whoever released a hold over a record does not purge it', async () => {
    const [named, found] = [await write(), await write()]
    const holds = [await place({ record_ids: [named] }), await place({ filter: { record_id: found } })]
    for (const hold of [...holds, await place({ all: true })]) await release(hold)
    // Written after its release, it was never under the last one.
    const later = await write()
    await withFourEyes(async () => {
      for (const [at, id] of [named, found].entries()) {
        const { hold_id } = holds[at]!
        const error = await purge(id).catch((error) => error)
        expect(error).toMatchObject({ slug: 'legal-hold' })
        expect(error.extensions.holds).toContainEqual({ hold_id, name: 'Case 17' })
        expect(error.extensions.holds).toHaveLength(2)
        expect(error.message).toMatch(/You released the legal holds "Case 17".*another person/)
        await lab.purger.purge(other(), id, { reason: 'x' })
      }
      await purge(later)
    })
  })

  test('whoever released a governance event does not purge it', async () => {
    const event = { recordType: 'governance_event' as const, fields: { event_kind: 'custom.x', subject: 'x' } }
    const [id] = await lab.write(acme, event)
    await lab.releases.create(caller, id!, { reason: 'x' })
    await withFourEyes(async () => {
      const error = await purge(id!).catch((error) => error)
      expect(error).toMatchObject({ slug: 'legal-hold', extensions: {} })
      expect(error.extensions).not.toHaveProperty('holds')
      expect(error.message).toMatch(/You created a release/)
      await lab.purger.purge(other(), id!, { reason: 'x' })
    })
  })

  test('without the option they may', async () => {
    const id = await write()
    await release(await place({ record_ids: [id] }))
    await purge(id)
  })
})

test('min_days runs out in time', async () => {
  const id = await write()
  await lab.retention.replace(caller, { rules: [{ record_type: 'decision', min_days: 5 }] })
  const { created_at } = (await lab.reading.get(caller, id, false)).record
  const end = microsOf(String(created_at)) + 5 * dayMicros
  time.step({ ms: Math.floor((end - lab.clock.next().micros) / 1000) - 1000 })
  expect(await refused(purge(id))).toBe('retention')
  time.step({ ms: 1001 })
  expect(await refused(purge(id))).toBe('done')
  await lab.retention.replace(caller, { rules: [] })
})

test('an expired release does not count, and a purge keeps the one that was active', async () => {
  const event = { recordType: 'governance_event' as const, fields: { event_kind: 'custom.x', subject: 'x' } }
  const [id, late] = await lab.write(acme, event, event)
  for (const record of [id!, late!]) {
    const expires_at = timeOfMicros(lab.clock.next().micros + dayMicros)
    await lab.releases.create(caller, record, { reason: 'x', expires_at })
  }
  await purge(id!)
  stepDays(2)
  expect(await refused(purge(late!))).toBe('legal-hold')
  expect((await lab.reading.verify(caller, id!)).verified).toBe(true)
  stepDays(30)
  await lab.erasure.run(acme)
  expect(await bufferOf(id!)).toBeUndefined()
})
