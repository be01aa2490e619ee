import { backoff } from '../../contract/backoff.ts'
import { isUnavailable } from '../../contract/domain-error.ts'
import type { DatabaseLog, Listener } from '../db/database.ts'
import { inBackground } from '../db/work-classes.ts'

/** Milliseconds between sweeps for new tenants; longer if listing them takes long. */
const sweepMsDefault = 5_000
const sweepRestFactor = 20
const tickMs = 50
const retryPausesMs = { first: 500, max: 15_000 }

export interface TenantPoller {
  /** Schedules work for a tenant, at once or after `inMs` milliseconds. */
  wake(tenantId: string, inMs?: number): void
  start(): void
  /** Stops, and waits for running looks. */
  stop(): Promise<void>
}

export interface TenantPollerDeps {
  /**
   * Does the due work of a tenant and returns the milliseconds until the next look, or undefined if the tenant no
   * longer exists. Looks of one tenant never overlap. A look that throws is retried with growing backoff.
   */
  look: (tenantId: string) => Promise<number | undefined>
  listTenants: () => Promise<readonly string[]>
  /** Listens for work that other processes announce, if they do. */
  hear?: (heard: (tenantId: string) => void) => Listener
  log: Pick<DatabaseLog, 'warn' | 'error'>
  /** Log messages: while the database is away, after another failure, and if tenants cannot be listed. */
  words: { away: string; failed: string; unlisted: string }
  /** Maximum number of tenants that are looked at concurrently. */
  looksAtOnce: number
  sweepMs?: number | undefined
  nowMs?: (() => number) | undefined
}

interface TenantState {
  lookAtMs: number
  failures: number
  looking?: Promise<void>
  /** The requested time of the next look; it applies even if the running look returns a later one. */
  wantedAtMs: number
}

/**
 * Polls every tenant repeatedly, and woken tenants at once. It is a loop within the process, because a job queue polls
 * more slowly. Several processes may run one; `look` must prevent conflicts between them.
 */
export function createTenantPoller(deps: TenantPollerDeps): TenantPoller {
  const { look, listTenants, hear, log, words, looksAtOnce, sweepMs = sweepMsDefault } = deps
  const { nowMs = () => performance.now() } = deps
  const states = new Map<string, TenantState>()
  let stopped = true
  let looks = 0
  let soon: NodeJS.Immediate | undefined
  let timer: NodeJS.Timeout | undefined
  let sweepTimer: NodeJS.Timeout | undefined
  let sweeping: Promise<void> = Promise.resolve()
  let listener: Listener | undefined

  function wake(tenantId: string, inMs = 0): void {
    if (stopped) return
    const state = stateOf(tenantId)
    const atMs = nowMs() + inMs
    state.wantedAtMs = Math.min(state.wantedAtMs, atMs)
    // A tenant whose look failed waits for its backoff.
    if (!state.looking && state.failures === 0) state.lookAtMs = Math.min(state.lookAtMs, atMs)
    if (inMs <= 0) soon ??= setImmediate(lookAtDue)
  }

  function stateOf(tenantId: string): TenantState {
    const known = states.get(tenantId)
    if (known) return known
    const made = { lookAtMs: nowMs(), failures: 0, wantedAtMs: Number.POSITIVE_INFINITY }
    states.set(tenantId, made)
    return made
  }

  function lookAtDue(): void {
    soon = undefined
    if (stopped) return
    const now = nowMs()
    const due = [...states].filter(([, state]) => !state.looking && state.lookAtMs <= now)
    due.sort(([, a], [, b]) => a.lookAtMs - b.lookAtMs)
    for (const [tenantId, state] of due.slice(0, looksAtOnce - looks)) {
      looks += 1
      state.wantedAtMs = Number.POSITIVE_INFINITY
      // A request may have woken the tenant during the look.
      state.looking = inBackground(() => lookAt(tenantId, state)).finally(() => {
        looks -= 1
        delete state.looking
        if (state.failures === 0) state.lookAtMs = Math.min(state.lookAtMs, state.wantedAtMs)
        if (!stopped) soon ??= setImmediate(lookAtDue)
      })
    }
  }

  async function lookAt(tenantId: string, state: TenantState): Promise<void> {
    try {
      const nextMs = await look(tenantId)
      if (nextMs === undefined) states.delete(tenantId)
      state.lookAtMs = nowMs() + (nextMs ?? 0)
      state.failures = 0
    } catch (error) {
      const retryMs = backoff(state.failures, retryPausesMs)
      state.failures += 1
      state.lookAtMs = nowMs() + retryMs
      const details = { err: error, tenant: tenantId, retryMs }
      if (isUnavailable(error)) log.warn(details, words.away)
      else log.error(details, words.failed)
    }
  }

  function tick(): void {
    timer = setTimeout(() => {
      lookAtDue()
      if (!stopped) tick()
    }, tickMs).unref()
  }

  function sweepIn(ms: number): void {
    if (stopped) return
    sweepTimer = setTimeout(() => {
      const beganMs = nowMs()
      sweeping = listTenants()
        .then((tenantIds) => {
          for (const tenantId of tenantIds) if (!stopped) stateOf(tenantId)
        })
        .catch((error: unknown) => log.warn({ err: error }, words.unlisted))
        .then(() => sweepIn(Math.max(sweepMs, (nowMs() - beganMs) * sweepRestFactor)))
    }, ms).unref()
  }

  return {
    wake,
    start() {
      if (!stopped) return
      stopped = false
      // The name is empty when listening starts. The sweep finds work that was announced before.
      listener = hear?.((tenantId) => tenantId !== '' && wake(tenantId))
      tick()
      sweepIn(0)
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      clearTimeout(sweepTimer)
      if (soon) clearImmediate(soon)
      soon = undefined
      listener?.close()
      await Promise.all([sweeping, ...[...states.values()].map(({ looking }) => looking)])
      states.clear()
    },
  }
}
