import { DomainError } from '../../../../contract/domain-error.ts'
import type { DatabaseLog } from '../../../db/database.ts'
import type { AlertEvaluator } from './alert-types.ts'

const tickMs = 1_000
/** Between looks at a tenant with rules. */
const lookMs = 10_000
/** Looking takes at most this share of the time, however much a tenant has. */
const lookRestFactor = 10
/** Between looks at a tenant without rules: another process may have been given one. */
const idleLookMs = 30_000
/** Between looks for new tenants. */
const sweepMs = 30_000
const retryMsMax = 60_000
/** Tenants that are looked at at once, so that one with much does not keep all others waiting. */
const looksAtOnce = 2

export interface AlertLoop {
  /** Endpoints of the tenant were changed: it is looked at soon. */
  changed(tenantId: string): void
  start(): void
  /** Waits for the looks that are under way. */
  stop(): Promise<void>
}

interface TenantState {
  dueAtMs: number
  failures: number
}

/** A loop within the process. Several processes may run one: of two that meet at a tenant, one passes on. */
export function createAlertLoop(deps: {
  evaluator: AlertEvaluator
  listTenants: () => Promise<readonly string[]>
  log: Pick<DatabaseLog, 'warn' | 'error'>
  nowMs?: () => number
}): AlertLoop {
  const { evaluator, listTenants, log, nowMs = () => performance.now() } = deps
  const states = new Map<string, TenantState>()
  const looks = new Map<string, Promise<void>>()
  let sweeping: Promise<void> | undefined
  let sweepAtMs = Number.NEGATIVE_INFINITY
  let stopped = true
  let timer: NodeJS.Timeout | undefined

  async function sweep(): Promise<void> {
    try {
      const tenantIds = new Set(await listTenants())
      for (const tenantId of states.keys()) if (!tenantIds.has(tenantId)) states.delete(tenantId)
      for (const tenantId of tenantIds) {
        if (!states.has(tenantId)) states.set(tenantId, { dueAtMs: nowMs(), failures: 0 })
      }
    } catch (error) {
      log.warn({ err: error }, 'the tenants could not be listed to look at their alerts')
    }
    sweepAtMs = nowMs() + sweepMs
    sweeping = undefined
  }

  async function look(tenantId: string, state: TenantState): Promise<void> {
    const startMs = nowMs()
    // Whoever changes something meanwhile sets an earlier time.
    state.dueAtMs = Number.POSITIVE_INFINITY
    const again = (pauseMs: number) => {
      state.dueAtMs = Math.min(state.dueAtMs, nowMs() + pauseMs)
    }
    try {
      const hasRules = await evaluator.evaluate(tenantId)
      state.failures = 0
      again(Math.max(hasRules ? lookMs : idleLookMs, (nowMs() - startMs) * lookRestFactor))
    } catch (error) {
      state.failures += 1
      const retryMs = Math.min(tickMs * 2 ** state.failures, retryMsMax)
      again(retryMs)
      const away = error instanceof DomainError && error.slug === 'hub-unavailable'
      const details = { err: error, tenant: tenantId, retryMs }
      if (away) log.warn(details, 'alerts are not looked at while the database is away')
      else log.error(details, 'the alerts of a tenant could not be looked at')
    }
  }

  function lookAtDue(): void {
    if (stopped) return
    if (nowMs() >= sweepAtMs) sweeping ??= sweep().then(lookAtDue)
    for (const [tenantId, state] of states) {
      if (looks.size >= looksAtOnce) return
      if (looks.has(tenantId) || state.dueAtMs > nowMs()) continue
      const running = look(tenantId, state).then(() => {
        looks.delete(tenantId)
        lookAtDue()
      })
      looks.set(tenantId, running)
    }
  }

  return {
    changed(tenantId) {
      if (stopped) return
      const state = states.get(tenantId)
      if (state) state.dueAtMs = nowMs()
      else states.set(tenantId, { dueAtMs: nowMs(), failures: 0 })
    },
    start() {
      if (!stopped) return
      stopped = false
      timer = setInterval(lookAtDue, tickMs).unref()
    },
    async stop() {
      stopped = true
      clearInterval(timer)
      await Promise.all([sweeping, ...looks.values()])
    },
  }
}
