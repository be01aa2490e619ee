import { backoff } from '../../contract/backoff.ts'
import { isUnavailable } from '../../contract/domain-error.ts'
import type { DatabaseLog, Listener } from '../db/database.ts'
import { inBackground } from '../db/work-classes.ts'

const listMsDefault = 5_000
/** Pauses between lists take at least this many times as long as listing. */
const listRestFactor = 20
/** Milliseconds between two searches for due tenants, except after a wake or a visit. */
const tickMs = 50

export interface TenantLoopOptions {
  /**
   * Does the due work of a tenant. `stopped` fires when the loop stops.
   *
   * @returns when to visit the tenant again; see {@link NextVisit}
   */
  visit: (tenantId: string, stopped: AbortSignal) => Promise<NextVisit>
  /**
   * Names the tenants that may have work. Those that are not scheduled yet are visited at once. `stop` waits for it, so
   * a generator that skips tenants ends when `stopped` fires.
   */
  listTenants: (stopped: AbortSignal) => Promise<readonly string[]> | AsyncIterable<string>
  /** Minimum milliseconds between two lists. Default 5,000. */
  listMs?: number | undefined
  /** Listens for work that other processes announce. An empty name is ignored. */
  listen?: (wake: (tenantId: string) => void) => Listener
  /** Maximum number of tenants that are visited at once. */
  concurrency: number
  /** Milliseconds of backoff after failures of a tenant. Default 500 to 15,000. */
  retryMs?: { first: number; max: number }
  log: Pick<DatabaseLog, 'warn' | 'error'>
  messages: {
    /** Logged as a warning when a visit throws `hub-unavailable`. */
    unavailable: string
    /** Logged as an error when a visit throws another error. */
    failed: string
    /** Logged as a warning when the tenants cannot be listed. */
    unlisted: string
  }
  nowMs?: (() => number) | undefined
}

/**
 * The milliseconds until the next visit: 0 if more work is left, and undefined if none is due, until a wake or the
 * list names the tenant. `restMs` is a lower bound that a wake respects, too.
 */
export type NextVisit = number | undefined | { inMs: number; restMs: number }

interface ScheduledTenant {
  dueAtMs: number
  /** The earliest next visit, after a failure or a rest. */
  restUntilMs: number
  /** The earliest visit that wakes requested during the running one; Infinity if none. */
  wokenAtMs: number
  failures: number
  /** Whether the last visit left work. */
  continues: boolean
  running: Promise<void> | undefined
}

/**
 * Visits tenants in the background. It is a loop within the process, because a job queue polls too slowly. Several
 * processes may run one for the same work; `visit` must prevent conflicts between them.
 *
 * - **When.** A tenant is visited when the list first names it, when it is woken, and at the time that its last visit
 *   returned. A tenant without such a time is forgotten, so it costs nothing.
 * - **Wakes.** A wake schedules a visit that starts after it. Visits of one tenant never overlap: a wake during a visit
 *   causes a second one.
 * - **Fairness.** At most `concurrency` tenants are visited at once, the longest overdue first. Tenants with work left
 *   take turns with the others, so that neither delays the other.
 * - **Errors.** A visit that throws is logged and retried with growing backoff, which a wake does not shorten. It does
 *   not delay other tenants.
 * - **Stop.** Nothing starts after `stop`. It resolves when the running visits have ended.
 */
export class TenantLoop {
  readonly #options: TenantLoopOptions
  readonly #nowMs: () => number
  readonly #tenants = new Map<string, ScheduledTenant>()
  #stopping: AbortController | undefined
  #visits = 0
  #lastContinued = false
  #unavailableUntilMs = 0
  #soon: NodeJS.Immediate | undefined
  #timer: NodeJS.Timeout | undefined
  #timerAtMs = Number.POSITIVE_INFINITY
  #tickedAtMs = Number.NEGATIVE_INFINITY
  #listTimer: NodeJS.Timeout | undefined
  #listing: Promise<void> = Promise.resolve()
  #listener: Listener | undefined

  constructor(options: TenantLoopOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? (() => performance.now())
  }

  /** Schedules a visit of a tenant, at once or in `inMs` milliseconds, unless an earlier one is due. */
  wake(tenantId: string, inMs = 0): void {
    if (!this.#stopping) return
    const atMs = this.#nowMs() + inMs
    const tenant = this.#tenants.get(tenantId)
    if (!tenant) this.#add(tenantId, atMs)
    else if (tenant.running) tenant.wokenAtMs = Math.min(tenant.wokenAtMs, atMs)
    else this.#schedule(tenant, Math.min(tenant.dueAtMs, atMs))
  }

  /** Returns whether a visit of the tenant is scheduled or running. */
  has(tenantId: string): boolean {
    return this.#tenants.has(tenantId)
  }

  start(): void {
    if (this.#stopping) return
    this.#stopping = new AbortController()
    this.#listener = this.#options.listen?.((tenantId) => tenantId !== '' && this.wake(tenantId))
    this.#listIn(0)
  }

  async stop(): Promise<void> {
    this.#stopping?.abort()
    this.#stopping = undefined
    this.#listener?.close()
    clearTimeout(this.#listTimer)
    clearTimeout(this.#timer)
    this.#timerAtMs = Number.POSITIVE_INFINITY
    if (this.#soon) clearImmediate(this.#soon)
    this.#soon = undefined
    await Promise.all([this.#listing, ...[...this.#tenants.values()].map(({ running }) => running)])
    this.#tenants.clear()
  }

  #add(tenantId: string, atMs: number): void {
    const tenant: ScheduledTenant = {
      dueAtMs: atMs,
      restUntilMs: 0,
      wokenAtMs: Number.POSITIVE_INFINITY,
      failures: 0,
      continues: false,
      running: undefined,
    }
    this.#tenants.set(tenantId, tenant)
    this.#searchAt(atMs)
  }

  #schedule(tenant: ScheduledTenant, atMs: number): void {
    tenant.dueAtMs = Math.max(atMs, tenant.restUntilMs)
    this.#searchAt(tenant.dueAtMs)
  }

  #searchAt(atMs: number): void {
    if (!this.#stopping) return
    const nowMs = this.#nowMs()
    if (atMs <= nowMs) {
      this.#soon ??= setImmediate(() => this.#visitDue())
    } else if (atMs < this.#timerAtMs) {
      clearTimeout(this.#timer)
      this.#timerAtMs = Math.max(atMs, this.#tickedAtMs + tickMs)
      const tick = () => {
        this.#timerAtMs = Number.POSITIVE_INFINITY
        this.#tickedAtMs = this.#nowMs()
        this.#visitDue()
      }
      this.#timer = setTimeout(tick, Math.ceil(this.#timerAtMs - nowMs)).unref()
    }
  }

  #visitDue(): void {
    if (this.#soon) clearImmediate(this.#soon)
    this.#soon = undefined
    // Timers fire up to a millisecond early.
    const dueBeforeMs = this.#nowMs() + 1
    const due: [string, ScheduledTenant][] = []
    let nextMs = Number.POSITIVE_INFINITY
    for (const entry of this.#tenants) {
      const [, { running, dueAtMs }] = entry
      if (running) continue
      if (dueAtMs < dueBeforeMs) due.push(entry)
      else nextMs = Math.min(nextMs, dueAtMs)
    }
    for (const [tenantId, tenant] of this.#choose(due)) this.#begin(tenantId, tenant)
    // The end of a visit starts the next search for tenants that wait for a place.
    if (nextMs < Number.POSITIVE_INFINITY) this.#searchAt(nextMs)
  }

  /** Returns the due tenants for which there is a place: those with work left and the others in turns. */
  #choose(due: [string, ScheduledTenant][]): [string, ScheduledTenant][] {
    due.sort(([, a], [, b]) => a.dueAtMs - b.dueAtMs)
    const continued = due.filter(([, tenant]) => tenant.continues)
    const others = due.filter(([, tenant]) => !tenant.continues)
    const chosen: [string, ScheduledTenant][] = []
    const places = Math.min(this.#options.concurrency - this.#visits, due.length)
    while (chosen.length < places) {
      this.#lastContinued = continued.length > 0 && !(this.#lastContinued && others.length > 0)
      chosen.push((this.#lastContinued ? continued : others).shift()!)
    }
    return chosen
  }

  #begin(tenantId: string, tenant: ScheduledTenant): void {
    const { signal } = this.#stopping!
    this.#visits += 1
    tenant.wokenAtMs = Number.POSITIVE_INFINITY
    // A request may have woken the tenant, so the visit runs outside of the request's context.
    tenant.running = inBackground(() => this.#visit(tenantId, tenant, signal)).then(({ inMs, restMs }) => {
      this.#visits -= 1
      tenant.running = undefined
      if (signal.aborted) return
      const nowMs = this.#nowMs()
      tenant.continues = inMs <= 0
      tenant.restUntilMs = nowMs + restMs
      tenant.dueAtMs = Math.max(Math.min(nowMs + inMs, tenant.wokenAtMs), tenant.restUntilMs)
      if (tenant.dueAtMs === Number.POSITIVE_INFINITY) this.#tenants.delete(tenantId)
      this.#searchAt(nowMs)
    })
  }

  /** Visits a tenant, and returns when to visit it again. */
  async #visit(tenantId: string, tenant: ScheduledTenant, stopped: AbortSignal) {
    try {
      const next = await this.#options.visit(tenantId, stopped)
      tenant.failures = 0
      return typeof next === 'object' ? next : { inMs: next ?? Number.POSITIVE_INFINITY, restMs: 0 }
    } catch (error) {
      const retryMs = backoff(tenant.failures, this.#options.retryMs ?? { first: 500, max: 15_000 })
      tenant.failures += 1
      this.#logFailure(tenantId, error, retryMs)
      return { inMs: retryMs, restMs: retryMs }
    }
  }

  /** Logs a failure. Unavailability usually affects all tenants, so only one of them logs it per retry. */
  #logFailure(tenantId: string, error: unknown, retryMs: number): void {
    const { log, messages } = this.#options
    const details = { err: error, tenant: tenantId, retryMs }
    if (!isUnavailable(error)) {
      log.error(details, messages.failed)
    } else if (this.#unavailableUntilMs <= this.#nowMs()) {
      this.#unavailableUntilMs = this.#nowMs() + retryMs
      log.warn(details, messages.unavailable)
    }
  }

  #listIn(ms: number): void {
    this.#listTimer = setTimeout(() => {
      this.#listing = this.#list(this.#stopping!.signal)
    }, ms).unref()
  }

  async #list(stopped: AbortSignal): Promise<void> {
    const { listTenants, listMs = listMsDefault, log, messages } = this.#options
    const beganMs = this.#nowMs()
    try {
      for await (const tenantId of await listTenants(stopped)) {
        if (stopped.aborted) return
        if (!this.#tenants.has(tenantId)) this.#add(tenantId, this.#nowMs())
      }
    } catch (error) {
      log.warn({ err: error }, messages.unlisted)
    }
    if (!stopped.aborted) this.#listIn(Math.max(listMs, (this.#nowMs() - beganMs) * listRestFactor))
  }
}
