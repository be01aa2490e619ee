import { afterAll, beforeAll, expect, test } from 'vitest'
import { DomainError } from '../../contract/domain-error.ts'
import type { Caller, Tenant } from '../../server/http/caller.ts'
import { callerOf, decision, openRecordLab, type RecordLab } from './record-lab.ts'

let lab: RecordLab
let acme: Tenant
let caller: Caller

beforeAll(async () => {
  lab = await openRecordLab({ poolSize: 12 })
  acme = await lab.openTenant('acme')
  caller = callerOf(acme)
})
afterAll(async () => {
  await lab.tampering.settled()
  await lab.drop()
})

const matter = { name: 'Case 17', reason: 'Litigation' }
const write = (count: number) => lab.write(acme, ...Array.from({ length: count }, (_, at) => decision(`d${at}`)))
const place = (scope: object) => lab.holds.place(caller, { ...matter, ...scope })
const release = (holdId: string) => lab.holds.release(caller, holdId, 'Settled')

/** What came of it: `ok`, or the slug of the refusal. Anything else fails the test. */
async function outcome(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'ok'
  } catch (error) {
    if (error instanceof DomainError) return error.slug
    throw error
  }
}
const purge = (id: string) => outcome(lab.purger.purge(caller, id, { reason: 'x' }))

interface Stored {
  record_id: string
  is_purged: boolean
  is_frozen: boolean
}

async function storedOf(ids: readonly string[]): Promise<Stored[]> {
  const superuser = await lab.superuserClient()
  const { rows } = await superuser.query<Stored>(
    `select u.id as record_id, s.purged_at is not null as is_purged, s.buffer_left_micros is not null as is_frozen
     from unnest($1::uuid[]) with ordinality as u (id, place) left join hub.record_states s on s.record_id = u.id
     order by u.place`,
    [ids],
  )
  return rows
}

async function expectAllVerified(ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    expect(await lab.reading.verify(caller, id)).toMatchObject({ verified: true })
  }
}

test('of purges and a hold at once, each record is refused or purged before the hold, which then freezes it', async () => {
  for (let round = 0; round < 6; round++) {
    const ids = await write(8)
    const scope = round % 2 === 0 ? { record_ids: ids } : { filter: { record_type: ['decision'] } }
    const works = ids.map((id) => () => purge(id)).toSpliced(round, 0, () => outcome(place(scope)))
    const outcomes = await Promise.all(works.map((work) => work()))
    const ofRecords = outcomes.toSpliced(round, 1)
    for (const [at, stored] of (await storedOf(ids)).entries()) {
      expect(stored.is_purged).toBe(ofRecords[at] === 'ok')
      expect(stored.is_frozen).toBe(stored.is_purged)
    }
    await expectAllVerified(ids)
    for (const { hold_id } of (await lab.holds.list(acme, { active: true, limit: 100 })).items) await release(hold_id)
    expect((await storedOf(ids)).filter((stored) => stored.is_frozen)).toEqual([])
    await expectAllVerified(ids)
  }
})

test('of purges and a release at once, each record is refused, or purged after the release', async () => {
  for (let round = 0; round < 6; round++) {
    const ids = await write(8)
    const { hold_id } = await place({ record_ids: ids })
    const works = ids.map((id) => () => purge(id)).toSpliced(round, 0, () => outcome(release(hold_id)))
    await Promise.all(works.map((work) => work()))
    expect((await storedOf(ids)).filter((stored) => stored.is_frozen)).toEqual([])
    await expectAllVerified(ids)
  }
})

test('a hold that is released many times at once is released once, and all get the one answer', async () => {
  const ids = await write(1)
  const { hold_id } = await place({ record_ids: ids })
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, at) => lab.holds.release(caller, hold_id, `reason ${at}`)),
  )
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
  const { records } = await lab.reading.query(caller, { event_kind: 'hub.legal_hold_released', limit: 1000 })
  expect(records.filter((record) => record.subject === `hold:${hold_id}`)).toHaveLength(1)
})

test('of two holds that are released at once, the last one lets the buffer go on', async () => {
  for (let round = 0; round < 5; round++) {
    const ids = await write(3)
    for (const id of ids) await purge(id)
    const holds = [await place({ record_ids: ids }), await place({ filter: { created_by: 'client-1' } })]
    expect((await storedOf(ids)).every((stored) => stored.is_frozen)).toBe(true)
    await Promise.all(holds.map(({ hold_id }) => release(hold_id)))
    expect((await storedOf(ids)).some((stored) => stored.is_frozen)).toBe(false)
  }
})

test('restores at once with a hold leave active records, whichever is first', async () => {
  for (let round = 0; round < 5; round++) {
    const ids = await write(6)
    for (const id of ids) await purge(id)
    const restores = ids.map((id) => () => outcome(lab.purger.restore(caller, id, {})))
    const works = restores.toSpliced(round, 0, () => outcome(place({ record_ids: ids })))
    expect(new Set(await Promise.all(works.map((work) => work())))).toEqual(new Set(['ok']))
    for (const stored of await storedOf(ids)) expect(stored).toMatchObject({ is_purged: false, is_frozen: false })
    await expectAllVerified(ids)
  }
})

test('clocks of processes that differ never make a purge look as if a hold had been in force', async () => {
  // Another process on the same database, whose clock is an hour behind.
  const wallMs = () => Date.now() - 3_600_000
  const behind = lab.openProcess({ wallMs, monotonicMs: () => performance.now() })
  const [before, after] = await write(2)
  const { answer } = await lab.purger.purge(caller, before!, { reason: 'x' })
  const hold = await behind.holds.place(caller, { ...matter, record_ids: [before!, after!] })
  expect(hold.created_at > answer.purged_at).toBe(true)
  const { released_at } = await release(hold.hold_id)
  const late = await behind.purger.purge(caller, after!, { reason: 'x' })
  expect(late.answer.purged_at > released_at!).toBe(true)
  await expectAllVerified([before!, after!])
})
