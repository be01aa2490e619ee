import { backoff } from '../../../../contract/backoff.ts'
import { webhookFailingHoursMax } from '../../../../contract/limits.ts'
import type { Database, DatabaseLog, TenantTx } from '../../../db/database.ts'
import type { ConcurrencyPools, FairShare } from '../../../delivery/concurrency-pools.ts'
import type { TenantDelivery } from '../../../delivery/leased-delivery.ts'
import { type LeaseChanges, TargetLeases } from '../../../delivery/target-leases.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import type { Endpoints } from '../endpoints/endpoints.ts'
import type { DeliveryAttempt } from '../webhooks-types.ts'
import { attemptDelivery, unsentAttempt } from './attempt.ts'
import { OutcomeWriter } from './delivery-outcome.ts'
import {
  type DueDelivery,
  dueDeliveries,
  dueTests,
  type EndpointState,
  endpointStates,
  type Wanted,
} from './delivery-queue-store.ts'
import { EndpointDispatcher, type EndpointDispatcherDeps, type Opened } from './endpoint-dispatcher.ts'
import { giveUpDeliveries, type Outcome, saveOutcomes } from './outcome-store.ts'

/** Milliseconds between looks at a tenant with endpoints, for missed signals; less if something is due sooner. */
const lookMsMax = 5_000
/**
 * Milliseconds between looks at a tenant without endpoints: another process may have added one, and its signal may be
 * lost.
 */
const idleLookMs = 20_000
const leaseColumns = { id: 'webhook_id', by: 'leased_by', until: 'leased_until' }
const leaseSeconds = 15
/** Milliseconds after which secrets are read again: a rotated one expires, and a key may be destroyed. */
const secretsMsMax = 60_000
/** The same interval under a customer's key: five seconds after its destruction nothing is signed with its secrets. */
const ownKeySecretsMsMax = 2_000
export const customerKeySecretsCachedMs = 4_500
const secretsRetryMs = { first: 1_000, max: 30_000 }
const givenUpAtOnce = 5_000

export interface TenantDispatcherDeps extends Pick<EndpointDispatcherDeps, 'paceMsMax' | 'leftAloneMsMax' | 'nowMs'> {
  database: Database
  endpoints: Pick<Endpoints, 'secretsOf' | 'disable'>
  outbound: Pick<Outbound, 'post'>
  pools: ConcurrencyPools
  budget: FairShare
  /** The id of this process. */
  processId: string
  /** Schedules a look at once, or in this many milliseconds. */
  wake: (inMs?: number) => void
  /** Called before each look: makes deliveries of queued messages. */
  relay: () => Promise<void>
  /** Called after each look with the milliseconds for which a delivery has been due; failing receivers do not count. */
  looked: (dueMs: number) => void
  /** Called when the delivery stops. */
  ended: () => void
  /** Called after outcomes were stored. */
  saved: (outcomes: readonly Outcome[]) => void
  log: Pick<DatabaseLog, 'warn' | 'error'>
}

/** Delivers to the endpoints of one tenant that this process has leased. */
export class TenantDispatcher implements TenantDelivery {
  readonly #tenant: Tenant
  readonly #deps: TenantDispatcherDeps
  readonly #leases: TargetLeases<EndpointDispatcher>
  readonly #writer: OutcomeWriter
  /** Endpoints that ended here while attempts were running. */
  readonly #ended = new Set<EndpointDispatcher>()
  /** Endpoints that were broken off since the running look started: its findings may be older. */
  readonly #brokenOff = new Set<string>()
  readonly #hasOwnKey: boolean
  /** Whether data that the running look has read may be erased by now. */
  #isOutdated = false
  #isStopped = false

  constructor(tenant: Tenant, deps: TenantDispatcherDeps) {
    this.#tenant = tenant
    this.#deps = deps
    this.#hasOwnKey = tenant.mode === 'B'
    this.#leases = new TargetLeases({ table: 'hub.webhook_progress', ...leaseColumns }, deps.processId, leaseSeconds)
    this.#writer = new OutcomeWriter({
      write: (outcomes) => this.#write(outcomes),
      written: (wasStuck) => {
        for (const run of this.#runs) run.pump()
        if (wasStuck) deps.wake()
      },
      log: deps.log,
    })
  }

  async look(): Promise<number> {
    await this.#deps.relay()
    const fromMs = this.#deps.nowMs()
    this.#brokenOff.clear()
    this.#isOutdated = false
    for (const run of this.#runs) run.isMissing = false
    const found = await this.#byIndex((tx) => this.#find(tx, fromMs))
    if (this.#isStopped) return lookMsMax
    const healthy = found.states.filter((each) => each.disabled_reason === null && each.failures === 0)
    this.#deps.looked(Math.max(0, ...healthy.map(({ due_ms }) => due_ms ?? 0)))
    this.#adopt(found)
    this.#take(found)
    return found.nextMs
  }

  /** Starts nothing more at the endpoint's former address, and aborts running attempts there. */
  breakOff(webhookId: string): void {
    this.#breakOff(webhookId)
    this.#deps.wake()
  }

  /** Makes waiting deliveries be read again, because some were erased. */
  readAgain(): void {
    this.#isOutdated = true
    for (const run of this.#runs) run.readAgain()
    this.#deps.wake()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#deps.ended()
    const held = [...this.#leases.held.keys()]
    await Promise.all([...this.#runs, ...this.#ended].map((run) => run.breakOff('the worker stops')))
    await this.#writer.close()
    this.#leases.held.clear()
    if (held.length > 0) await this.#deps.database.withTenant(this.#tenant.slug, (tx) => this.#leases.release(tx, held))
  }

  get #runs(): EndpointDispatcher[] {
    return [...this.#leases.held.values()]
  }

  /** Uses plans that suit any backlog, regardless of PostgreSQL's statistics, which may not exist yet. */
  #byIndex<T>(work: (tx: TenantTx) => Promise<T>): Promise<T> {
    return this.#deps.database.withTenant(this.#tenant.slug, work, { inIndexOrder: true })
  }

  async #write(outcomes: readonly Outcome[]): Promise<void> {
    const { endpoints, saved, wake } = this.#deps
    const disabled = await this.#byIndex(async (tx) => {
      const { gone, failing } = await saveOutcomes(tx, outcomes, webhookFailingHoursMax)
      const unfit = [...gone, ...failing]
      for (const webhookId of unfit) {
        await endpoints.disable(tx, this.#tenant, webhookId, gone.includes(webhookId) ? 'gone' : 'failing')
        // The next looks give up the rest.
        await giveUpDeliveries(tx, webhookId, givenUpAtOnce)
      }
      return unfit.length > 0
    })
    saved(outcomes)
    const pauses = outcomes.flatMap(({ pauseSeconds }) => (pauseSeconds === undefined ? [] : [pauseSeconds]))
    if (disabled) wake()
    else if (pauses.length > 0) wake(Math.min(...pauses) * 1000 + 1)
  }

  /** Changes leases, and reads what is due for the endpoints of this process. */
  async #find(tx: TenantTx, fromMs: number): Promise<Found> {
    const states = await endpointStates(tx)
    const changes = await this.#leases.update(
      tx,
      states.map((state) => ({
        id: state.webhook_id,
        isActive: state.has_test || (state.has_due && state.disabled_reason === null),
        leasedBy: state.leased_by,
        leaseMs: state.lease_ms,
      })),
      fromMs,
    )
    let isMore = false
    for (const { webhook_id, disabled_reason, has_due, next_ms } of states) {
      const isGivenUp = disabled_reason === 'gone' || disabled_reason === 'failing'
      if (!isGivenUp || !(has_due || next_ms !== null)) continue
      isMore = (await giveUpDeliveries(tx, webhook_id, givenUpAtOnce)) || isMore
    }
    const ours = states.filter(({ webhook_id }) => this.#leases.holds(webhook_id, changes))
    const held = [...this.#runs, ...this.#ended].flatMap((run) => [...run.held])
    const tested = ours.filter(({ has_test }) => has_test).map(({ webhook_id }) => webhook_id)
    const tests = tested.length === 0 ? [] : await dueTests(tx, tested, held)
    const wanted = this.#wantedOf(ours.filter(({ has_due, disabled_reason }) => has_due && disabled_reason === null))
    const taken = [...held, ...tests.map(({ delivery_id }) => delivery_id)]
    const due = wanted.length === 0 ? [] : await dueDeliveries(tx, wanted, taken)
    return {
      ...{ states, changes, due: [...tests, ...due] },
      wanted: new Map(wanted.map((each) => [each.webhookId, each])),
      nextMs: isMore ? 0 : this.#nextMs(states, changes),
    }
  }

  #nextMs(states: readonly EndpointState[], changes: LeaseChanges): number {
    const due = states.flatMap(({ disabled_reason, next_ms }) =>
      disabled_reason === null && next_ms !== null ? [next_ms + 1] : [],
    )
    const ownKey = this.#hasOwnKey && this.#runs.some((run) => !run.isIdle) ? [ownKeySecretsMsMax] : []
    return Math.min(states.length === 0 ? idleLookMs : lookMsMax, changes.nextMs, ...due, ...ownKey)
  }

  /**
   * Shares the bytes that the tenant may read between endpoints; each that holds nothing gets at least one delivery.
   */
  #wantedOf(states: readonly EndpointState[]): Wanted[] {
    const counted = states
      .map(({ webhook_id, failures }) => ({
        webhookId: webhook_id,
        count: this.#leases.held.get(webhook_id)?.wanted ?? EndpointDispatcher.wantedAtFirst(failures),
      }))
      .filter(({ count }) => count > 0)
    const bytes = Math.floor(this.#deps.budget.room(this.#tenant.slug) / Math.max(1, counted.length))
    return counted.map((each) => ({ ...each, bytes }))
  }

  /** Applies the findings of a look to the endpoints of this process. */
  #adopt(found: Found): void {
    const states = new Map(found.states.map((state) => [state.webhook_id, state]))
    for (const run of this.#runs) {
      const state = states.get(run.webhookId)
      const isDisabled = state !== undefined && state.disabled_reason !== null && !run.onlyTests
      if (state?.url !== run.url || isDisabled) this.#breakOff(run.webhookId)
    }
    this.#leases.apply(
      found.changes,
      (id) => (this.#brokenOff.has(id) ? undefined : this.#makeRun(states.get(id)!)),
      (_, run) => this.#endRun(run),
    )
    for (const run of this.#runs) {
      const { version, format, disabled_reason } = states.get(run.webhookId)!
      run.onlyTests = disabled_reason !== null
      const isChanged = run.version !== version
      if (isChanged) run.open(undefined)
      if (isChanged || this.#deps.nowMs() - run.openedAtMs >= (this.#hasOwnKey ? ownKeySecretsMsMax : secretsMsMax)) {
        run.version = version
        run.format = format
        run.openedAtMs = this.#deps.nowMs()
        void this.#open(run)
      }
    }
  }

  /** Hands the deliveries that were read to their endpoints. */
  #take({ states, due, wanted }: Found): void {
    const byEndpoint = Map.groupBy(this.#isOutdated ? [] : due, ({ webhook_id }) => webhook_id)
    const hasDue = new Set(states.filter(({ has_due }) => has_due).map(({ webhook_id }) => webhook_id))
    for (const run of this.#runs) {
      const asked = wanted.get(run.webhookId)
      const taken = byEndpoint.get(run.webhookId) ?? []
      // Nothing was read for an endpoint with enough deliveries, so it may have more.
      const isMore = asked === undefined ? hasDue.has(run.webhookId) : isAllWanted(taken, asked)
      run.hasMore = isMore || run.isMissing || this.#isOutdated
      run.take(taken)
      run.pump()
    }
  }

  #makeRun(state: EndpointState): EndpointDispatcher {
    return new EndpointDispatcher(state, {
      ...this.#deps,
      tenantId: this.#tenant.slug,
      send: (...rest) => this.#send(...rest),
      keep: (outcome) => this.#writer.add(outcome),
      isHeld: () => this.#isStopped || this.#writer.isFull,
    })
  }

  async #send(
    ...[delivery, { url, format, secrets }, stop]: Parameters<EndpointDispatcherDeps['send']>
  ): Promise<DeliveryAttempt> {
    const { slug } = this.#tenant
    try {
      return await attemptDelivery(this.#deps.outbound, { tenantSlug: slug, url, format, secrets }, delivery, stop)
    } catch (error) {
      if (stop.aborted) throw error
      const { delivery_id, webhook_id } = delivery
      const details = { err: error, tenant: slug, webhook: webhook_id, delivery: delivery_id }
      this.#deps.log.error(details, 'sending failed')
      return unsentAttempt(url, 'unreachable', 'The Hub failed to send it; the cause is in its log.')
    }
  }

  /** Reads the secrets in a transaction of its own, because a customer's key may be slow to reach. */
  async #open(run: EndpointDispatcher, failures = 0): Promise<void> {
    const { database, endpoints, nowMs, log } = this.#deps
    const { webhookId, url, format, version } = run
    const { slug } = this.#tenant
    const isCurrent = () => !this.#isStopped && this.#leases.held.get(webhookId) === run && run.version === version
    const beganMs = nowMs()
    try {
      const secrets = await database.withTenant(slug, async (tx) => {
        // Drops a key that another process has destroyed.
        if (this.#hasOwnKey) await tx.contents.destructions(tx)
        return endpoints.secretsOf(tx, this.#tenant, webhookId)
      })
      const opened: Opened = secrets ? { url, format, secrets } : 'key-destroyed'
      if (isCurrent()) run.open(opened, this.#hasOwnKey ? beganMs + customerKeySecretsCachedMs : undefined)
    } catch (error) {
      if (!isCurrent()) return
      const retryMs = backoff(failures, secretsRetryMs)
      log.warn({ err: error, tenant: slug, webhook: webhookId, retryMs }, 'could not open the signing secrets')
      setTimeout(() => isCurrent() && void this.#open(run, failures + 1), retryMs).unref()
    }
  }

  #endRun(run: EndpointDispatcher): void {
    this.#leases.held.delete(run.webhookId)
    run.end()
    if (run.isIdle) return
    this.#ended.add(run)
    for (const each of this.#ended) if (each.isIdle) this.#ended.delete(each)
  }

  #breakOff(webhookId: string): void {
    this.#brokenOff.add(webhookId)
    const run = this.#leases.held.get(webhookId)
    if (!run) return
    this.#endRun(run)
    // Aborted deliveries may be read again only then.
    void run.breakOff('the endpoint was changed').then(() => this.#deps.wake())
  }
}

/** Returns whether more may be due. */
function isAllWanted(taken: readonly DueDelivery[], { count, bytes }: Wanted): boolean {
  return taken.length >= count || taken.reduce((sum, each) => sum + each.bytes, 0) >= bytes
}

/** The findings of a look, and its changes in the database. */
interface Found {
  states: EndpointState[]
  changes: LeaseChanges
  due: DueDelivery[]
  /** Requested deliveries by endpoint. */
  wanted: ReadonlyMap<string, Wanted>
  nextMs: number
}
