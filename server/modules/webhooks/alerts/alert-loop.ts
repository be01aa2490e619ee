import type { DatabaseLog } from '../../../db/database.ts'
import { createTenantPoller, type TenantPoller } from '../../../jobs/tenant-poller.ts'
import type { AlertEvaluator } from './alert-types.ts'

/** Between looks at a tenant with rules. */
const lookMs = 10_000
/** A look that takes longer goes on at its next turn, so that one tenant with much does not keep all others waiting. */
const turnMsMax = 1_000
/** Looking takes at most this share of the time, however much a tenant has, and however often it changes its rules. */
const lookRestFactor = 10
/** Between looks at a tenant without rules: another process may have been given one. */
const idleLookMs = 30_000
/** Between looks for new tenants. */
const sweepMs = 30_000
/** Tenants that are looked at at once. */
const looksAtOnce = 2

export interface AlertLoop extends Pick<TenantPoller, 'start' | 'stop'> {
  /** Endpoints of the tenant were changed: it is looked at soon, after the rest that its last look asks for. */
  changed(tenantId: string): void
}

interface TenantRest {
  isLooking: boolean
  /** Changed while it was looked at. */
  isChanged: boolean
  untilMs: number
}

/** Several processes may run one: of two that meet at a tenant, one passes on. */
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
      away: 'alerts are not looked at while the database is away',
      failed: 'the alerts of a tenant could not be looked at',
      unlisted: 'the tenants could not be listed to look at their alerts',
    },
  })
  return { changed, start: loop.start, stop: loop.stop }
}
