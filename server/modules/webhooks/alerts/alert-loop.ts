import type { DatabaseLog } from '../../../db/database.ts'
import { createTenantLoop, type TenantLoop } from '../../../jobs/tenant-loop.ts'
import type { AlertEvaluator } from './alert-types.ts'

/** Between looks at a tenant with rules. */
const lookMs = 10_000
/** Looking takes at most this share of the time, however much a tenant has. */
const lookRestFactor = 10
/** Between looks at a tenant without rules: another process may have been given one. */
const idleLookMs = 30_000
/** Between looks for new tenants. */
const sweepMs = 30_000
/** Tenants that are looked at at once, so that one with much does not keep all others waiting. */
const looksAtOnce = 2

export interface AlertLoop extends Pick<TenantLoop, 'start' | 'stop'> {
  /** Endpoints of the tenant were changed: it is looked at soon. */
  changed(tenantId: string): void
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

  async function look(tenantId: string): Promise<number | undefined> {
    if (!(await findTenant(tenantId))) return undefined
    const beganMs = nowMs()
    const hasRules = await evaluator.evaluate(tenantId)
    return Math.max(hasRules ? lookMs : idleLookMs, (nowMs() - beganMs) * lookRestFactor)
  }

  const loop = createTenantLoop({
    ...{ look, listTenants, looksAtOnce, sweepMs, log, nowMs },
    words: {
      away: 'alerts are not looked at while the database is away',
      failed: 'the alerts of a tenant could not be looked at',
      unlisted: 'the tenants could not be listed to look at their alerts',
    },
  })
  return { changed: (tenantId) => loop.wake(tenantId), start: loop.start, stop: loop.stop }
}
