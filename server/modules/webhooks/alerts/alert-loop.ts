import type { DatabaseLog } from '../../../db/database.ts'
import { createTenantPoller, type TenantPoller } from '../../../jobs/tenant-poller.ts'
import type { AlertEvaluator } from './alert-types.ts'

/** Milliseconds between passes over a tenant with rules. */
const lookMs = 10_000
/** Milliseconds after which a pass continues in its next turn, so that a large tenant does not delay all others. */
const turnMsMax = 1_000
/**
 * Pauses take at least this many times as long as passes, regardless of the size of a tenant and of the changes to its
 * rules.
 */
const lookRestFactor = 10
/** Milliseconds between passes over a tenant without rules: another process may have added one. */
const idleLookMs = 30_000
/** Milliseconds between sweeps for new tenants. */
const sweepMs = 30_000
/** Maximum number of tenants that are evaluated concurrently. */
const looksAtOnce = 2

export interface AlertLoop extends Pick<TenantPoller, 'start' | 'stop'> {
  /** Schedules a pass soon after a change of the tenant's endpoints, after the pause that the last pass requires. */
  changed(tenantId: string): void
}

interface TenantRest {
  isLooking: boolean
  /** Whether endpoints changed during the pass. */
  isChanged: boolean
  untilMs: number
}

/** Creates the loop. Several processes may run one: if two meet at a tenant, one skips it. */
export function createAlertLoop(deps: {
  evaluator: AlertEvaluator
  findTenant: (slug: string) => Promise<unknown>
  listTenants: () => Promise<readonly string[]>
  log: Pick<DatabaseLog, 'warn' | 'error'>
  nowMs?: () => number
}): AlertLoop {
  const { evaluator, findTenant, listTenants, log, nowMs = () => performance.now() } = deps
  const rests = new Map<string, TenantRest>()

  async function look(tenantId: string): Promise<number | undefined> {
    const beganMs = nowMs()
    const rest: TenantRest = { isLooking: true, isChanged: false, untilMs: beganMs }
    rests.set(tenantId, rest)
    try {
      if (!(await findTenant(tenantId))) {
        rests.delete(tenantId)
        evaluator.forget(tenantId)
        return undefined
      }
      const hasRules = await evaluator.evaluate(tenantId, turnMsMax)
      const restMs = (nowMs() - beganMs) * lookRestFactor
      return rest.isChanged ? restMs : Math.max(hasRules ? lookMs : idleLookMs, restMs)
    } finally {
      rest.isLooking = false
      rest.untilMs = nowMs() + (nowMs() - beganMs) * lookRestFactor
    }
  }

  function changed(tenantId: string): void {
    const rest = rests.get(tenantId)
    if (rest?.isLooking) rest.isChanged = true
    else loop.wake(tenantId, Math.max(0, (rest?.untilMs ?? 0) - nowMs()))
  }

  const loop = createTenantPoller({
    ...{ look, listTenants, looksAtOnce, sweepMs, log, nowMs },
    words: {
      away: 'alerts are not evaluated while the database is unavailable',
      failed: 'could not evaluate the alerts of a tenant',
      unlisted: 'the tenants could not be listed to look at their alerts',
    },
  })
  return { changed, start: loop.start, stop: loop.stop }
}
