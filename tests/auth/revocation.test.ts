import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../server/db/database.ts'
import { unavailable } from '../../server/db/database-errors.ts'
import type { Principal, Revocations } from '../../server/modules/auth/auth-types.ts'
import { createRevokedEpochs, openRevocations } from '../../server/modules/auth/revocation/revocations.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { quiet } from './auth-lab.ts'

/** Of one process. Between processes: revocation-across-hubs.test.ts. */

let store: TestDatabase
beforeAll(async () => {
  store = await createTestDatabase()
})
afterAll(() => store.drop())

const opened: Revocations[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()))
})

interface Lab {
  revocations: Revocations
  /** Looks at the database so far. */
  looks(): number
  listens(): number
  wake(): void
  /** Refuses looks, or keeps what they have read from arriving. */
  away: { refused: boolean; held: Promise<void> | undefined }
  clock: { ms: number }
}

/** With a clock of its own, and a database that counts what it is asked. */
async function openLab(): Promise<Lab> {
  const clock = { ms: 1_000_000 }
  const away: Lab['away'] = { refused: false, held: undefined }
  let looks = 0
  let listens = 0
  let wake = () => {}
  const database: Database = {
    ...store.database,
    async withRegistry(work) {
      looks += 1
      if (away.refused) throw unavailable(new Error('gone'))
      const read = await store.database.withRegistry(work)
      await away.held
      return read
    },
    listen(_channel, callback) {
      listens += 1
      wake = callback
      return { close() {} }
    },
  }
  const revocations = await openRevocations({ database, log: quiet, now: () => clock.ms })
  opened.push(revocations)
  return { revocations, looks: () => looks, listens: () => listens, wake: () => wake(), away, clock }
}

const revoke = (by: Revocations, tenant: string, principal: Principal, epoch: number) =>
  store.database.withTenant(tenant, (tx) => by.revoke(tx, principal, epoch))

test('tokens below the epoch are refused, those of it and above are good, and others do not care', async () => {
  const { revocations } = await openLab()
  await revoke(revocations, 'acme', 'user:usr_1', 3)
  const answers = [2, 3, 4].map((epoch) => revocations.isRevoked('acme', 'user:usr_1', epoch))
  expect(await Promise.all(answers)).toEqual([true, false, false])
  expect(revocations.isRevoked('globex', 'user:usr_1', 1)).toBe(false)
  expect(revocations.isRevoked('acme', 'client:usr_1', 1)).toBe(false)
  expect(revocations.isRevoked('acme', '__proto__' as Principal, 1)).toBe(false)
})

test('of two epochs the higher one stays, in memory and in the database', async () => {
  const one = await openLab()
  await revoke(one.revocations, 'acme', 'user:usr_2', 5)
  await revoke(one.revocations, 'acme', 'user:usr_2', 2)
  expect(await one.revocations.isRevoked('acme', 'user:usr_2', 4)).toBe(true)
  const other = await openLab()
  expect(await other.revocations.isRevoked('acme', 'user:usr_2', 4)).toBe(true)
  expect(other.revocations.isRevoked('acme', 'user:usr_2', 5)).toBe(false)
})

test('several are revoked at once, each of them once, and the higher epoch of each stays', async () => {
  const one = await openLab()
  await revoke(one.revocations, 'acme', 'session:several-2', 5)
  await store.database.withTenant('acme', (tx) =>
    one.revocations.revokeAll(tx, ['session:several-3', 'session:several-2', 'session:several-3'], 1),
  )
  const other = await openLab()
  for (const { revocations } of [one, other]) {
    expect(await revocations.isRevoked('acme', 'session:several-2', 4)).toBe(true)
    expect(await revocations.isRevoked('acme', 'session:several-3', 0)).toBe(true)
    expect(await revocations.isRevoked('acme', 'session:several-3', 1)).toBe(false)
    expect(await revocations.isRevoked('globex', 'session:several-3', 0)).toBe(false)
  }
})

test('the process itself knows it as soon as the transaction has committed, and not when it rolls back', async () => {
  const { revocations, looks } = await openLab()
  await revocations.isRevoked('acme', 'session:s', 0)
  const before = looks()
  const attempt = store.database.withTenant('acme', async (tx) => {
    await revocations.revoke(tx, 'session:rolled-back', 1)
    expect(revocations.isRevoked('acme', 'session:rolled-back', 0)).toBe(false)
    throw new Error('rolled back')
  })
  await expect(attempt).rejects.toThrow('rolled back')
  expect(revocations.isRevoked('acme', 'session:rolled-back', 0)).toBe(false)
  await revoke(revocations, 'acme', 'session:ended', 1)
  expect(revocations.isRevoked('acme', 'session:ended', 0)).toBe(true)
  expect(looks()).toBe(before)
})

describe('looks', () => {
  test('there is none, and no connection, until somebody asks', async () => {
    const { revocations, looks, listens } = await openLab()
    await revoke(revocations, 'acme', 'session:quiet', 1)
    expect([looks(), listens()]).toEqual([0, 0])
    await revocations.isRevoked('acme', 'session:quiet', 0)
    expect([looks(), listens()]).toEqual([1, 1])
  })

  test('a thousand questions at once share one, and the next are answered without any', async () => {
    const { revocations, looks, listens } = await openLab()
    const ask = () => revocations.isRevoked('acme', 'session:shared', 0)
    await Promise.all(Array.from({ length: 1000 }, ask))
    expect(ask()).toBe(false)
    expect([looks(), listens()]).toEqual([1, 1])
  })

  test('after four seconds without one, the question waits for it', async () => {
    const { revocations, looks, clock } = await openLab()
    const other = await openLab()
    await revocations.isRevoked('acme', 'user:usr_late', 1)
    await revoke(other.revocations, 'acme', 'user:usr_late', 2)
    clock.ms += 4_000
    expect(revocations.isRevoked('acme', 'user:usr_late', 1)).toBe(false)
    clock.ms += 1
    expect(await revocations.isRevoked('acme', 'user:usr_late', 1)).toBe(true)
    expect(looks()).toBe(2)
  })

  test('where none succeeds, nothing is answered but 503; afterwards all is known', async () => {
    const { revocations, away, clock } = await openLab()
    await revocations.isRevoked('acme', 'user:usr_away', 1)
    const other = await openLab()
    away.refused = true
    await revoke(other.revocations, 'acme', 'user:usr_away', 2)
    clock.ms += 4_001
    for (const principal of ['user:usr_away', 'user:usr_good'] as const) {
      await expect(revocations.isRevoked('acme', principal, 1)).rejects.toMatchObject({ slug: 'hub-unavailable' })
    }
    away.refused = false
    expect(await revocations.isRevoked('acme', 'user:usr_away', 1)).toBe(true)
    expect(revocations.isRevoked('acme', 'user:usr_good', 1)).toBe(false)
  })

  test('one that does not end is waited for two seconds, and its late answer is not taken for a fresh one', async () => {
    const { revocations, away, clock } = await openLab()
    let release = () => {}
    away.held = new Promise((resolve) => {
      release = resolve
    })
    const began = performance.now()
    // It would wait for ever for the look itself.
    await expect(revocations.isRevoked('acme', 'user:usr_hung', 1)).rejects.toMatchObject({ slug: 'hub-unavailable' })
    expect(performance.now() - began).toBeGreaterThan(1_900)
    clock.ms += 4_001
    away.held = undefined
    release()
    const answer = revocations.isRevoked('acme', 'user:usr_hung', 1)
    expect(answer).toBeInstanceOf(Promise)
    expect(await answer).toBe(false)
  })

  test('a flood of notifications causes a few, the last of them after the last notification', async () => {
    const { revocations, looks, wake } = await openLab()
    await revocations.isRevoked('acme', 'user:usr_flood', 1)
    const other = await openLab()
    const before = looks()
    const began = performance.now()
    while (performance.now() - began < 300) {
      for (let n = 0; n < 1000; n += 1) wake()
      await new Promise((resolve) => setImmediate(resolve))
    }
    // A timer of 50 ms lies between two of them, however long this took; one may be under way, one is regular.
    const pauses = (performance.now() - began) / 50
    expect(looks() - before).toBeGreaterThan(0)
    expect(looks() - before).toBeLessThan(1.1 * pauses + 3)
    await revoke(other.revocations, 'acme', 'user:usr_flood', 2)
    wake()
    await expect.poll(() => revocations.isRevoked('acme', 'user:usr_flood', 1), { interval: 10 }).toBe(true)
  })

  test('a transaction that was long in committing is not missed', async () => {
    const { revocations, clock } = await openLab()
    const other = await openLab()
    let commit = () => {}
    const committing = new Promise<void>((resolve) => {
      commit = resolve
    })
    let written = () => {}
    const isWritten = new Promise<void>((resolve) => {
      written = resolve
    })
    const slow = store.database.withTenant('acme', async (tx) => {
      await other.revocations.revoke(tx, 'user:usr_slow', 2)
      written()
      await committing
    })
    await isWritten
    // What is written last is seen first.
    await revoke(other.revocations, 'acme', 'user:usr_quick', 2)
    expect(await revocations.isRevoked('acme', 'user:usr_quick', 1)).toBe(true)
    expect(revocations.isRevoked('acme', 'user:usr_slow', 1)).toBe(false)
    commit()
    await slow
    clock.ms += 4_001
    expect(await revocations.isRevoked('acme', 'user:usr_slow', 1)).toBe(true)
  })
})

test('rows go once no token is left that they concern, a thousand at a time', async () => {
  const { revocations } = await openLab()
  const superuser = await store.superuserClient()
  await superuser.query(
    `insert into hub.revocations select 'hooli', 'session:' || n, 1, now() - make_interval(mins => case when n <= 1500 then 71 else 69 end)
     from generate_series(1, 1501) n`,
  )
  const forget = (tenant: string) => store.database.withTenant(tenant, (tx) => revocations.deleteOld(tx))
  expect([await forget('acme'), await forget('hooli'), await forget('hooli')]).toEqual([false, true, false])
  const { rows } = await superuser.query(`select principal from hub.revocations where tenant_slug = 'hooli'`)
  expect(rows).toEqual([{ principal: 'session:1501' }])
})

describe('in memory', () => {
  test('what concerns no living token is forgotten, the rest stays', () => {
    const clock = { ms: 0 }
    const revoked = createRevokedEpochs(70, () => clock.ms)
    revoked.add('acme', 'session:old', 1)
    clock.ms = 50
    revoked.add('acme', 'session:new', 1)
    clock.ms = 71
    revoked.deleteOld()
    expect([revoked.minEpoch('acme', 'session:old'), revoked.minEpoch('acme', 'session:new')]).toEqual([0, 1])
    clock.ms = 121
    revoked.deleteOld()
    expect(revoked.minEpoch('acme', 'session:new')).toBe(0)
  })

  test('a question is answered from memory and without waiting, however much is revoked', async () => {
    const superuser = await store.superuserClient()
    await superuser.query(
      `insert into hub.revocations select 'big', 'user:usr_' || n, 2, now() from generate_series(0, 9999) n`,
    )
    const revocations = await openRevocations({ database: store.database, log: quiet })
    opened.push(revocations)
    expect(await revocations.isRevoked('big', 'user:usr_9999', 1)).toBe(true)
    const answers = Array.from({ length: 20_000 }, (_, n) => revocations.isRevoked('big', `user:usr_${n}`, 1))
    expect(answers.map((answer, n) => answer === n < 10_000)).not.toContain(false)
  })
})
