import type { DatabaseLog, Listener } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import { TenantLoop } from '../../jobs/tenant-loop.ts'
import type { BudgetEvaluator } from './budget-evaluator.ts'

/** Milliseconds from a stored event to the evaluation. */
const gatherMs = 500
/** Minimum milliseconds between evaluations of a tenant. */
const pauseMs = 3_000
/** Rests take at least this many times as long as the evaluation of a tenant. */
const restFactor = 10
/** Milliseconds between evaluations of a tenant without new events: a notification may have been lost. */
const fallbackMs = 30_000
/** A round over all tenants takes at most this fraction of the time of a process. */
const roundFactor = 20

/**
 * Creates the loop that evaluates budgets. Wake it when events of a tenant are stored or its budgets change. A tenant
 * without new events costs a visit in each round, and rounds are as far apart as they take long. Several processes may run
 * one.
 */
export function createBudgetLoop(deps: {
  evaluator: Pick<BudgetEvaluator, 'evaluate'>
  findTenant: (slug: string) => Promise<Tenant | undefined>
  listTenants: () => Promise<readonly string[]>
  listen: (wake: (tenantId: string) => void) => Listener
  log: Pick<DatabaseLog, 'warn' | 'error'>
  nowMs?: () => number
}) {
  const { evaluator, findTenant, listTenants, log, nowMs = () => performance.now() } = deps
  /** Milliseconds that the last evaluation took, of tenants with budgets. */
  const took = new Map<string, number>()
  let roundMs = 0
  /** The last list, and the time that visits of tenants without budgets have taken since. */
  const listed = { atMs: Number.NEGATIVE_INFINITY, idleMs: 0 }

  function setTook(tenantId: string, ms: number): void {
    roundMs += ms - (took.get(tenantId) ?? 0)
    if (ms === 0) took.delete(tenantId)
    else took.set(tenantId, ms)
  }

  async function* list(): AsyncGenerator<string> {
    if (nowMs() - listed.atMs < listed.idleMs * roundFactor) return
    Object.assign(listed, { atMs: nowMs(), idleMs: 0 })
    yield* await listTenants()
  }

  const loop = new TenantLoop({
    async visit(tenantId) {
      const beganMs = nowMs()
      const tenant = await findTenant(tenantId)
      const periodMs = tenant && (await evaluator.evaluate(tenant))
      const ms = nowMs() - beganMs
      setTook(tenantId, periodMs === undefined ? 0 : ms)
      if (periodMs === undefined) {
        listed.idleMs += ms
        return undefined
      }
      const restMs = Math.max(pauseMs, ms * restFactor)
      // A period may begin with costs: the clocks of senders are up to five minutes fast.
      return { inMs: Math.min(Math.max(fallbackMs, roundMs * roundFactor), Math.max(periodMs, 0) + gatherMs), restMs }
    },
    listTenants: list,
    listMs: fallbackMs,
    listen: (wake) => deps.listen((tenantId) => wake(tenantId)),
    ...{ log, nowMs },
    concurrency: 2,
    messages: {
      unavailable: 'budgets are not evaluated while the database is unavailable',
      failed: 'could not evaluate the budgets of a tenant',
      unlisted: 'the tenants could not be listed to evaluate their budgets',
    },
  })
  return {
    /** Evaluates the budgets of a tenant soon. */
    wake: (tenantId: string) => loop.wake(tenantId, gatherMs),
    start: () => loop.start(),
    stop: () => loop.stop(),
  }
}
