import { backoff } from '../../../contract/backoff.ts'
import { isUnavailable } from '../../../contract/domain-error.ts'
import type { DatabaseLog, Listener } from '../../db/database.ts'
import { inBackground } from '../../db/work-classes.ts'
import type { Tenant } from '../../http/caller.ts'

/** Milliseconds for which arrivals are gathered after the first one, to integrate them together. */
const gatherMs = 150
const tickMs = 50
/** Tenants that are integrated at once, so that one with a backlog does not delay the others. */
const tenantsAtOnce = 4
/**
 * Milliseconds between scans of all tenants for arrivals that another process or a crash has left; longer if a scan is
 * slow.
 */
const sweepMs = 5_000
const sweepRestFactor = 20
/**
 * Milliseconds between, and duration of, frequent checks of a tenant after a scan found arrivals, because notifications
 * seem to be missing.
 */
const watchEveryMs = 400
const watchMs = 60_000
const retryPausesMs = { first: 500, max: 60_000 }

/** Integrates seals into the logs in the background. */
export interface Integrator {
  /** Must be called after a commit that stored seals. */
  sealed(tenantId: string): void
  start(): void
  /** Stops, and waits for running transactions. */
  stop(): Promise<void>
}

interface TenantState {
  /** The time of the next integration; Infinity if none is due. */
  dueAtMs: number
  watchedUntilMs: number
  /** The size of the log at the last check. */
  treeSize?: number
  failures: number
  running?: Promise<void>
}

/**
 * Creates the integrator, a loop within the process, because a job queue polls too slowly for the log. Several
 * processes may run one: they serialize per tenant, and the later one finds nothing left.
 */
export function createIntegrator(deps: {
  logs: { integrate(tenant: Tenant): Promise<{ treeSize: number }>; hasArrivals(tenantId: string): Promise<boolean> }
  findTenant: (slug: string) => Promise<Tenant | undefined>
  listTenants: () => Promise<readonly string[]>
  /** Subscribes to arrivals that other processes stored. */
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
    // A failed tenant is retried at its own time.
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
      // A request may have triggered this, so it runs outside of the request's context.
      state.running = inBackground(() => tend(tenantId, state)).finally(() => {
        delete state.running
        if (state.dueAtMs === Number.POSITIVE_INFINITY) states.delete(tenantId)
        // Other tenants may wait for the slot.
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
      const retryMs = backoff(state.failures - 1, retryPausesMs)
      state.dueAtMs = nowMs() + retryMs
      const details = { err: error, tenant: tenantId, retryMs }
      if (isUnavailable(error)) log.warn(details, 'seals are not added to the logs while the database is unavailable')
      else log.error(details, 'could not add the seals of a tenant to its log')
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
          log.warn({ err: error }, 'could not look for seals that are not in their log yet')
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
