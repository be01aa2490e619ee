import type { DatabaseLog } from '../../../db/database.ts'
import { TenantLoop } from '../../../jobs/tenant-loop.ts'
import type { AlertEvaluator } from './alert-types.ts'

/** Milliseconds between evaluations of a tenant with rules. */
const evaluateMs = 10_000
/** Milliseconds after which an evaluation continues later, so that a large tenant does not delay all others. */
const evaluateMsMax = 1_000
/**
 * Rests take at least this many times as long as evaluations, regardless of the size of a tenant and of the changes to
 * its rules.
 */
const restFactor = 10
/** Milliseconds between evaluations of a tenant without rules: another process may have added one. */
const idleMs = 30_000

/**
 * Creates the loop that evaluates alerts. Wake it when a tenant's endpoints change. Several processes may run one: if
 * two meet at a tenant, one skips it.
 */
export function createAlertLoop(deps: {
  evaluator: AlertEvaluator
  findTenant: (slug: string) => Promise<unknown>
  listTenants: () => Promise<readonly string[]>
  log: Pick<DatabaseLog, 'warn' | 'error'>
  nowMs?: () => number
}): TenantLoop {
  const { evaluator, findTenant, listTenants, log, nowMs = () => performance.now() } = deps
  return new TenantLoop({
    async visit(tenantId) {
      const beganMs = nowMs()
      if (!(await findTenant(tenantId))) {
        evaluator.forget(tenantId)
        return undefined
      }
      const hasRules = await evaluator.evaluate(tenantId, evaluateMsMax)
      const restMs = (nowMs() - beganMs) * restFactor
      return { inMs: Math.max(hasRules ? evaluateMs : idleMs, restMs), restMs }
    },
    ...{ listTenants, log, nowMs },
    listMs: 30_000,
    concurrency: 2,
    messages: {
      unavailable: 'alerts are not evaluated while the database is unavailable',
      failed: 'could not evaluate the alerts of a tenant',
      unlisted: 'the tenants could not be listed to evaluate their alerts',
    },
  })
}
