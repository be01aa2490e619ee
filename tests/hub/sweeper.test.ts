import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Tenant } from '../../server/http/caller.ts'
import { ScanModes, type ScannedSteps } from '../../server/modules/integrity-sweep/scan-modes.ts'
import type { SweepDeps } from '../../server/modules/integrity-sweep/sweep-steps.ts'
import { createThrottle } from '../../server/modules/integrity-sweep/throttle.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { decisionDraft, writeSealed } from './attack-scenes.ts'
import { away, laneOf, sweeperOf } from './sweep-lab.ts'

let hub: TestHub
let db: pg.Client
let time: FakeClock
let acme: Tenant

beforeAll(async () => {
  time = fakeClock()
  hub = await startHub({ time })
  db = await hub.superuserClient()
  acme = await hub.tenant('acme')
  for (let seal = 0; seal < 40; seal++) {
    await writeSealed(hub, acme, ...Array.from({ length: 64 }, (_, at) => decisionDraft(`${seal}.${at}`)))
  }
  await hub.modules.log.logs.integrate(acme)
})
afterAll(() => hub.stop())
beforeEach(() => db.query('delete from hub.sweeps'))

const sizeOf = async (tenant: Tenant) => (await hub.modules.log.logs.integrate(tenant)).treeSize
const onlyAcme = { tenants: () => ['acme'] }

describe('in the background', () => {
  test('all of a tenant is met, and again', async () => {
    const sweeper = sweeperOf(hub, onlyAcme)
    sweeper.start()
    const finished = async () => (await laneOf(hub, acme, 'all'))?.finished_at
    await expect.poll(finished).toBeTruthy()
    const first = await finished()
    await expect.poll(finished).not.toBe(first)
    await sweeper.stop()
    const { rows } = await db.query(`select count(*)::integer as count from hub.records where tenant_id = 'acme'`)
    await db.query(`update hub.sweeps set checked = 0, log_index = 0, after_id = null where lane = 'all'`)
    const again = sweeperOf(hub, { ...onlyAcme, plan: { passEveryMs: 60_000 } })
    again.start()
    await expect.poll(async () => (await laneOf(hub, acme, 'all'))?.checked).toBe(rows[0].count)
    await again.stop()
    expect(await laneOf(hub, acme, 'all')).toMatchObject({
      failed: 0,
      log_index: 0,
      after_id: null,
      claimed_until: null,
    })
  })

  test('what is new is met by following the end of the log', async () => {
    const sweeper = sweeperOf(hub, { ...onlyAcme, plan: { passEveryMs: 60_000 } })
    sweeper.start()
    const place = async () => (await laneOf(hub, acme, 'recent'))?.log_index
    await expect.poll(place).toBe(await sizeOf(acme))
    const [id] = await writeSealed(hub, acme, decisionDraft('new'))
    await db.query(`update hub.records set canonical = replace(canonical, 'approved', 'denied') where record_id = $1`, [
      id,
    ])
    const size = await sizeOf(acme)
    await expect.poll(place).toBe(size)
    expect((await laneOf(hub, acme, 'recent'))?.failed).toBe(1)
    await sweeper.stop()
    // Its report is a record, too.
    const reports = `select from hub.records where event_kind = 'hub.tamper_detected'`
    await expect.poll(async () => (await db.query(reports)).rowCount).toBe(1)
    await sizeOf(acme)
    await db.query(`update hub.records set canonical = replace(canonical, 'denied', 'approved') where record_id = $1`, [
      id,
    ])
  })

  test('goes on where another process has left off', async () => {
    const sweeper = sweeperOf(hub, { ...onlyAcme, plan: { turnRecords: 1, passRate: 0.001 } })
    sweeper.start()
    // It waits after the first page, for ever so long, until it is stopped.
    await expect.poll(async () => (await laneOf(hub, acme, 'all'))?.claimed_until).toBeTruthy()
    await sweeper.stop()
    const left = (await laneOf(hub, acme, 'all'))!
    expect(left.finished_at).toBeNull()
    expect(left.log_index).toBeGreaterThan(0)
    expect(left.claimed_until).toBeNull()
    const next = sweeperOf(hub, { ...onlyAcme, plan: { passEveryMs: 60_000 } })
    next.start()
    await expect.poll(async () => (await laneOf(hub, acme, 'all'))?.finished_at).toBeTruthy()
    await next.stop()
    const { rows } = await db.query(`select count(*)::integer as count from hub.records where tenant_id = 'acme'`)
    // Each once: what the first had checked was not checked again.
    expect((await laneOf(hub, acme, 'all'))?.checked).toBe(rows[0].count)
  })

  test('goes on when the database was away', async () => {
    let isAway = true
    const lines: string[] = []
    const sweeper = sweeperOf(hub, {
      ...onlyAcme,
      lines,
      before: () => {
        if (isAway) throw away()
      },
    })
    sweeper.start()
    await expect.poll(() => lines.length).toBeGreaterThan(0)
    isAway = false
    await expect.poll(async () => (await laneOf(hub, acme, 'all'))?.finished_at).toBeTruthy()
    await sweeper.stop()
    // Once for each lane, and for the figures if their turn came meanwhile, however long it lasts.
    expect(lines.length).toBeLessThanOrEqual(3)
    expect(new Set(lines)).toEqual(new Set(['the integrity scan is paused']))
  })

  test('a tenant that cannot be swept does not keep the others from it', async () => {
    const globex = await hub.tenant('globex')
    const lines: string[] = []
    const sweeper = sweeperOf(hub, {
      tenants: () => ['acme', 'globex'],
      lines,
      before: (tenantId) => {
        if (tenantId === 'acme') throw new Error('for some reason')
      },
    })
    sweeper.start()
    await expect.poll(async () => (await laneOf(hub, globex, 'all'))?.finished_at).toBeTruthy()
    await sweeper.stop()
    expect(lines).toContain('could not verify the stored records of a tenant')
    expect(await laneOf(hub, acme, 'all')).toBeUndefined()
  })

  test('stops at once, however slow it is to be', async () => {
    const sweeper = sweeperOf(hub, { plan: { passRate: 0.01, recentRate: 0.01 } })
    sweeper.start()
    await expect.poll(async () => (await laneOf(hub, acme, 'all'))?.claimed_until).toBeTruthy()
    // At this pace the page it waits for would take hours.
    await sweeper.stop()
    expect((await laneOf(hub, acme, 'all'))?.claimed_until).toBeNull()
  })
})

describe('several processes', () => {
  const turn = { pace: createThrottle(1_000_000), signal: new AbortController().signal }
  const never: ScannedSteps = {
    entriesWorth: (records) => records,
    head: async () => ({ checked: 0, failed: 0, inconsistent: 0, cost: 1 }),
    page: () => new Promise(() => {}),
    scan: () => new Promise(() => {}),
  }
  const findings: object[] = []
  const lanesWith = (steps: ScannedSteps) => {
    const deps = {
      tampering: { report: (_: Tenant, some: readonly object[]) => void findings.push(...some) },
      database: hub.test.database,
      logs: hub.modules.log.logs,
      clock: hub.modules.recordStore.clock,
    } as unknown as SweepDeps & { clock: TestHub['modules']['recordStore']['clock'] }
    return new ScanModes(deps, steps)
  }
  const quick: ScannedSteps = {
    ...never,
    page: async (_, from) => ({
      checked: 1,
      failed: 0,
      inconsistent: 0,
      cost: 1,
      next: from < 3 ? from + 1 : undefined,
    }),
    scan: async () => ({ checked: 0, failed: 0, inconsistent: 0, cost: 1, next: undefined }),
  }

  test('do not do the same at the same time; the claim of one that died runs out', async () => {
    void lanesWith(never).pass(acme, { ...turn, turnRecords: 10 })
    await expect.poll(async () => (await laneOf(hub, acme, 'all'))?.claimed_until).toBeTruthy()
    const another = lanesWith(quick)
    expect(await another.pass(acme, { ...turn, turnRecords: 10 })).toBe('busy')
    time.step({ ms: 61_000 })
    expect(await another.pass(acme, { ...turn, turnRecords: 10 })).toBe('done')
    expect(await laneOf(hub, acme, 'all')).toMatchObject({ checked: 4, claimed_until: null })
  })

  test.each([
    ['sweep_claim_ends', `claimed_until = '9999-01-01Z'`],
    ['sweep_claim_ends', `claimed_until = 'infinity'`],
    ['sweep_claim_ends', `claimed_until = '-infinity'`],
    ['sweep_claim_ends', `claimed_until = '294000-01-01Z'`],
    ['sweep_readable', `started_at = 'infinity'`],
    ['sweep_readable', `updated_at = '0044-03-15 BC'`],
    ['sweep_readable', `finished_at = '-infinity'`],
    ['sweep_readable', 'checked = 9223372036854775807'],
    ['sweep_readable', 'failed = -1'],
    ['sweep_readable', 'log_index = -9223372036854775808'],
    ['sweep_readable', 'log_index = 9223372036854775807'],
  ])('%s: a lane that somebody has edited keeps nobody away, and is reported: %s', async (check, assignment) => {
    const turnOf = { ...turn, turnRecords: 10 }
    for (const lane of ['all', 'recent']) {
      await db.query(
        `insert into hub.sweeps (tenant_id, lane, log_index, started_at, updated_at, checked, failed)
         values ('acme', $1, 2, now(), now(), 7, 0)`,
        [lane],
      )
    }
    await db.query(`update hub.sweeps set ${assignment}`)
    const start = findings.length
    const anew: number[] = []
    const steps: ScannedSteps = {
      ...quick,
      page: (tenant, from) => {
        anew.push(from)
        return quick.page(tenant, from)
      },
    }
    expect(await lanesWith(steps).pass(acme, turnOf)).toBe('done')
    expect(anew[0]).toBe(check === 'sweep_readable' ? 0 : 2)
    expect(await lanesWith(steps).recent(acme, turnOf)).toBe('done')
    expect(findings.slice(start)).toMatchObject(
      ['all', 'recent'].map((lane) => ({ subject: `sweep:${lane}`, failedChecks: [check], service: 'sweeper' })),
    )
    const left = findings.length
    await lanesWith(quick).pass(acme, turnOf)
    expect(await laneOf(hub, acme, 'all')).toMatchObject({ log_index: 0, after_id: null, claimed_until: null })
    expect(findings).toHaveLength(left)
  })

  test('a turn ends in time for its claim', async () => {
    const slow: ScannedSteps = {
      ...quick,
      page: async (_, from) => {
        time.step({ ms: 31_000 })
        return { checked: 1, failed: 0, inconsistent: 0, cost: 1, next: from + 1 }
      },
    }
    expect(await lanesWith(slow).pass(acme, { ...turn, turnRecords: 1_000 })).toBe('more')
    expect(await laneOf(hub, acme, 'all')).toMatchObject({ log_index: 1, checked: 1 })
  })

  test('what was done before a failure is kept', async () => {
    const failing: ScannedSteps = {
      ...quick,
      page: async (tenant, from) => {
        if (from === 2) throw new Error('for some reason')
        return quick.page(tenant, from)
      },
    }
    await expect(lanesWith(failing).pass(acme, { ...turn, turnRecords: 100 })).rejects.toThrow('for some reason')
    expect(await laneOf(hub, acme, 'all')).toMatchObject({ log_index: 2, checked: 2, claimed_until: null })
  })

  test('who has fallen far behind leaves to the passes what is not new', async () => {
    const size = await sizeOf(acme)
    const first: number[] = []
    const steps: ScannedSteps = {
      ...quick,
      entriesWorth: () => 10,
      page: async (_, from) => {
        first.push(from)
        return { checked: 1, failed: 0, inconsistent: 0, cost: 1, next: from < size ? from + 1 : undefined }
      },
    }
    expect(await lanesWith(steps).recent(acme, { ...turn, turnRecords: 1_000 })).toBe('done')
    expect(first[0]).toBe(size - 10)
    expect((await laneOf(hub, acme, 'recent'))?.log_index).toBe(size)
    expect(await lanesWith(never).recent(acme, { ...turn, turnRecords: 1_000 })).toBe('done')
  })
})

test('a paced scan waits while one at full speed does not, and can be stopped', async () => {
  const sweeper = sweeperOf(hub, { plan: { orderedRate: 0.001 } })
  const stop = new AbortController()
  let isOver = false
  const paced = sweeper.sweep(acme, { signal: stop.signal, isPaced: true }).finally(() => {
    isOver = true
  })
  const { rows } = await db.query(`select count(*)::integer as count from hub.records where tenant_id = 'acme'`)
  expect((await sweeper.sweep(acme)).checked).toBeGreaterThanOrEqual(rows[0].count)
  expect(isOver).toBe(false)
  stop.abort()
  await expect(paced).rejects.toThrow(/abort/i)
})

test('the pace is kept, and nothing is saved up for later', async () => {
  let nowMs = 1_000_000
  const stopped = new AbortController()
  const waits: number[] = []
  // A timer that is not waited for: what the pace asks for is all that counts.
  const pace = createThrottle(
    1_000,
    () => nowMs,
    async (ms) => void waits.push(ms),
  )
  for (const tookMs of [0, 300, 0, 0]) {
    nowMs += tookMs
    await pace.spend(500, stopped.signal)
    nowMs += Math.max(0, waits.at(-1)!)
  }
  nowMs += 3_600_000
  for (let at = 0; at < 4; at++) await pace.spend(500, stopped.signal)
  expect(waits).toEqual([-500, -300, 200, 500, -500, 0, 500, 1_000])
})

test('who waits for the pace does not keep anybody from stopping', async () => {
  const stopping = new AbortController()
  const spent = createThrottle(0.001).spend(1, stopping.signal)
  stopping.abort()
  await spent
})
