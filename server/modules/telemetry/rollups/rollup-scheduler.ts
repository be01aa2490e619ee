import type { DatabaseLog } from '../../../db/database.ts'
import { type NextVisit, TenantLoop } from '../../../jobs/tenant-loop.ts'
import type { Rollups } from './rollup-service.ts'

/** Milliseconds from an ingest to the aggregation of its deltas. */
const gatherMs = 500
/** Minimum pause between aggregations of a tenant in milliseconds. */
const pauseMsMin = 1_000
/** Milliseconds for which a tenant with deltas is visited after each pause: another process may be ingesting. */
const activeMs = 60_000
/** Maximum number of transactions in one visit. */
const foldsMax = 20
/**
 * Pauses take at least this many times as long as aggregation, up to the maximum pause, unless deltas are left. The cost
 * depends on the cells, and those of one second mostly recur in the next. Nobody waits for it, because readers add the
 * deltas.
 */
const foldRestFactor = 30
const foldPauseMsMax = 8_000
/** Seconds without an addition after which a day is compacted. */
const idleSeconds = 5
/** Pauses take at least this many times as long as compaction, regardless of how often the same day is opened again. */
const closeRestFactor = 10
const closeMsMax = 2_000
/** Lists of all tenants are at least this many times as far apart as the visits of idle ones took. */
const idleRestFactor = 20

interface SchedulerDeps {
  rollups: Pick<Rollups, 'fold' | 'daysToClose' | 'closeDay'>
  listTenants: () => Promise<readonly string[]>
  log: Pick<DatabaseLog, 'warn' | 'error'>
  nowMs?: () => number
}

/**
 * Aggregates in the background, one tenant at a time. Several processes may run a scheduler: if two meet at a tenant, one
 * skips it.
 */
export class RollupScheduler {
  readonly #deps: SchedulerDeps
  readonly #nowMs: () => number
  readonly #loop: TenantLoop
  /** Tenants with recent deltas: until when, and the time of the next search for days to compact. */
  readonly #active = new Map<string, { untilMs: number; closeAtMs: number }>()
  /** The last list of all tenants, and the time that visits of idle tenants have taken since. */
  #listed = { atMs: Number.NEGATIVE_INFINITY, idleMs: 0 }

  constructor(deps: SchedulerDeps) {
    const { log, nowMs = () => performance.now() } = deps
    this.#deps = deps
    this.#nowMs = nowMs
    this.#loop = new TenantLoop({
      visit: (tenantId, stopped) => this.#visit(tenantId, stopped),
      listTenants: () => this.#listTenants(),
      ...{ log, nowMs },
      concurrency: 1,
      retryMs: { first: 2_000, max: 60_000 },
      messages: {
        unavailable: 'rollups are not updated while the database is unavailable',
        failed: 'the rollups of a tenant could not be updated',
        unlisted: 'the tenants could not be listed to update their rollups',
      },
    })
  }

  /** Aggregates the tenant's deltas soon. Call it after a commit that stored deltas. */
  ingested(tenantId: string): void {
    this.#loop.wake(tenantId, gatherMs)
  }

  start(): void {
    this.#loop.start()
  }

  /** Stops, and waits for the running transaction. */
  stop(): Promise<void> {
    return this.#loop.stop()
  }

  async #visit(tenantId: string, stopped: AbortSignal): Promise<NextVisit> {
    const startMs = this.#nowMs()
    const { restMs, isActive } = await this.#foldSome(tenantId, stopped)
    const state = this.#active.get(tenantId) ?? { untilMs: 0, closeAtMs: 0 }
    if (isActive) state.untilMs = this.#nowMs() + activeMs
    if (this.#nowMs() >= state.closeAtMs) state.closeAtMs = await this.#closeSome(tenantId, stopped)
    // Days that were opened last are compacted while the tenant is still active.
    if (this.#nowMs() >= state.untilMs) {
      this.#active.delete(tenantId)
      this.#listed.idleMs += this.#nowMs() - startMs
      return undefined
    }
    this.#active.set(tenantId, state)
    return { inMs: restMs, restMs }
  }

  async *#listTenants(): AsyncGenerator<string> {
    if (this.#nowMs() - this.#listed.atMs < this.#listed.idleMs * idleRestFactor) return
    this.#listed = { atMs: this.#nowMs(), idleMs: 0 }
    yield* await this.#deps.listTenants()
  }

  /** Aggregates deltas. Returns the pause that it requires, and whether it found deltas. */
  async #foldSome(tenantId: string, stopped: AbortSignal): Promise<{ restMs: number; isActive: boolean }> {
    const startMs = this.#nowMs()
    let isActive = false
    for (let folds = 0; folds < foldsMax && !stopped.aborted; folds += 1) {
      const folded = await this.#deps.rollups.fold(tenantId)
      if (folded === 'busy') return { restMs: pauseMsMin, isActive: true }
      isActive ||= folded.deltas > 0
      if (folded.more) continue
      const restMs = Math.min(foldPauseMsMax, (this.#nowMs() - startMs) * foldRestFactor)
      return { restMs: Math.max(pauseMsMin, restMs), isActive }
    }
    return { restMs: pauseMsMin, isActive }
  }

  /** Compacts some days, and returns when to look again. */
  async #closeSome(tenantId: string, stopped: AbortSignal): Promise<number> {
    const { rollups } = this.#deps
    const startMs = this.#nowMs()
    const days = await rollups.daysToClose(tenantId, idleSeconds)
    for (const day of days) {
      if (stopped.aborted || this.#nowMs() - startMs > closeMsMax) break
      if ((await rollups.closeDay(tenantId, day)) === 'busy') break
    }
    const tookMs = days.length === 0 ? 0 : this.#nowMs() - startMs
    return this.#nowMs() + Math.max(idleSeconds * 1000, tookMs * closeRestFactor)
  }
}
