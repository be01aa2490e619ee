import { isUnavailable } from '../../../contract/domain-error.ts'
import type { DatabaseLog, Listener } from '../../db/database.ts'
import { inBackground } from '../../db/work-classes.ts'
import type { Tenant } from '../../http/caller.ts'

/** What comes in so long after the first is taken in with it. */
const gatherMs = 150
const tickMs = 50
/** Tenants at once: one with a backlog does not keep the others waiting. */
const tenantsAtOnce = 4
/** Between looks at every tenant, for what another process or a crash has left; more where that takes long. */
const sweepMs = 5_000
const sweepRestFactor = 20
/** A tenant in which such a look found something is looked at so often, for so long: nobody seems to tell of it. */
const watchEveryMs = 400
const watchMs = 60_000
const retryMsMin = 500
const retryMsMax = 60_000

/** Takes seals into the logs in the background. */
export interface Integrator {
  /** To be called after a commit that stored seals. */
  sealed(tenantId: string): void
  start(): void
  /** Waits for the transactions that are running. */
  stop(): Promise<void>
}

interface TenantState {
  /** Infinity when there is nothing to do. */
  dueAtMs: number
  watchedUntilMs: number
  /** When it was last looked at. */
  treeSize?: number
  failures: number
  running?: Promise<void>
}

/**
 * A loop within the process, because a job queue polls more slowly than the log is to follow. Several processes may run
 * one: at a tenant, each waits for the other, and finds nothing left.
 */
export function createIntegrator(deps: {
  logs: { integrate(tenant: Tenant): Promise<{ treeSize: number }>; hasArrivals(tenantId: string): Promise<boolean> }
  findTenant: (slug: string) => Promise<Tenant | undefined>
  listTenants: () => Promise<readonly string[]>
  /** Hears of what other processes have stored. */
  hear: (heard: (tenantId: string) => void) => Listener
  log: Pick<DatabaseLog, 'warn' | 'error'>
  nowMs?: () => number
}): Integrator {
  const { logs, findTenant, listTenants, hear, log, nowMs = () => performance.now() } = deps
  const states = new Map<string, TenantState>()
  let stopped = true
  let timer: NodeJS.Timeout | undefined
  let listener: Listener | undefined
  let sweeping: Promise<void> = Promise.resolve()
  let sweepTimer: NodeJS.Timeout | undefined

  function sealed(tenantId: string): TenantState | undefined {
    if (stopped) return undefined
    const state = states.get(tenantId) ?? { dueAtMs: Number.POSITIVE_INFINITY, watchedUntilMs: 0, failures: 0 }
    states.set(tenantId, state)
    // One that failed is tried again in its time.
    if (state.failures === 0) state.dueAtMs = Math.min(state.dueAtMs, nowMs() + gatherMs)
    schedule()
    return state
  }

  function schedule(): void {
    timer ??= setTimeout(runDue, tickMs).unref()
  }

  function runDue(): void {
    timer = undefined
    if (stopped) return
    const now = nowMs()
    const due = [...states].filter(([, state]) => !state.running && state.dueAtMs <= now)
    due.sort(([, a], [, b]) => a.dueAtMs - b.dueAtMs)
    const free = tenantsAtOnce - [...states.values()].filter((state) => state.running).length
    for (const [tenantId, state] of due.slice(0, free)) {
      // A request may have caused it.
      state.running = inBackground(() => tend(tenantId, state)).finally(() => {
        delete state.running
        if (state.dueAtMs === Number.POSITIVE_INFINITY) states.delete(tenantId)
        // Others may wait for the place.
        if (!stopped && states.size > 0) schedule()
      })
    }
    if (states.size > 0) schedule()
  }

  async function tend(tenantId: string, state: TenantState): Promise<void> {
    state.dueAtMs = Number.POSITIVE_INFINITY
    try {
      const tenant = await findTenant(tenantId)
      const treeSize = tenant && (await logs.integrate(tenant)).treeSize
      state.failures = 0
      if (nowMs() >= state.watchedUntilMs) return
      if (treeSize !== state.treeSize) state.watchedUntilMs = nowMs() + watchMs
      if (treeSize !== undefined) state.treeSize = treeSize
      state.dueAtMs = Math.min(state.dueAtMs, nowMs() + watchEveryMs)
    } catch (error) {
      state.failures += 1
      const retryMs = Math.min(retryMsMin * 2 ** (state.failures - 1), retryMsMax)
      state.dueAtMs = nowMs() + retryMs
      const away = isUnavailable(error)
      const details = { err: error, tenant: tenantId, retryMs }
      if (away) log.warn(details, 'seals are not taken into the logs while the database is away')
      else log.error(details, 'the seals of a tenant could not be taken into its log')
    }
  }

  async function sweep(): Promise<void> {
    for (const tenantId of await listTenants()) {
      if (stopped) return
      if (states.has(tenantId) || !(await logs.hasArrivals(tenantId))) continue
      const state = sealed(tenantId)
      if (state) state.watchedUntilMs = nowMs() + watchMs
    }
  }

  function sweepIn(ms: number): void {
    if (stopped) return
    clearTimeout(sweepTimer)
    sweepTimer = setTimeout(() => {
      const startMs = nowMs()
      sweeping = sweep()
        .catch((error: unknown) => {
          log.warn({ err: error }, 'the tenants could not be looked through for seals that wait for their log')
        })
        .then(() => sweepIn(Math.max(sweepMs, (nowMs() - startMs) * sweepRestFactor)))
    }, ms).unref()
  }

  return {
    sealed,
    start() {
      if (!stopped) return
      stopped = false
      listener = hear(sealed)
      sweepIn(0)
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      timer = undefined
      clearTimeout(sweepTimer)
      listener?.close()
      await Promise.all([sweeping, ...[...states.values()].map((state) => state.running)])
      states.clear()
    },
  }
}
