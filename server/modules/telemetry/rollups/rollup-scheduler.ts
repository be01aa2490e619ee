import type { DatabaseLog } from '../../../db/database.ts'
import { type NextVisit, TenantLoop } from '../../../jobs/tenant-loop.ts'
import { CompactionScheduler } from './compaction-scheduler.ts'
import type { Rollups } from './rollup-service.ts'

/** Milliseconds from an ingest to the aggregation of its deltas. */
const gatherMs = 500
/** Minimum milliseconds from the start of an aggregation of a tenant to the next. */
const intervalMs = 1_000
/**
 * Pauses take this many times as long as the aggregation before, up to a maximum: the cost depends on the cells, and those
 * of one second mostly recur in the next. Readers add the deltas meanwhile.
 */
const restFactor = 3
const restMsMax = 4_000
/** Minimum pause between visits of a tenant whose deltas are all aggregated, in milliseconds. */
const pauseMsMin = 250
/** Milliseconds after which a tenant is visited again that another transaction kept busy. */
const busyMs = 250
/** Milliseconds for which a tenant with deltas is visited after each pause: another process may be ingesting. */
const activeMs = 60_000
/** Maximum number of transactions in one visit; a tenant with more deltas takes turns with others. */
const foldsMax = 5
/** Tenants whose deltas are aggregated at once, so that a busy one does not delay the others. */
const tenantsAtOnce = 4
/** Lists of all tenants are at least this many times as far apart as the visits of idle ones took. */
const idleRestFactor = 20

interface SchedulerDeps {
  rollups: Pick<Rollups, 'fold' | 'daysToClose' | 'closeDay'>
  listTenants: () => Promise<readonly string[]>
  log: Pick<DatabaseLog, 'warn' | 'error'>
  nowMs?: () => number
}

/**
 * Aggregates in the background. Several processes may run a scheduler: if two meet at a tenant, one skips it. Days are
 * compacted by a loop of their own, so that a large day delays no aggregation.
 */
export class RollupScheduler {
  readonly #deps: SchedulerDeps
  readonly #nowMs: () => number
  readonly #loop: TenantLoop
  readonly #compaction: CompactionScheduler
  /** Tenants with recent deltas: until when they are visited after each pause. */
  readonly #activeUntilMs = new Map<string, number>()
  /** The last list of all tenants, and the time that visits of idle tenants have taken since. */
  #listed = { atMs: Number.NEGATIVE_INFINITY, idleMs: 0 }

  constructor(deps: SchedulerDeps) {
    const { log, nowMs = () => performance.now() } = deps
    this.#deps = deps
    this.#nowMs = nowMs
    this.#compaction = new CompactionScheduler({
      ...deps,
      nowMs,
      idle: (tookMs) => {
        this.#listed.idleMs += tookMs
      },
    })
    this.#loop = new TenantLoop({
      visit: (tenantId, stopped) => this.#visit(tenantId, stopped),
      listTenants: () => this.#listTenants(),
      ...{ log, nowMs },
      concurrency: tenantsAtOnce,
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
    this.#compaction.start()
    this.#loop.start()
  }

  /** Stops, and waits for the running transactions. */
  async stop(): Promise<void> {
    await Promise.all([this.#loop.stop(), this.#compaction.stop()])
  }

  async #visit(tenantId: string, stopped: AbortSignal): Promise<NextVisit> {
    const startMs = this.#nowMs()
    const { ended, foundDeltas } = await this.#foldSome(tenantId, stopped)
    const tookMs = this.#nowMs() - startMs
    if (foundDeltas) this.#activeUntilMs.set(tenantId, this.#nowMs() + activeMs)
    const isActive = this.#nowMs() < (this.#activeUntilMs.get(tenantId) ?? 0)
    // A crash may have left days of a tenant that is listed only.
    if (foundDeltas || !isActive) this.#compaction.look(tenantId)
    if (ended === 'more') return 0
    if (!isActive) {
      this.#activeUntilMs.delete(tenantId)
      this.#listed.idleMs += tookMs
      return undefined
    }
    const restAfterLongMs = Math.min(restMsMax, restFactor * tookMs)
    const restMs = ended === 'busy' ? busyMs : Math.max(pauseMsMin, intervalMs - tookMs, restAfterLongMs)
    return { inMs: restMs, restMs }
  }

  async *#listTenants(): AsyncGenerator<string> {
    if (this.#nowMs() - this.#listed.atMs < this.#listed.idleMs * idleRestFactor) return
    this.#listed = { atMs: this.#nowMs(), idleMs: 0 }
    yield* await this.#deps.listTenants()
  }

  /** Aggregates deltas. Returns whether more are left, and whether it found any. */
  async #foldSome(
    tenantId: string,
    stopped: AbortSignal,
  ): Promise<{ ended: 'more' | 'busy' | 'done'; foundDeltas: boolean }> {
    let foundDeltas = false
    for (let folds = 0; folds < foldsMax && !stopped.aborted; folds += 1) {
      const folded = await this.#deps.rollups.fold(tenantId)
      if (folded === 'busy') return { ended: 'busy', foundDeltas: true }
      foundDeltas ||= folded.deltas > 0
      if (!folded.more) return { ended: 'done', foundDeltas }
    }
    return { ended: 'more', foundDeltas }
  }
}
