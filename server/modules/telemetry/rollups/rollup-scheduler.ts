import { isUnavailable } from '../../../../contract/domain-error.ts'
import type { DatabaseLog } from '../../../db/database.ts'
import type { Folded } from './rollup-aggregator.ts'
import type { Rollups } from './rollup-service.ts'

const passMs = 1_000
/** Between looks at every tenant, for what another process or a crash has left; more where that takes long. */
const sweepMs = 5_000
const sweepRestFactor = 20
/** How long a tenant with deltas is looked at in every pass: another process may be ingesting. */
const activeMs = 60_000
/** Transactions in one pass, for one tenant. */
const foldsMax = 20
/**
 * Folding takes at most this share of the time, while deltas wait no longer than the pause allows: it costs by the
 * cells, and those of one second are mostly those of the next. Nobody waits for it, because readers add the deltas.
 */
const foldRestFactor = 30
const foldPauseMsMax = 8_000
/** A day is closed when nothing was added to it for so long. */
const idleSeconds = 5
/** Closing days takes at most this share of the time, however often the same day is opened again. */
const closeRestFactor = 10
const closeMsMax = 2_000
const retryMsMax = 60_000

/** Folds in the background, one pass at a time. */
export interface RollupScheduler {
  /** To be called after a commit that stored deltas: the tenant is seen to in the next pass. */
  ingested(tenantId: string): void
  start(): void
  /** Waits for the transaction that is running. */
  stop(): Promise<void>
}

interface TenantState {
  /** When to look at it next. */
  dueAtMs: number
  activeUntilMs: number
  /** When to look for days to close next. */
  closeAtMs: number
  failures: number
}

/**
 * A loop within the process, because a job queue polls more slowly than rollups are to follow. Several processes may
 * run one: of two that meet at a tenant, one passes on.
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

  /** Answers when to look again. */
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
      // What was opened last is closed within the time that it stays active, too.
      if (nowMs() >= state.activeUntilMs) states.delete(tenantId)
    } catch (error) {
      state.failures += 1
      const retryMs = Math.min(passMs * 2 ** state.failures, retryMsMax)
      state.dueAtMs = nowMs() + retryMs
      const away = isUnavailable(error)
      const details = { err: error, tenant: tenantId, retryMs }
      if (away) log.warn(details, 'rollups are not folded while the database is away')
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
