import { backoff } from '../../../../contract/backoff.ts'
import { isUnavailable } from '../../../../contract/domain-error.ts'
import type { DatabaseLog } from '../../../db/database.ts'
import type { Folded } from './rollup-aggregator.ts'
import type { Rollups } from './rollup-service.ts'

const passMs = 1_000
/**
 * Milliseconds between looks at every tenant, for the work that another process or a crash has left; longer if that
 * takes long.
 */
const sweepMs = 5_000
const sweepRestFactor = 20
/** Milliseconds for which every pass includes a tenant with deltas: another process may be ingesting. */
const activeMs = 60_000
/** Maximum number of transactions in one pass, for one tenant. */
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
const retryMsMax = 60_000

/** Aggregates in the background, one pass at a time. */
export interface RollupScheduler {
  /** Includes the tenant in the next pass. Call it after a commit that stored deltas. */
  ingested(tenantId: string): void
  start(): void
  /** Stops, and waits for the running transaction. */
  stop(): Promise<void>
}

interface TenantState {
  /** The time of the next look. */
  dueAtMs: number
  activeUntilMs: number
  /** The time of the next search for days to compact. */
  closeAtMs: number
  failures: number
}

/**
 * Creates the loop within the process, because a job queue polls more slowly than rollups should follow. Several
 * processes may run one: if two meet at a tenant, one skips it.
 */
export function createRollupScheduler(deps: {
  rollups: Pick<Rollups, 'fold' | 'daysToClose' | 'closeDay'>
  listTenants: () => Promise<readonly string[]>
  log: Pick<DatabaseLog, 'warn' | 'error'>
  nowMs?: () => number
}): RollupScheduler {
  const { rollups, listTenants, log, nowMs = () => performance.now() } = deps
  const states = new Map<string, TenantState>()
  let sweepAtMs = 0
  let stopped = true
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  function stateOf(tenantId: string): TenantState {
    const known = states.get(tenantId)
    if (known) return known
    const made = { dueAtMs: 0, activeUntilMs: 0, closeAtMs: 0, failures: 0 }
    states.set(tenantId, made)
    return made
  }

  async function foldSome(tenantId: string, state: TenantState): Promise<void> {
    const startMs = nowMs()
    let folds = 0
    let folded: Folded | 'busy'
    do {
      folded = await rollups.fold(tenantId)
      folds += 1
      if (folded === 'busy' || folded.deltas > 0) state.activeUntilMs = nowMs() + activeMs
    } while (folded !== 'busy' && folded.more && folds < foldsMax && !stopped)
    const behind = folded === 'busy' || folded.more
    const pauseMs = behind ? 0 : Math.min(foldPauseMsMax, (nowMs() - startMs) * foldRestFactor)
    state.dueAtMs = nowMs() + pauseMs
  }

  /** Compacts some days, and returns when to look again. */
  async function closeSome(tenantId: string): Promise<number> {
    const startMs = nowMs()
    const days = await rollups.daysToClose(tenantId, idleSeconds)
    for (const day of days) {
      if (stopped || nowMs() - startMs > closeMsMax) break
      if ((await rollups.closeDay(tenantId, day)) === 'busy') break
    }
    const tookMs = days.length === 0 ? 0 : nowMs() - startMs
    return nowMs() + Math.max(idleSeconds * 1000, tookMs * closeRestFactor)
  }

  async function tend(tenantId: string, state: TenantState): Promise<void> {
    try {
      await foldSome(tenantId, state)
      if (nowMs() >= state.closeAtMs) state.closeAtMs = await closeSome(tenantId)
      state.failures = 0
      // Days that were opened last are compacted while the tenant is still active.
      if (nowMs() >= state.activeUntilMs) states.delete(tenantId)
    } catch (error) {
      state.failures += 1
      const retryMs = backoff(state.failures, { first: passMs, max: retryMsMax })
      state.dueAtMs = nowMs() + retryMs
      const details = { err: error, tenant: tenantId, retryMs }
      if (isUnavailable(error)) log.warn(details, 'rollups are not folded while the database is away')
      else log.error(details, 'the rollups of a tenant could not be folded')
    }
  }

  async function pass(): Promise<void> {
    const startMs = nowMs()
    const sweeps = startMs >= sweepAtMs
    if (sweeps) for (const tenantId of await listTenants()) stateOf(tenantId)
    for (const [tenantId, state] of [...states]) {
      if (stopped) return
      if (state.dueAtMs <= nowMs()) await tend(tenantId, state)
    }
    if (sweeps) sweepAtMs = nowMs() + Math.max(sweepMs, (nowMs() - startMs) * sweepRestFactor)
  }

  function schedule(): void {
    timer = setTimeout(() => {
      running = pass()
        .catch((error: unknown) => {
          sweepAtMs = nowMs() + retryMsMax
          log.warn({ err: error }, 'the tenants could not be listed to fold their rollups')
        })
        .finally(() => {
          if (!stopped) schedule()
        })
    }, passMs).unref()
  }

  return {
    ingested(tenantId) {
      if (!stopped) stateOf(tenantId)
    },
    start() {
      if (!stopped) return
      stopped = false
      schedule()
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
