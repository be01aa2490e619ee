import { DomainError } from '../../../contract/domain-error.ts'
import type { DatabaseLog, Listener } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import { createLanes, type Lane } from '../../outbound/lanes.ts'
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
/** Manifests that one look signs, in number and bytes: it is work of the processor, which all tenants share. */
const claimsAtOnce = 32
const claimedBytesAtOnce = 16 * 1024 * 1024
/** Nobody keeps a place of the quick lane for longer. */
const quickMsMax = 5_000
/** One tenant alone has enough for every connector. */
const laneSizes = { ownPlaces: 8, sharedPlaces: 512, tenantBytesMax: 64 * 1024 * 1024 }

interface TenantState {
  /** When to look at it next; infinity while that goes on. */
  lookAtMs: number
  failures: number
  looking?: Promise<void>
  /** Connectors whose last publish took long. */
  slow: Set<string>
  /** Of a manifest, as far as is known. */
  manifestBytes: number
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
  const lanes = createLanes(laneSizes)
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
    const slow = new Set<string>()
    const made = { lookAtMs: nowMs(), failures: 0, slow, manifestBytes: 1024 * 1024, wanted: false }
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
      forget(state.slow, due)
      const { chosen, isMore } = chooseFrom(ready, tenantId, state)
      const claimed = chosen.length === 0 ? [] : await deliverer.claim(tenant, chosen)
      for (const each of claimed) begin(tenant, state, each)
      const nextMs = isMore ? 0 : (due.find(({ wait_ms }) => wait_ms > 0)?.wait_ms ?? lookMsMax)
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

  /** As many as there are places for, the longest due first. The others have their turn as soon as one is free. */
  function chooseFrom(ready: readonly Due[], tenantId: string, state: TenantState) {
    const room = {
      quick: lanes.room('quick', tenantId, state.manifestBytes),
      slow: lanes.room('slow', tenantId, state.manifestBytes),
    }
    const able = ready.filter((each) => {
      const lane = laneOf(each, state)
      room[lane] -= 1
      return room[lane] >= 0
    })
    const most = Math.max(1, Math.min(claimsAtOnce, Math.floor(claimedBytesAtOnce / state.manifestBytes)))
    return { chosen: able.slice(0, most).map(({ connector_id }) => connector_id), isMore: able.length > most }
  }

  function begin(tenant: Tenant, state: TenantState, claimed: ClaimedDelivery): void {
    const connectorId = claimed.claim.connector_id
    if ('text' in claimed.prepared) state.manifestBytes = Math.max(1, claimed.prepared.text.length)
    const place = lanes.take(laneOf(claimed.claim, state), tenant.slug, state.manifestBytes)
    const stop = new AbortController()
    let isSlow = false
    // Without room among the slow ones it is given back, and begins again once there is.
    const late = setTimeout(() => {
      isSlow = true
      state.slow.add(connectorId)
      if (!place.slowDown()) stop.abort()
    }, quickMsMax).unref()
    const run = deliverer
      .deliver(tenant, claimed, stop.signal)
      .catch((error: unknown) => {
        // Its claim ends by itself.
        log.warn({ err: error, tenant: tenant.slug }, 'how a publish went could not be kept')
      })
      .finally(() => {
        clearTimeout(late)
        if (!isSlow) state.slow.delete(connectorId)
        place.free()
        runs.delete(run)
        wake(tenant.slug)
      })
    runs.set(run, { connectorId, stop })
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

function laneOf({ connector_id, failures }: Pick<Due, 'connector_id' | 'failures'>, { slow }: TenantState): Lane {
  return failures > 0 || slow.has(connector_id) ? 'slow' : 'quick'
}

/** What is known of connectors that are no more. */
function forget(slow: Set<string>, due: readonly Due[]): void {
  if (slow.size === 0) return
  const there = new Set(due.map(({ connector_id }) => connector_id))
  for (const connectorId of slow) if (!there.has(connectorId)) slow.delete(connectorId)
}
