import type { Tenant } from '../../../http/caller.ts'
import type { AlertRule } from '../webhooks-types.ts'

/** A rule with what it does not say. */
export type WholeRule = Required<AlertRule>

/** A rule is, or was, exceeded for a skill, user or archetype, and has not recovered for a whole window. */
export interface AlertInstance {
  alertId: string
  ruleId: string
  rule: WholeRule
  /** The skill, user or archetype. */
  key: string
  /** RFC 3339, UTC, six digits. */
  openedAt: string
  recoveringSinceMs: number | undefined
  /** As last seen. */
  value: number
  invocations: number
  seenAtMs: number
}

/** What a window shows of a group. */
export interface MetricReading {
  /** In the unit of the metric. */
  value: number
  invocations: number
  /** When it was looked at, which says which window it was. */
  atMs: number
}

/** A rule of an endpoint, as it is watched. */
export interface WatchedRule {
  webhookId: string
  ruleId: string
  rule: WholeRule
  /** Groups of these keys alone. */
  keys: ReadonlySet<string> | undefined
}

/** In the names of the answer. */
export interface AlertAnswer {
  alert_id: string
  metric: AlertRule['metric']
  group_by: AlertRule['group_by']
  key: string
  value: number
  threshold: number
  recovers_at: number
  window_minutes: number
  invocations: number
  opened_at: string
  recovering_since?: string
  seen_at: string
}

export interface AlertAdministration {
  /** Those that are open, the oldest first. Throws `not-found` for an endpoint that is not there, `invalid-cursor`. */
  list(
    tenant: Tenant,
    webhookId: string,
    page: { limit: number; cursor: string | undefined },
  ): Promise<{ items: AlertAnswer[]; next_cursor: string | null }>
}

export interface AlertEvaluator {
  /**
   * Looks at the rules of a tenant once: opens and closes what is to be, and queues what is to be told of it. A look
   * that takes longer than its turn ends there, and the next one goes on where it was. Answers whether there was
   * anything to look at.
   *
   * @param turnMsMax in milliseconds; without it, it looks at everything
   */
  evaluate(tenantId: string, turnMsMax?: number): Promise<boolean>
  /** Of a tenant that is no more: where its look was. */
  forget(tenantId: string): void
}
