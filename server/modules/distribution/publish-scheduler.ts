import type { DatabaseLog, Listener } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import { TenantLoop } from '../../jobs/tenant-loop.ts'
import { type ConcurrencyPool, createConcurrencyPools } from '../../outbound/concurrency-pools.ts'
import type { SkillPublisher } from '../connectors/connectors-types.ts'
import type { Due } from './deliveries-store.ts'
import type { ClaimedPublish, PublishExecutor } from './publish-executor.ts'

/**
 * Maximum time in milliseconds between polls of a tenant with push connectors, for missed notifications; less if one is
 * due sooner.
 */
const lookMsMax = 5_000
/** The same for a tenant without push connectors: another process may have added one, and its notification was lost. */
const idleLookMs = 20_000
/** Publishes that end within this time, in milliseconds, are followed by one poll. */
const gatherMs = 20
/** Number of tenants whose due times are read concurrently. */
const looksAtOnce = 4
/** Maximum number and bytes of manifests that one poll signs: signing takes CPU time, which all tenants share. */
const claimsAtOnce = 32
const claimedBytesAtOnce = 16 * 1024 * 1024
/** Maximum time in milliseconds that a publish stays in the quick pool. */
const quickMsMax = 5_000
/** Pool sizes that let a single tenant serve every connector. */
const laneSizes = { ownPlaces: 8, sharedPlaces: 512, tenantBytesMax: 64 * 1024 * 1024 }

interface TenantState {
  /** Connectors whose last publish was slow. */
  slow: Set<string>
  /** Size of the manifest, if known. */
  manifestBytes: number
}

export interface PublishScheduler extends Pick<SkillPublisher, 'start' | 'stop'> {
  /** Polls the tenant now, since one of its connectors is due. */
  wake(tenantId: string): void
  /** Aborts the running publish to a connector. */
  breakOff(connectorId: string): void
}

/** Creates a scheduler. Several processes may run one: each skips what another has claimed. */
export function createPublishScheduler(deps: {
  deliverer: PublishExecutor
  findTenant: (slug: string) => Promise<Tenant | undefined>
  listTenants: () => Promise<readonly string[]>
  /** Listens for changes by other processes. */
  hear: (heard: (tenantId: string) => void) => Listener
  log: Pick<DatabaseLog, 'warn' | 'error'>
  nowMs?: () => number
}): PublishScheduler {
  const { deliverer, findTenant, log } = deps
  const states = new Map<string, TenantState>()
  const runs = new Map<Promise<void>, { connectorId: string; stop: AbortController }>()
  const lanes = createConcurrencyPools(laneSizes)
  let stopped = true

  const loop = new TenantLoop({
    ...deps,
    visit: look,
    listen: deps.hear,
    concurrency: looksAtOnce,
    messages: {
      unavailable: 'skills are not published while the database is unavailable',
      failed: 'the skills of a tenant could not be published',
      unlisted: 'the tenants could not be listed to publish their skills',
    },
  })

  function stateOf(tenantId: string): TenantState {
    const known = states.get(tenantId)
    if (known) return known
    const made = { slow: new Set<string>(), manifestBytes: 1024 * 1024 }
    states.set(tenantId, made)
    return made
  }

  async function look(tenantId: string): Promise<number | undefined> {
    const tenant = await findTenant(tenantId)
    if (!tenant) {
      states.delete(tenantId)
      return undefined
    }
    const state = stateOf(tenantId)
    const due = await deliverer.due(tenant)
    const ready = due.filter(({ wait_ms }) => wait_ms <= 0)
    forget(state.slow, due)
    const { chosen, isMore } = chooseFrom(ready, tenantId, state)
    const claimed = chosen.length === 0 ? [] : await deliverer.claim(tenant, chosen)
    for (const each of claimed) begin(tenant, state, each)
    if (due.length === 0) return idleLookMs
    const nextMs = isMore ? 0 : (due.find(({ wait_ms }) => wait_ms > 0)?.wait_ms ?? lookMsMax)
    return Math.min(nextMs + 1, lookMsMax)
  }

  /** Chooses as many connectors as have free slots, longest overdue first. The others follow as soon as one is free. */
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

  function begin(tenant: Tenant, state: TenantState, claimed: ClaimedPublish): void {
    const connectorId = claimed.claim.connector_id
    if ('text' in claimed.prepared) state.manifestBytes = Math.max(1, claimed.prepared.text.length)
    const place = lanes.take(laneOf(claimed.claim, state), tenant.slug, state.manifestBytes)
    const stop = new AbortController()
    let isSlow = false
    // Without a free slot in the slow pool, the publish is aborted and starts again once there is one.
    const late = setTimeout(() => {
      isSlow = true
      state.slow.add(connectorId)
      if (!place.slowDown()) stop.abort()
    }, quickMsMax).unref()
    const run = deliverer
      .deliver(tenant, claimed, stop.signal)
      .catch((error: unknown) => {
        // The claim expires by itself.
        log.warn({ err: error, tenant: tenant.slug }, 'could not store the result of a publish')
      })
      .finally(() => {
        clearTimeout(late)
        if (!isSlow) state.slow.delete(connectorId)
        place.free()
        runs.delete(run)
        loop.wake(tenant.slug, gatherMs)
      })
    runs.set(run, { connectorId, stop })
    if (stopped) stop.abort()
  }

  return {
    wake: (tenantId) => loop.wake(tenantId),
    breakOff(connectorId) {
      for (const run of runs.values()) if (run.connectorId === connectorId) run.stop.abort()
    },
    start() {
      stopped = false
      loop.start()
    },
    async stop() {
      stopped = true
      await loop.stop()
      for (const { stop } of runs.values()) stop.abort()
      await Promise.all(runs.keys())
      states.clear()
    },
  }
}

function laneOf(
  { connector_id, failures }: Pick<Due, 'connector_id' | 'failures'>,
  { slow }: TenantState,
): ConcurrencyPool {
  return failures > 0 || slow.has(connector_id) ? 'slow' : 'quick'
}

/** Drops the state of removed connectors. */
function forget(slow: Set<string>, due: readonly Due[]): void {
  if (slow.size === 0) return
  const there = new Set(due.map(({ connector_id }) => connector_id))
  for (const connectorId of slow) if (!there.has(connectorId)) slow.delete(connectorId)
}
