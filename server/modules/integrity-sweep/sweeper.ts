import type { Tenant } from '../../http/caller.ts'
import { TenantLoop, type TenantLoopOptions } from '../../jobs/tenant-loop.ts'
import type { RecordClock } from '../../records/record-clock.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import { type AccessCursor, firstAccessCursor } from './access-sweep.ts'
import { createFullScan } from './full-scan.ts'
import { firstHoldCursor, type HoldCursor } from './hold-sweep.ts'
import { createLostLogs } from './lost-logs.ts'
import { ScanModes } from './scan-modes.ts'
import { type SweepDeps, SweepSteps } from './sweep-steps.ts'
import type { Sweeper } from './sweep-types.ts'
import { createThrottle, pause, type Throttle } from './throttle.ts'

/** Rates and times of the sweeper; docs/adr/0030-integrity-scan.md calculates with them. */
export const sweepPlan = {
  /** Records per second that a process verifies in full scans. */
  passRate: 2_500,
  /** Records per second that it verifies at the end of logs. */
  recentRate: 2_500,
  /** Records per second that it counts again for aggregates. */
  figureRate: 2_500,
  /** Records per second that all scans for evidence packs read together. */
  orderedRate: 10_000,
  /**
   * Milliseconds between two full scans of a tenant, and between two checks of the end of its log; longer with many
   * tenants.
   */
  passEveryMs: 20_000,
  lookEveryMs: 10_000,
  /** Milliseconds between two counts of the newest days, and between two of all days of a tenant. */
  newestFiguresEveryMs: 60_000,
  allFiguresEveryMs: 600_000,
  /**
   * Maximum full scans started, and checks, per second. They bound the cost of thousands of tenants without new
   * records.
   */
  passesPerSecond: 5,
  looksPerSecond: 100,
  /** Records of a tenant per time slice. */
  turnRecords: 5_000,
  listEveryMs: 10_000,
  retryMs: { first: 1_000, max: 30_000 },
}

export type SweepPlan = typeof sweepPlan

/**
 * Maximum steps per check of a tenant with thousands of holds or people: a step covers 500 holds or 1,000 rows that
 * grant access.
 */
const roundStepsAtOnce = 5

/** A round over the holds of a tenant, or over the rows that grant access. */
interface Round<Cursor> {
  cursor: Cursor
  /** The time of the next step. */
  dueAtMs: number
}

interface TenantProgress {
  holds: Round<HoldCursor>
  access: Round<AccessCursor>
  /** Whether the full scan continues in the next time slice. */
  isUnfinished: boolean
  /** Counts of aggregates that continue in their next time slice. */
  figures: { newest?: FigureSteps; all?: FigureSteps }
}

type FigureSteps = ReturnType<SweepSteps['figures']>

/** The tenant of a visit, its progress, the rate, and a signal that fires at the stop. */
interface Turn {
  tenant: Tenant
  progress: TenantProgress
  pace: Throttle
  signal: AbortSignal
}

/**
 * Creates the sweeper: one loop for each scan mode and for each range of aggregates. Each visits one tenant at a time.
 * Several processes may run them: a claim keeps two from the same scan of a tenant. Each counts aggregates on its own.
 */
export function createSweeper(
  deps: SweepDeps & { directory: Pick<TenantDirectory, 'find' | 'slugs'>; clock: RecordClock },
  plan = sweepPlan,
): Sweeper {
  const steps = new SweepSteps(deps)
  const background = new BackgroundSweeper(deps, plan, steps)
  return {
    sweep: createFullScan(deps, steps, createThrottle(plan.orderedRate)),
    start: () => background.start(),
    stop: () => background.stop(),
  }
}

class BackgroundSweeper {
  readonly #deps: Parameters<typeof createSweeper>[0]
  readonly #plan: SweepPlan
  readonly #steps: SweepSteps
  readonly #modes: ScanModes
  readonly #lostLogs: ReturnType<typeof createLostLogs>
  readonly #loops: readonly TenantLoop[]
  readonly #progress = new Map<string, TenantProgress>()
  #tenants = 0
  /** Whether the process log says that the database is unavailable. */
  #isPaused = false

  constructor(deps: Parameters<typeof createSweeper>[0], plan: SweepPlan, steps: SweepSteps) {
    this.#deps = deps
    this.#plan = plan
    this.#steps = steps
    this.#modes = new ScanModes(deps, steps)
    this.#lostLogs = createLostLogs(deps)
    const figurePace = createThrottle(plan.figureRate)
    this.#loops = [
      this.#loop(
        createThrottle(plan.recentRate),
        (turn) => this.#follow(turn),
        () => this.#listAndFindLostLogs(),
      ),
      this.#loop(createThrottle(plan.passRate), (turn) => this.#scan(turn)),
      this.#loop(figurePace, (turn) => this.#count('newest', plan.newestFiguresEveryMs, turn)),
      this.#loop(figurePace, (turn) => this.#count('all', plan.allFiguresEveryMs, turn)),
    ]
  }

  start(): void {
    for (const loop of this.#loops) loop.start()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()))
  }

  #loop(
    pace: Throttle,
    visit: (turn: Turn) => Promise<number>,
    listTenants: TenantLoopOptions['listTenants'] = () => this.#listTenants(),
  ): TenantLoop {
    const { directory, log } = this.#deps
    return new TenantLoop({
      visit: async (slug, signal) => {
        const tenant = await directory.find(slug, { evenSuspended: true })
        if (!tenant) {
          this.#progress.delete(slug)
          return undefined
        }
        const nextMs = await visit({ tenant, progress: this.#progressOf(slug), pace, signal })
        this.#isPaused = false
        return nextMs
      },
      listTenants,
      listMs: this.#plan.listEveryMs,
      concurrency: 1,
      retryMs: this.#plan.retryMs,
      log: {
        error: log.error.bind(log),
        warn: (details, message) => {
          if (!this.#isPaused) log.warn(details, message)
          this.#isPaused = true
        },
      },
      messages: {
        unavailable: 'the integrity scan is paused',
        failed: 'could not verify the stored records of a tenant',
        unlisted: 'the integrity scan is paused',
      },
    })
  }

  async #listTenants(): Promise<string[]> {
    const slugs = await this.#deps.directory.slugs()
    this.#tenants = slugs.length
    return [...slugs]
  }

  async *#listAndFindLostLogs(): AsyncGenerator<string> {
    yield* await this.#listTenants()
    await this.#lostLogs.look()
  }

  get #lookEveryMs(): number {
    return Math.max(this.#plan.lookEveryMs, (this.#tenants / this.#plan.looksPerSecond) * 1000)
  }

  /** Returns a period of full scans or counts; longer with many tenants. */
  #periodMs(everyMs: number): number {
    return Math.max(everyMs, (this.#tenants / this.#plan.passesPerSecond) * 1000)
  }

  #progressOf(slug: string): TenantProgress {
    const known = this.#progress.get(slug)
    if (known) return known
    const holds = { cursor: firstHoldCursor, dueAtMs: 0 }
    const access = { cursor: firstAccessCursor, dueAtMs: 0 }
    const begun: TenantProgress = { holds, access, isUnfinished: false, figures: {} }
    this.#progress.set(slug, begun)
    return begun
  }

  /** Checks new entries at the end of the log. */
  async #follow(turn: Turn): Promise<number> {
    const { tenant, progress, pace, signal } = turn
    // Separately from the full scan, so that deleted or changed rows are found soon, regardless of its duration.
    await this.#advance(progress.holds, turn, (cursor) => this.#steps.holds(tenant, cursor))
    await this.#advance(progress.access, turn, (cursor) => this.#steps.access(tenant, cursor))
    const result = await this.#modes.recent(tenant, { pace, signal, turnRecords: this.#plan.turnRecords })
    await pause(1000 / this.#plan.looksPerSecond, signal)
    return result === 'more' ? 0 : this.#lookEveryMs
  }

  /** Does some steps of a round that is due. */
  async #advance<Cursor>(
    round: Round<Cursor>,
    { pace, signal }: Turn,
    step: (cursor: Cursor) => Promise<{ cursor: Cursor; isRoundOver: boolean; cost: number }>,
  ): Promise<void> {
    for (let at = 0; at < roundStepsAtOnce && round.dueAtMs <= performance.now(); at += 1) {
      const { cursor, isRoundOver, cost } = await step(round.cursor)
      round.cursor = cursor
      await pace.spend(cost, signal)
      if (isRoundOver) round.dueAtMs = performance.now() + 2 * this.#lookEveryMs
    }
  }

  /** Does a time slice of the full scan. New scans are paced, and take turns with those that continue. */
  async #scan({ tenant, progress, pace, signal }: Turn): Promise<number> {
    const isNew = !progress.isUnfinished
    const result = await this.#modes.pass(tenant, { pace, signal, turnRecords: this.#plan.turnRecords })
    progress.isUnfinished = result === 'more'
    if (isNew) await pause(1000 / this.#plan.passesPerSecond, signal)
    return progress.isUnfinished ? 0 : this.#periodMs(this.#plan.passEveryMs)
  }

  /** Counts the aggregates of the newest days or of all days again, in time slices. */
  async #count(range: 'newest' | 'all', everyMs: number, { tenant, progress, pace, signal }: Turn): Promise<number> {
    const step = progress.figures[range] ?? this.#steps.figures(tenant, range)
    // After an error the count starts again.
    delete progress.figures[range]
    for (let spent = 0; spent < this.#plan.turnRecords && !signal.aborted; ) {
      const { cost, isOver } = await step()
      spent += cost
      await pace.spend(cost, signal)
      if (!isOver) continue
      await pause(1000 / this.#plan.passesPerSecond, signal)
      return this.#periodMs(everyMs)
    }
    progress.figures[range] = step
    return 0
  }
}
