import { backoff } from '../../../../contract/backoff.ts'
import type { Database, DatabaseLog, TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Endpoints } from '../webhooks-types.ts'
import { type DueDelivery, dueDeliveries, dueTests, type Wanted } from './due-store.ts'
import { EndpointDispatcher, type EndpointDispatcherDeps, type Opened } from './endpoint-dispatcher.ts'
import { type EndpointState, endpointStates, leaseEndpoints, releaseEndpoints } from './lease-store.ts'
import { giveUpDeliveries, type Outcome, saveOutcomes } from './outcome-store.ts'
import { createOutcomeWriter } from './outcome-writer.ts'

/** Milliseconds between looks at a tenant with endpoints, for missed signals; less if something is due sooner. */
const lookMsMax = 5_000
/**
 * Milliseconds between looks at a tenant without endpoints: another process may have added one, and its signal may be
 * lost.
 */
const idleLookMs = 20_000
/** Milliseconds after which an idle endpoint is released. */
const idleMs = 5_000
/** Milliseconds after which secrets are read again: a rotated one expires, and a key may be destroyed. */
const secretsMsMax = 60_000
/** The same interval under a customer's key: five seconds after its destruction nothing is signed with its secrets. */
const ownKeySecretsMsMax = 2_000
export const customerKeySecretsCachedMs = 4_500
const secretsRetryMs = { first: 1_000, max: 30_000 }
const givenUpAtOnce = 5_000
/** Maximum number of unsaved outcomes; above it no attempt starts. */
const unkeptMax = 5_000

export interface TenantDispatcherDeps
  extends Pick<EndpointDispatcherDeps, 'lanes' | 'budget' | 'paceMsMax' | 'leftAloneMsMax' | 'quickMsMax' | 'nowMs'> {
  judge: (...rest: [...Parameters<EndpointDispatcherDeps['judge']>, url: string]) => Outcome
  database: Database
  endpoints: Pick<Endpoints, 'secretsOf' | 'disable'>
  send: (
    tenant: Tenant,
    ...rest: Parameters<EndpointDispatcherDeps['send']>
  ) => ReturnType<EndpointDispatcherDeps['send']>
  /** The id of this process. */
  leaseBy: string
  leaseSeconds: number
  failingHoursMax: number
  outcomeMs: number
  /** Schedules a look at once, or in this many milliseconds. */
  wake: (inMs?: number) => void
  /** Called after a commit. */
  kept: (outcomes: readonly Outcome[]) => void
  log: Pick<DatabaseLog, 'warn' | 'error'>
}

/** Delivers to the endpoints of one tenant that this process has leased. */
export interface TenantDispatcher {
  /**
   * Leases free endpoints with due deliveries, reads what can be sent, and returns the milliseconds until the next
   * look.
   */
  look(): Promise<number>
  /** Milliseconds for which a delivery has been due at the last look; failing receivers do not count. */
  readonly dueMs: number
  /** Starts nothing more at the endpoint's former address, and aborts running attempts there. */
  breakOff(webhookId: string): void
  /** Makes waiting deliveries be read again, because some were erased. */
  readAgain(): void
  /** Starts nothing more. */
  end(): void
  /** Aborts running attempts, saves known outcomes and releases everything. */
  stop(): Promise<void>
}

interface Run {
  run: EndpointDispatcher
  url: string
  version: string
  openedAtMs: number
}

export function createTenantDispatcher(tenant: Tenant, deps: TenantDispatcherDeps): TenantDispatcher {
  const { database, endpoints, leaseBy, leaseSeconds, wake, nowMs, log } = deps
  const { slug } = tenant
  const runs = new Map<string, Run>()
  /** Endpoints that ended here while attempts were running. */
  const ended = new Set<EndpointDispatcher>()
  /** Endpoints that were broken off since the running look started: its findings may be older. */
  const brokenOff = new Set<string>()
  /** Whether data that the running look has read may be erased by now. */
  let isOutdated = false
  const hasOwnKey = tenant.mode === 'B'
  let isStopped = false
  let dueMs = 0

  /** Uses plans that suit any backlog, regardless of PostgreSQL's statistics, which may not exist yet. */
  const byIndex = <T>(work: (tx: TenantTx) => Promise<T>) => database.withTenant(slug, work, { inIndexOrder: true })

  const writer = createOutcomeWriter({
    write,
    written: (wasStuck) => {
      for (const { run } of runs.values()) run.pump()
      if (wasStuck) wake()
    },
    gatherMs: deps.outcomeMs,
    log,
  })

  async function write(outcomes: readonly Outcome[]): Promise<void> {
    const disabled = await byIndex(async (tx) => {
      const { gone, failing } = await saveOutcomes(tx, outcomes, deps.failingHoursMax)
      const unfit = [...gone, ...failing]
      for (const webhookId of unfit) {
        await endpoints.disable(tx, tenant, webhookId, gone.includes(webhookId) ? 'gone' : 'failing')
        // The next looks give up the rest.
        await giveUpDeliveries(tx, webhookId, givenUpAtOnce)
      }
      return unfit.length > 0
    })
    deps.kept(outcomes)
    const pauses = outcomes.flatMap(({ pauseSeconds }) => (pauseSeconds === undefined ? [] : [pauseSeconds]))
    if (disabled) wake()
    else if (pauses.length > 0) wake(Math.min(...pauses) * 1000 + 1)
  }

  function makeRun({ webhook_id, failures, url, version, disabled_reason }: EndpointState): Run {
    const run = new EndpointDispatcher(webhook_id, failures, {
      ...deps,
      tenantId: slug,
      send: (...rest) => deps.send(tenant, ...rest),
      judge: (delivery, result) => deps.judge(delivery, result, url),
      keep: (outcome) => writer.add(outcome),
      wake: () => wake(),
      isHeld: () => isStopped || writer.isStuck || writer.waiting > unkeptMax,
    })
    run.onlyTests = disabled_reason !== null
    const made = { run, url, version, openedAtMs: Number.NEGATIVE_INFINITY }
    runs.set(webhook_id, made)
    return made
  }

  /** Reads the secrets in a transaction of its own, because a customer's key may be slow to reach. */
  async function open(held: Run, failures = 0): Promise<void> {
    const { run, url, version } = held
    const isCurrent = () => !isStopped && runs.get(run.webhookId) === held && held.version === version
    const beganMs = nowMs()
    try {
      const secrets = await database.withTenant(slug, async (tx) => {
        // Drops a key that another process has destroyed.
        if (hasOwnKey) await tx.contents.destructions(tx)
        return endpoints.secretsOf(tx, tenant, run.webhookId)
      })
      const opened: Opened = secrets ? { url, secrets } : 'key-destroyed'
      if (isCurrent()) run.open(opened, hasOwnKey ? beganMs + customerKeySecretsCachedMs : undefined)
    } catch (error) {
      if (!isCurrent()) return
      const retryMs = backoff(failures, secretsRetryMs)
      log.warn({ err: error, tenant: slug, webhook: run.webhookId, retryMs }, 'what to sign with could not be opened')
      setTimeout(() => isCurrent() && void open(held, failures + 1), retryMs).unref()
    }
  }

  function endRun(webhookId: string): void {
    const held = runs.get(webhookId)
    if (!held) return
    runs.delete(webhookId)
    held.run.end()
    if (held.run.isIdle) return
    ended.add(held.run)
    for (const run of ended) if (run.isIdle) ended.delete(run)
  }

  function breakOff(webhookId: string): void {
    brokenOff.add(webhookId)
    const held = runs.get(webhookId)
    endRun(webhookId)
    // Aborted deliveries may be read again only then.
    void held?.run.breakOff('the endpoint was changed').then(() => wake())
  }

  /** Decides which endpoints to lease and which to release. */
  function plan(states: readonly EndpointState[]) {
    const lease: string[] = []
    const release: string[] = []
    let nextMs = states.length === 0 ? idleLookMs : lookMsMax
    const now = nowMs()
    for (const state of states) {
      const { webhook_id, leased_by, lease_ms, next_ms } = state
      if (state.disabled_reason === null && next_ms !== null) nextMs = Math.min(nextMs, next_ms + 1)
      const isActive = state.has_test || (state.has_due && state.disabled_reason === null)
      const run = runs.get(webhook_id)?.run
      if (run) {
        const isDone = run.isIdle && (run.isEnded || (!isActive && now - run.activeAtMs > idleMs))
        if (isDone) release.push(webhook_id)
        else if (run.leasedUntilMs - now < (leaseSeconds * 1000 * 2) / 3) lease.push(webhook_id)
        nextMs = Math.min(nextMs, (leaseSeconds * 1000) / 3)
        if (hasOwnKey && !run.isIdle) nextMs = Math.min(nextMs, ownKeySecretsMsMax)
      } else if (isActive) {
        const isFree = leased_by === null || leased_by === leaseBy || (lease_ms ?? 0) <= 0
        if (isFree) lease.push(webhook_id)
        else nextMs = Math.min(nextMs, (lease_ms ?? 0) + 1)
      }
    }
    return { lease, release, nextMs }
  }

  /** Applies the findings of a look to the endpoints of this process. */
  function adopt(found: Found, leasedFromMs: number): void {
    const states = new Map(found.states.map((state) => [state.webhook_id, state]))
    for (const [webhookId, { run, url }] of [...runs]) {
      const state = states.get(webhookId)
      const isDisabled = state !== undefined && state.disabled_reason !== null && !run.onlyTests
      const isLost = found.asked.has(webhookId) && !found.leased.has(webhookId)
      if (state?.url !== url || isDisabled) breakOff(webhookId)
      else if (isLost || found.released.has(webhookId)) endRun(webhookId)
    }
    for (const webhookId of found.leased) {
      const state = states.get(webhookId)
      if (!state || brokenOff.has(webhookId)) continue
      const { run } = runs.get(webhookId) ?? makeRun(state)
      run.leasedUntilMs = leasedFromMs + leaseSeconds * 1000
    }
    for (const [webhookId, held] of runs) {
      const state = states.get(webhookId) as EndpointState
      const { run } = held
      run.onlyTests = state.disabled_reason !== null
      const isChanged = held.version !== state.version
      if (isChanged) run.open(undefined)
      if (isChanged || nowMs() - held.openedAtMs >= (hasOwnKey ? ownKeySecretsMsMax : secretsMsMax)) {
        held.version = state.version
        held.openedAtMs = nowMs()
        void open(held)
      }
    }
  }

  return {
    get dueMs() {
      return dueMs
    },

    async look() {
      const leasedFromMs = nowMs()
      brokenOff.clear()
      isOutdated = false
      for (const { run } of runs.values()) run.isMissing = false
      const found = await byIndex(async (tx): Promise<Found> => {
        const states = await endpointStates(tx)
        const { lease, release, nextMs } = plan(states)
        const leased =
          lease.length === 0
            ? new Set<string>()
            : await leaseEndpoints(tx, lease, { by: leaseBy, seconds: leaseSeconds })
        if (release.length > 0) await releaseEndpoints(tx, release, leaseBy)
        let isMore = false
        for (const { webhook_id, disabled_reason, has_due, next_ms } of states) {
          const isGivenUp = disabled_reason === 'gone' || disabled_reason === 'failing'
          if (!isGivenUp || !(has_due || next_ms !== null)) continue
          isMore = (await giveUpDeliveries(tx, webhook_id, givenUpAtOnce)) || isMore
        }
        const asked = new Set(lease)
        const released = new Set(release)
        const ours = states.filter(({ webhook_id }) => {
          if (asked.has(webhook_id)) return leased.has(webhook_id)
          return runs.has(webhook_id) && !released.has(webhook_id)
        })
        const held = [...runs.values()].flatMap(({ run }) => [...run.held])
        for (const run of ended) held.push(...run.held)
        const tested = ours.filter(({ has_test }) => has_test).map(({ webhook_id }) => webhook_id)
        const tests = tested.length === 0 ? [] : await dueTests(tx, tested, held)
        const wanted = wantedOf(ours.filter(({ has_due, disabled_reason }) => has_due && disabled_reason === null))
        const taken = [...held, ...tests.map(({ delivery_id }) => delivery_id)]
        const due = wanted.length === 0 ? [] : await dueDeliveries(tx, wanted, taken)
        const wantedById = new Map(wanted.map((each) => [each.webhookId, each]))
        const hasDue = new Set(states.filter(({ has_due }) => has_due).map(({ webhook_id }) => webhook_id))
        return {
          states,
          asked,
          leased,
          released,
          hasDue,
          due: [...tests, ...due],
          wanted: wantedById,
          nextMs: isMore ? 0 : nextMs,
        }
      })
      if (isStopped) return lookMsMax
      const answering = found.states.filter((each) => each.disabled_reason === null && each.failures === 0)
      dueMs = Math.max(0, ...answering.map(({ due_ms }) => due_ms ?? 0))
      adopt(found, leasedFromMs)
      const byEndpoint = Map.groupBy(isOutdated ? [] : found.due, ({ webhook_id }) => webhook_id)
      for (const [webhookId, { run }] of runs) {
        const wanted = found.wanted.get(webhookId)
        const taken = byEndpoint.get(webhookId) ?? []
        // Nothing was read for an endpoint with enough deliveries, so it may have more.
        const isMore = wanted === undefined ? found.hasDue.has(webhookId) : isAllWanted(taken, wanted)
        run.hasMore = isMore || run.isMissing || isOutdated
        run.take(taken)
        run.pump()
      }
      return found.nextMs
    },

    breakOff(webhookId) {
      breakOff(webhookId)
      wake()
    },

    readAgain() {
      isOutdated = true
      for (const { run } of runs.values()) run.readAgain()
      wake()
    },

    end() {
      for (const webhookId of [...runs.keys()]) endRun(webhookId)
    },

    async stop() {
      isStopped = true
      const held = [...runs.keys()]
      const all = [...[...runs.values()].map(({ run }) => run), ...ended]
      await Promise.all(all.map((run) => run.breakOff('the worker stops')))
      await writer.close()
      runs.clear()
      if (held.length > 0) await database.withTenant(slug, (tx) => releaseEndpoints(tx, held, leaseBy))
    },
  }

  /**
   * Shares the bytes that the tenant may read between endpoints; each that holds nothing gets at least one delivery.
   */
  function wantedOf(states: readonly EndpointState[]): Wanted[] {
    const counted = states
      .map(({ webhook_id, failures }) => ({
        webhookId: webhook_id,
        count: runs.get(webhook_id)?.run.wanted ?? EndpointDispatcher.wantedAtFirst(failures),
      }))
      .filter(({ count }) => count > 0)
    const bytes = Math.floor(deps.budget.room(slug) / Math.max(1, counted.length))
    return counted.map((each) => ({ ...each, bytes }))
  }
}

/** Returns whether more may be due. */
function isAllWanted(taken: readonly DueDelivery[], { count, bytes }: Wanted): boolean {
  return taken.length >= count || taken.reduce((sum, each) => sum + each.bytes, 0) >= bytes
}

/** The findings of a look, and its changes in the database. */
interface Found {
  states: EndpointState[]
  asked: ReadonlySet<string>
  leased: ReadonlySet<string>
  released: ReadonlySet<string>
  hasDue: ReadonlySet<string>
  due: DueDelivery[]
  /** Requested deliveries by endpoint. */
  wanted: ReadonlyMap<string, Wanted>
  nextMs: number
}
