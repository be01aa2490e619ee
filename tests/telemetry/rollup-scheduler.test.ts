import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { DomainError } from '../../contract/domain-error.ts'
import type { Folded } from '../../server/modules/telemetry/rollups/rollup-aggregator.ts'
import { RollupScheduler } from '../../server/modules/telemetry/rollups/rollup-scheduler.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const nothing: Folded = { deltas: 0, more: false }

/** A folder over tenants whose rollups are played by `fold` and `daysToClose`. */
function openFolder(options: {
  tenants?: string[]
  fold?: (tenant: string) => Promise<Folded | 'busy'>
  daysToClose?: (tenant: string, idleSeconds?: number) => Promise<number[]>
  closeDay?: () => void
  foldMs?: number
}) {
  const { tenants = [], fold = async () => nothing, daysToClose = async () => [], foldMs = 1 } = options
  const seen = {
    folds: [] as string[],
    closed: [] as string[],
    warnings: [] as string[],
    errors: [] as object[],
    lists: 0,
    running: new Set<string>(),
    runningMost: 0,
  }
  const folder = new RollupScheduler({
    rollups: {
      fold: async (tenant) => {
        seen.folds.push(tenant)
        expect(seen.running).not.toContain(tenant)
        seen.running.add(tenant)
        seen.runningMost = Math.max(seen.runningMost, seen.running.size)
        await new Promise((done) => setTimeout(done, foldMs))
        return fold(tenant).finally(() => seen.running.delete(tenant))
      },
      daysToClose,
      closeDay: async (tenant, day) => {
        seen.closed.push(`${tenant} ${day}`)
        options.closeDay?.()
        return 'closed'
      },
    },
    listTenants: async () => {
      seen.lists += 1
      return tenants
    },
    log: { warn: () => void seen.warnings.push('away'), error: (details) => void seen.errors.push(details) },
    nowMs: () => Date.now(),
  })
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
  return { folder, seen, pass, count: (tenant: string) => seen.folds.filter((one) => one === tenant).length }
}

describe('the folder', () => {
  test('sees to a tenant within about a second of its ingest', async () => {
    const { folder, pass, count } = openFolder({})
    folder.start()
    await pass(1100)
    folder.ingested('acme')
    expect(count('acme')).toBe(0)
    await pass(1100)
    expect(count('acme')).toBe(1)
    await folder.stop()
  })

  test('finds what other processes and crashes left, without being told', async () => {
    const { folder, seen, pass } = openFolder({ tenants: ['acme', 'globex'] })
    folder.start()
    await pass(1100)
    expect(seen.folds).toEqual(['acme', 'globex'])
    await pass(20_000)
    expect(seen.lists).toBeGreaterThanOrEqual(3)
    expect(seen.lists).toBeLessThanOrEqual(5)
    await folder.stop()
  })

  test('keeps looking at a tenant that another process ingests for', async () => {
    const { folder, seen, pass, count } = openFolder({
      tenants: ['acme'],
      fold: async () => ({ deltas: 3, more: false }),
    })
    folder.start()
    await pass(20_500)
    expect(count('acme')).toBeGreaterThan(15)
    expect(seen.lists).toBeLessThan(6)
    await folder.stop()
  })

  test('goes on without a pause while deltas wait', async () => {
    let left = 100
    const { folder, pass, count } = openFolder({
      tenants: ['acme'],
      fold: async () => ({ deltas: 5000, more: --left > 0 }),
    })
    folder.start()
    await pass(500)
    expect(count('acme')).toBe(100)
    await folder.stop()
  })

  test('takes turns with tenants whose deltas wait, so that a quiet one is seen to soon', async () => {
    const busy = Array.from({ length: 6 }, (_, at) => `busy-${at}`)
    const { folder, seen, pass } = openFolder({
      tenants: [...busy, 'quiet'],
      fold: async (tenant) => ({ deltas: 1, more: tenant !== 'quiet' }),
    })
    folder.start()
    await pass(500)
    // At most two turns of each busy tenant are before it: five transactions each.
    expect(seen.folds.indexOf('quiet')).toBeGreaterThanOrEqual(0)
    expect(seen.folds.indexOf('quiet')).toBeLessThanOrEqual(2 * 6 * 5)
    expect(seen.runningMost).toBe(4)
    const stopped = folder.stop()
    await pass(10)
    await stopped
  })

  test('is not delayed by a tenant whose aggregation hangs', async () => {
    const { folder, pass, count } = openFolder({
      tenants: ['acme', 'globex'],
      fold: (tenant) =>
        tenant === 'acme'
          ? new Promise((done) => setTimeout(() => done(nothing), 30_000))
          : Promise.resolve({ deltas: 1, more: false }),
    })
    folder.start()
    await pass(10_000)
    expect(count('acme')).toBe(1)
    expect(count('globex')).toBeGreaterThanOrEqual(9)
    const stopped = folder.stop()
    await pass(30_000)
    await stopped
  })

  test('begins each second, and after a long aggregation rests three times as long, at most four seconds', async () => {
    const cheap = openFolder({ tenants: ['acme'], fold: async () => ({ deltas: 1, more: false }), foldMs: 2 })
    const dear = openFolder({ tenants: ['acme'], fold: async () => ({ deltas: 1, more: false }), foldMs: 700 })
    const dearest = openFolder({ tenants: ['acme'], fold: async () => ({ deltas: 1, more: false }), foldMs: 2_000 })
    cheap.folder.start()
    dear.folder.start()
    dearest.folder.start()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(cheap.count('acme')).toBeGreaterThan(50)
    expect(cheap.count('acme')).toBeLessThanOrEqual(61)
    expect(Math.abs(dear.count('acme') - 60 / 2.8)).toBeLessThan(2)
    expect(Math.abs(dearest.count('acme') - 60 / 6)).toBeLessThan(2)
    const stopped = Promise.all([cheap, dear, dearest].map(({ folder }) => folder.stop()))
    await vi.advanceTimersByTimeAsync(2_000)
    await stopped
  })

  test('comes back soon to a tenant that another transaction keeps busy', async () => {
    let isBusy = true
    const { folder, pass, count } = openFolder({
      tenants: ['acme'],
      fold: async () => (isBusy ? 'busy' : nothing),
    })
    folder.start()
    await pass(3_000)
    expect(count('acme')).toBeGreaterThanOrEqual(8)
    isBusy = false
    await folder.stop()
  })

  test('lets one tenant fail, less and less often, while the others are seen to', async () => {
    let heals = false
    const { folder, seen, pass, count } = openFolder({
      tenants: ['acme', 'globex'],
      fold: async (tenant) => {
        if (tenant === 'acme' && !heals) throw new Error('broken')
        return { deltas: 1, more: false }
      },
    })
    folder.start()
    await pass(60_000)
    expect(count('globex')).toBeGreaterThan(50)
    expect(count('acme')).toBeLessThan(8)
    expect(seen.errors.length).toBe(count('acme'))
    expect(seen.errors[0]).toMatchObject({ tenant: 'acme', err: expect.any(Error) })
    heals = true
    await pass(61_000)
    const before = count('acme')
    await pass(10_000)
    expect(count('acme')).toBeGreaterThan(before + 7)
    await folder.stop()
  })

  test('takes a database that is away for no error of its own', async () => {
    const { folder, seen, pass } = openFolder({
      tenants: ['acme'],
      fold: async () => {
        throw new DomainError('hub-unavailable', 'away')
      },
    })
    folder.start()
    await pass(10_000)
    expect(seen.errors).toEqual([])
    expect(seen.warnings.length).toBeGreaterThan(1)
    await folder.stop()
  })

  test('compacts idle days beside aggregation, and rests long after that took long', async () => {
    const { folder, seen, pass, count } = openFolder({
      tenants: ['acme'],
      fold: async () => ({ deltas: 1, more: false }),
      daysToClose: async () => {
        await new Promise((done) => setTimeout(done, 1000))
        return [20_000, 20_001]
      },
    })
    folder.start()
    await pass(19_000)
    expect(seen.closed).toEqual(['acme 20000', 'acme 20001'])
    expect(count('acme')).toBeGreaterThan(16)
    await pass(12_000)
    expect(seen.closed.length).toBe(4)
    const stopped = folder.stop()
    await pass(3_000)
    await stopped
  })

  test('looks for days until none is open, and then not again', async () => {
    let looks = 0
    const open = [20_000]
    const { folder, seen, pass } = openFolder({
      tenants: ['acme'],
      daysToClose: async (_, idleSeconds = 0) => {
        looks += 1
        // The day becomes idle after two visits.
        return idleSeconds > 0 && looks < 5 ? [] : open
      },
      closeDay: () => void open.pop(),
    })
    folder.start()
    await pass(4_000)
    expect([looks, seen.closed]).toEqual([2, []])
    await pass(60_000)
    expect(seen.closed).toEqual(['acme 20000'])
    await folder.stop()
  })

  test('waits for what is running when it stops, and starts nothing more', async () => {
    const { folder, seen, pass } = openFolder({ tenants: ['acme', 'globex'], foldMs: 500 })
    folder.start()
    await pass(100)
    expect(seen.running.size).toBe(2)
    const stopped = folder.stop()
    await pass(600)
    await stopped
    expect(seen.running.size).toBe(0)
    expect(seen.folds).toEqual(['acme', 'globex'])
    folder.ingested('globex')
    await pass(10_000)
    expect(seen.folds).toEqual(['acme', 'globex'])
  })
})
