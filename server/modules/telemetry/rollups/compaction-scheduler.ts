import type { DatabaseLog } from '../../../db/database.ts'
import { type NextVisit, TenantLoop } from '../../../jobs/tenant-loop.ts'
import type { Rollups } from './rollup-service.ts'

/** Seconds without an addition after which a day is compacted. */
const idleSeconds = 5
/** Pauses take at least this many times as long as compaction, regardless of how often the same day is opened again. */
const restFactor = 10
/** Milliseconds after which a visit begins no further day. */
const visitMsMax = 2_000

interface CompactionDeps {
  rollups: Pick<Rollups, 'daysToClose' | 'closeDay'>
  log: Pick<DatabaseLog, 'warn' | 'error'>
  nowMs: () => number
  /** Called with the milliseconds of a visit that found no open day. */
  idle(tookMs: number): void
}

/** Compacts idle days in the background, one tenant at a time, for tenants that {@link look} names. */
export class CompactionScheduler {
  readonly #deps: CompactionDeps
  readonly #loop: TenantLoop

  constructor(deps: CompactionDeps) {
    this.#deps = deps
    this.#loop = new TenantLoop({
      visit: (tenantId, stopped) => this.#visit(tenantId, stopped),
      // The scheduler of aggregation names tenants, also those that are only listed.
      listTenants: async () => [],
      ...{ log: deps.log, nowMs: deps.nowMs },
      concurrency: 1,
      retryMs: { first: 2_000, max: 60_000 },
      messages: {
        unavailable: 'days of rollups are not compacted while the database is unavailable',
        failed: 'days of the rollups of a tenant could not be compacted',
        unlisted: 'the tenants could not be listed to compact their rollups',
      },
    })
  }

  /** Looks for days of the tenant, now and until none is open. */
  look(tenantId: string): void {
    if (!this.#loop.has(tenantId)) this.#loop.wake(tenantId)
  }

  start(): void {
    this.#loop.start()
  }

  /** Stops, and waits for the running transaction. */
  stop(): Promise<void> {
    return this.#loop.stop()
  }

  async #visit(tenantId: string, stopped: AbortSignal): Promise<NextVisit> {
    const { rollups, nowMs } = this.#deps
    const startMs = nowMs()
    const days = await rollups.daysToClose(tenantId, idleSeconds)
    for (const day of days) {
      if (stopped.aborted || nowMs() - startMs > visitMsMax) break
      if ((await rollups.closeDay(tenantId, day, stopped)) === 'busy') break
    }
    const isAnyOpen = (await rollups.daysToClose(tenantId, 0)).length > 0
    if (days.length === 0 && !isAnyOpen) this.#deps.idle(nowMs() - startMs)
    if (!isAnyOpen) return undefined
    const tookMs = days.length === 0 ? 0 : nowMs() - startMs
    const restMs = Math.max(idleSeconds * 1000, tookMs * restFactor)
    return { inMs: restMs, restMs }
  }
}
