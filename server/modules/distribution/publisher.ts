import { DomainError } from '../../../contract/domain-error.ts'
import type { DatabaseLog, Listener } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { SkillPublisher } from '../connectors/connectors-types.ts'
import type { ClaimedDelivery, Deliverer } from './deliverer.ts'
import type { Due } from './deliveries-store.ts'

/** Between looks at a tenant with connectors to push to, for what nobody told of; less where one is due sooner. */
const lookMsMax = 5_000
/** The same at a tenant without; another process may have connected one, and its word was lost. */
const idleLookMs = 20_000
/** Between looks for new tenants. */
const sweepMs = 5_000
const sweepRestFactor = 20
const tickMs = 50
const retryMsMax = 15_000
/** Tenants whose due times are read at once. */
const looksAtOnce = 4

/**
 * Publishes at once in this process, in all and of one tenant. Those that failed last have places of their own: a
 * receiver that hangs keeps a place for as long as it may, and must not take those of others.
 */
export const places = {
  steady: { all: 64, ofTenant: 32 },
  failing: { all: 32, ofTenant: 8 },
} as const
type Lane = keyof typeof places

interface TenantState {
  /** When to look at it next; infinity while that goes on. */
  lookAtMs: number
  failures: number
  looking?: Promise<void>
  running: Record<Lane, number>
  /** Somebody wants it looked at again, whatever the look that goes on finds. */
  wanted: boolean
}

export interface Publisher extends Pick<SkillPublisher, 'start' | 'stop'> {
  /** Something of the tenant is due now. */
  wake(tenantId: string): void
  /** Breaks off what is on its way to a connector. */
  breakOff(connectorId: string): void
}

/**
 * A loop within the process, because a job queue polls more slowly than skills are to follow. Several processes may run
 * one: what one has claimed the others leave alone.
 */
export function createPublisher(deps: {
  deliverer: Deliverer
  findTenant: (slug: string) => Promise<Tenant | undefined>
  listTenants: () => Promise<readonly string[]>
  /** Hears of what other processes have changed. */
  hear: (heard: (tenantId: string) => void) => Listener
  log: Pick<DatabaseLog, 'warn' | 'error'>
  nowMs?: () => number
}): Publisher {
  const { deliverer, findTenant, listTenants, hear, log, nowMs = () => performance.now() } = deps
  const states = new Map<string, TenantState>()
  const runs = new Map<Promise<void>, { connectorId: string; stop: AbortController }>()
  const running: Record<Lane, number> = { steady: 0, failing: 0 }
  let stopped = true
  let timer: NodeJS.Timeout | undefined
  let sweepTimer: NodeJS.Timeout | undefined
  let sweeping: Promise<void> = Promise.resolve()
  let listener: Listener | undefined

  function wake(tenantId: string): void {
    if (stopped) return
    const state = stateOf(tenantId)
    state.wanted = true
    if (!state.looking) state.lookAtMs = nowMs()
    schedule()
  }

  function stateOf(tenantId: string): TenantState {
    const known = states.get(tenantId)
    if (known) return known
    const made = { lookAtMs: nowMs(), failures: 0, running: { steady: 0, failing: 0 }, wanted: false }
    states.set(tenantId, made)
    return made
  }

  function schedule(): void {
    if (!stopped) timer ??= setTimeout(lookAtDue, tickMs).unref()
  }

  function lookAtDue(): void {
    timer = undefined
    if (stopped) return
    const now = nowMs()
    const due = [...states].filter(([, state]) => !state.looking && state.lookAtMs <= now)
    due.sort(([, a], [, b]) => a.lookAtMs - b.lookAtMs)
    const free = looksAtOnce - [...states.values()].filter(({ looking }) => looking).length
    for (const [tenantId, state] of due.slice(0, Math.max(0, free))) {
      state.wanted = false
      state.looking = look(tenantId, state).finally(() => {
        delete state.looking
        if (state.wanted) state.lookAtMs = nowMs()
        schedule()
      })
    }
    schedule()
  }

  async function look(tenantId: string, state: TenantState): Promise<void> {
    try {
      const tenant = await findTenant(tenantId)
      if (!tenant) {
        states.delete(tenantId)
        return
      }
      const due = await deliverer.due(tenant)
      const ready = due.filter(({ wait_ms }) => wait_ms <= 0)
      const chosen = chooseFrom(ready, state)
      const claimed = chosen.length === 0 ? [] : await deliverer.claim(tenant, chosen)
      for (const each of claimed) begin(tenant, state, each)
      const nextMs = due.find(({ wait_ms }) => wait_ms > 0)?.wait_ms ?? lookMsMax
      state.lookAtMs = nowMs() + (due.length === 0 ? idleLookMs : Math.min(nextMs + 1, lookMsMax))
      state.failures = 0
    } catch (error) {
      state.failures += 1
      const retryMs = Math.min(500 * 2 ** state.failures, retryMsMax)
      state.lookAtMs = nowMs() + retryMs
      const away = error instanceof DomainError && error.slug === 'hub-unavailable'
      const details = { err: error, tenant: tenantId, retryMs }
      if (away) log.warn(details, 'skills are not published while the database is away')
      else log.error(details, 'the skills of a tenant could not be published')
    }
  }

  /** As many as there are places for. The others have their turn as soon as one is free. */
  function chooseFrom(ready: readonly Due[], state: TenantState): string[] {
    const taken: Record<Lane, number> = { steady: 0, failing: 0 }
    const chosen = ready.filter((each) => {
      const lane = laneOf(each)
      const free = Math.min(places[lane].all - running[lane], places[lane].ofTenant - state.running[lane])
      if (taken[lane] >= free) return false
      taken[lane] += 1
      return true
    })
    return chosen.map(({ connector_id }) => connector_id)
  }

  function begin(tenant: Tenant, state: TenantState, claimed: ClaimedDelivery): void {
    const lane = laneOf(claimed.claim)
    const stop = new AbortController()
    running[lane] += 1
    state.running[lane] += 1
    const run = deliverer
      .deliver(tenant, claimed, stop.signal)
      .catch((error: unknown) => {
        // Its claim ends by itself.
        log.warn({ err: error, tenant: tenant.slug }, 'how a publish went could not be kept')
      })
      .finally(() => {
        running[lane] -= 1
        state.running[lane] -= 1
        runs.delete(run)
        wake(tenant.slug)
      })
    runs.set(run, { connectorId: claimed.claim.connector_id, stop })
    if (stopped) stop.abort()
  }

  async function sweep(): Promise<void> {
    for (const tenantId of await listTenants()) if (!stopped) stateOf(tenantId)
    schedule()
  }

  function sweepIn(ms: number): void {
    if (stopped) return
    sweepTimer = setTimeout(() => {
      const beganMs = nowMs()
      sweeping = sweep()
        .catch((error: unknown) => log.warn({ err: error }, 'the tenants could not be listed to publish their skills'))
        .then(() => sweepIn(Math.max(sweepMs, (nowMs() - beganMs) * sweepRestFactor)))
    }, ms).unref()
  }

  return {
    wake,
    breakOff(connectorId) {
      for (const run of runs.values()) if (run.connectorId === connectorId) run.stop.abort()
    },
    start() {
      if (!stopped) return
      stopped = false
      // Without a name when listening begins: what was missed until then is found by the sweep.
      listener = hear((tenantId) => tenantId !== '' && wake(tenantId))
      sweepIn(0)
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      timer = undefined
      clearTimeout(sweepTimer)
      listener?.close()
      await Promise.all([sweeping, ...[...states.values()].map(({ looking }) => looking)])
      for (const { stop } of runs.values()) stop.abort()
      await Promise.all(runs.keys())
      states.clear()
    },
  }
}

function laneOf({ failures }: { failures: number }): Lane {
  return failures > 0 ? 'failing' : 'steady'
}
