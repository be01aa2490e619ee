import { backoff } from '../../../contract/backoff.ts'
import { isUnavailable } from '../../../contract/domain-error.ts'
import type { Tenant } from '../../http/caller.ts'
import type { RecordClock } from '../../records/record-clock.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import { type AccessCursor, firstAccessCursor } from './access-sweep.ts'
import { createFullScan } from './full-scan.ts'
import { firstHoldCursor, type HoldCursor } from './hold-sweep.ts'
import { createLostLogs } from './lost-logs.ts'
import { createScanModes, type ScanModes } from './scan-modes.ts'
import { createSweepSteps, type SweepDeps, type SweepSteps } from './sweep-steps.ts'
import type { Sweeper } from './sweep-types.ts'
import { createThrottle, pause, type Throttle } from './throttle.ts'

/** Rates and times of the sweeper; docs/adr/0030-integrity-scan.md calculates with them. */
export interface SweepPlan {
  /** Records per second that a process verifies in full scans. */
  passRate: number
  /** Records per second that it verifies at the end of logs. */
  recentRate: number
  /** Records per second that it counts again for aggregates. */
  figureRate: number
  /**
   * Milliseconds between two full scans of a tenant, and between two checks of the end of its log; longer with many
   * tenants.
   */
  passEveryMs: number
  lookEveryMs: number
  /** Milliseconds between two counts of the newest days, and between two of all days of a tenant. */
  newestFiguresEveryMs: number
  allFiguresEveryMs: number
  /**
   * Maximum full scans started, and checks, per second. They bound the cost of thousands of tenants without new
   * records.
   */
  passesPerSecond: number
  looksPerSecond: number
  /** Records of a tenant per time slice. */
  turnRecords: number
  listEveryMs: number
  retryMs: { first: number; max: number }
}

export const sweepPlan: SweepPlan = {
  passRate: 2_500,
  recentRate: 2_500,
  figureRate: 2_500,
  passEveryMs: 20_000,
  lookEveryMs: 10_000,
  newestFiguresEveryMs: 60_000,
  allFiguresEveryMs: 600_000,
  passesPerSecond: 5,
  looksPerSecond: 100,
  turnRecords: 5_000,
  listEveryMs: 10_000,
  retryMs: { first: 1_000, max: 30_000 },
}

/** Maximum steps per check of a tenant with thousands of holds or people: a step covers 500 holds or 1,000 rows that grant access. */
const roundStepsAtOnce = 5

/** Milliseconds of pause without work. */
const idleMs = 250

interface TenantState {
  lookAtMs: number
  passAtMs: number
  /** Whether a full scan waits for its next time slice. */
  isUnfinished: boolean
  failures: number
  /** The progress of the round over its holds, and the time of its next step. */
  holds: HoldCursor
  holdsAtMs: number
  /** The same for the rows that grant access. */
  access: AccessCursor
  accessAtMs: number
  /** Counts of aggregates that continue in their next time slice. */
  newestFigures: FigureSteps | undefined
  newestFiguresAtMs: number
  allFigures: FigureSteps | undefined
  allFiguresAtMs: number
}

type FigureSteps = ReturnType<SweepSteps['figures']>

/**
 * Creates the sweeper: three loops within the process, one for each scan mode and one for aggregates. Each does one
 * thing at a time. Several processes may run them: a claim keeps two from the same scan of a tenant. Each counts
 * aggregates on its own.
 */
export function createSweeper(
  deps: SweepDeps & { directory: Pick<TenantDirectory, 'find' | 'slugs'>; clock: RecordClock },
  plan: SweepPlan = sweepPlan,
): Sweeper {
  const { directory, log } = deps
  const steps = createSweepSteps(deps)
  const lanes = createScanModes(deps, steps)
  const states = new Map<string, TenantState>()
  const lostLogs = createLostLogs(deps)
  let listedAtMs = Number.NEGATIVE_INFINITY
  let stopping: AbortController | undefined
  let running: Promise<unknown> = Promise.resolve()
  const nowMs = () => performance.now()

  async function listTenants(): Promise<void> {
    if (nowMs() - listedAtMs < plan.listEveryMs) return
    const slugs = new Set(await directory.slugs())
    listedAtMs = nowMs()
    await lostLogs.look()
    for (const slug of states.keys()) if (!slugs.has(slug)) states.delete(slug)
    for (const slug of slugs) {
      if (!states.has(slug))
        states.set(slug, {
          lookAtMs: 0,
          passAtMs: 0,
          isUnfinished: false,
          failures: 0,
          holds: firstHoldCursor,
          holdsAtMs: 0,
          access: firstAccessCursor,
          accessAtMs: 0,
          newestFigures: undefined,
          newestFiguresAtMs: 0,
          allFigures: undefined,
          allFiguresAtMs: 0,
        })
    }
  }

  const lookEveryMs = () => Math.max(plan.lookEveryMs, (states.size / plan.looksPerSecond) * 1000)
  const passEveryMs = () => Math.max(plan.passEveryMs, (states.size / plan.passesPerSecond) * 1000)

  /**
   * Checks holds separately from the full scan, so that deleted or changed ones are found soon, regardless of its
   * duration.
   */
  async function lookAtHolds(tenant: Tenant, state: TenantState, pace: Throttle): Promise<void> {
    if (state.holdsAtMs > nowMs()) return
    for (let at = 0; at < roundStepsAtOnce; at += 1) {
      const { cursor, isRoundOver, cost } = await steps.holds(tenant, state.holds)
      state.holds = cursor
      await pace.spend(cost)
      if (!isRoundOver) continue
      state.holdsAtMs = nowMs() + 2 * lookEveryMs()
      return
    }
  }

  /** Checks the rows that grant access separately, for the same reason. */
  async function lookAtAccess(tenant: Tenant, state: TenantState, pace: Throttle): Promise<void> {
    if (state.accessAtMs > nowMs()) return
    for (let at = 0; at < roundStepsAtOnce; at += 1) {
      const { cursor, isRoundOver, cost } = await steps.access(tenant, state.access)
      state.access = cursor
      await pace.spend(cost)
      if (!isRoundOver) continue
      state.accessAtMs = nowMs() + 2 * lookEveryMs()
      return
    }
  }

  /** Checks new entries at the end of each log. */
  async function lookRound(lane: ScanModes, pace: Throttle, signal: AbortSignal): Promise<boolean> {
    let isBusy = false
    for (const [slug, state] of [...states]) {
      if (signal.aborted) return false
      if (state.lookAtMs > nowMs()) continue
      await tend(slug, state, 'lookAtMs', async (tenant) => {
        await lookAtHolds(tenant, state, pace)
        await lookAtAccess(tenant, state, pace)
        const turn = await lane.recent(tenant, { pace, signal, turnRecords: plan.turnRecords })
        isBusy ||= turn === 'more'
        state.lookAtMs = turn === 'more' ? 0 : nowMs() + lookEveryMs()
      })
      await pause(1000 / plan.looksPerSecond, signal)
    }
    return isBusy
  }

  /**
   * Alternates between continued and new full scans, so that a large tenant gets its share regardless of the number of
   * small ones.
   */
  async function passRound(lane: ScanModes, pace: Throttle, signal: AbortSignal): Promise<boolean> {
    const due = [...states].filter(([, state]) => state.passAtMs <= nowMs())
    const unfinished = due.filter(([, state]) => state.isUnfinished)
    const beginning = due.filter(([, state]) => !state.isUnfinished)
    for (let at = 0; at < Math.max(beginning.length, unfinished.length); at++) {
      for (const each of [beginning[at], unfinished[at % Math.max(1, unfinished.length)]]) {
        if (signal.aborted) return false
        if (each === undefined || each[1].passAtMs > nowMs()) continue
        const [slug, state] = each
        await tend(slug, state, 'passAtMs', async (tenant) => {
          const turn = await lane.pass(tenant, { pace, signal, turnRecords: plan.turnRecords })
          state.isUnfinished = turn === 'more'
          state.passAtMs = turn === 'more' ? 0 : nowMs() + passEveryMs()
        })
      }
      if (at < beginning.length) await pause(1000 / plan.passesPerSecond, signal)
    }
    return due.length > 0
  }

  /** Counts the newest days, and all days, of each tenant again, in time slices. */
  async function figureRound(_lane: ScanModes, pace: Throttle, signal: AbortSignal): Promise<boolean> {
    let isBusy = false
    for (const [slug, state] of [...states]) {
      for (const range of ['newest', 'all'] as const) {
        if (signal.aborted) return false
        const dueAt = `${range}FiguresAtMs` as const
        if (state[dueAt] > nowMs()) continue
        isBusy = true
        await tend(slug, state, dueAt, (tenant) => countFigures(tenant, state, range, pace, signal))
      }
      if (isBusy) await pause(1000 / plan.passesPerSecond, signal)
    }
    return isBusy
  }

  async function countFigures(
    tenant: Tenant,
    state: TenantState,
    range: 'newest' | 'all',
    pace: Throttle,
    signal: AbortSignal,
  ): Promise<void> {
    const name = `${range}Figures` as const
    const step = state[name] ?? steps.figures(tenant, range)
    // After an error the count starts again.
    state[name] = undefined
    for (let spent = 0; spent < plan.turnRecords && !signal.aborted; ) {
      const { cost, isOver } = await step()
      spent += cost
      await pace.spend(cost)
      if (!isOver) continue
      const everyMs = range === 'newest' ? plan.newestFiguresEveryMs : plan.allFiguresEveryMs
      state[`${name}AtMs`] = nowMs() + Math.max(everyMs, (states.size / plan.passesPerSecond) * 1000)
      return
    }
    state[name] = step
  }

  async function tend(
    slug: string,
    state: TenantState,
    dueAt: 'lookAtMs' | 'passAtMs' | 'newestFiguresAtMs' | 'allFiguresAtMs',
    work: (tenant: Tenant) => Promise<void>,
  ): Promise<void> {
    try {
      const tenant = await directory.find(slug, { evenSuspended: true })
      if (tenant) await work(tenant)
      else state[dueAt] = nowMs() + plan.listEveryMs
      state.failures = 0
    } catch (error) {
      // The database is unavailable, so the whole round waits.
      if (isUnavailable(error)) throw error
      state.failures += 1
      state[dueAt] = nowMs() + backoff(state.failures, plan.retryMs)
      log.error({ err: error, tenant: slug }, 'could not verify the stored records of a tenant')
    }
  }

  async function loop(round: typeof passRound, rate: number, signal: AbortSignal): Promise<void> {
    const pace = createThrottle(rate, signal)
    let failures = 0
    while (!signal.aborted) {
      try {
        await listTenants()
        const isBusy = await round(lanes, pace, signal)
        failures = 0
        if (!isBusy) await pause(idleMs, signal)
      } catch (error) {
        failures += 1
        const retryMs = backoff(failures - 1, plan.retryMs)
        if (failures === 1) log.warn({ err: error, retryMs }, 'the integrity scan is paused')
        await pause(retryMs, signal)
      }
    }
  }

  return {
    sweep: createFullScan(deps, steps),
    start() {
      if (stopping) return
      stopping = new AbortController()
      const { signal } = stopping
      running = Promise.all([
        loop(lookRound, plan.recentRate, signal),
        loop(passRound, plan.passRate, signal),
        loop(figureRound, plan.figureRate, signal),
      ])
    },
    async stop() {
      stopping?.abort()
      await running
      stopping = undefined
    },
  }
}
