import type { Static } from 'typebox'
import type { Tenant } from '../../../http/caller.ts'
import type { AlertRule } from '../webhooks-types.ts'
import type { AlertSchema } from './alerts-schemas.ts'

/** A rule with its defaults filled in. */
export type WholeRule = Required<AlertRule>

/**
 * An open alert: a rule is, or was, exceeded for a skill, user or archetype, and has not recovered for a whole window.
 */
export interface AlertInstance {
  alertId: string
  ruleId: string
  rule: WholeRule
  /** The id of the skill, user or archetype. */
  key: string
  /** RFC 3339, UTC, six fractional digits. */
  openedAt: string
  recoveringSinceMs: number | undefined
  /** The last value. */
  value: number
  invocations: number
  seenAtMs: number
}

/** The values of a group in a window. */
export interface MetricReading {
  /** The value in the unit of the metric. */
  value: number
  invocations: number
  /** The time of the reading, which determines the window. */
  atMs: number
}

/** A rule of an endpoint, in the form that the evaluator uses. */
export interface WatchedRule {
  webhookId: string
  ruleId: string
  rule: WholeRule
  /** The only keys to include; undefined for all. */
  keys: ReadonlySet<string> | undefined
}

/** An alert in the names of the response. */
export type AlertAnswer = Static<typeof AlertSchema>

export interface AlertAdministration {
  /** Lists open alerts, the oldest first. Throws `not-found` for a missing endpoint, and `invalid-cursor`. */
  list(
    tenant: Tenant,
    webhookId: string,
    page: { limit: number; cursor: string | undefined },
  ): Promise<{ items: AlertAnswer[]; next_cursor: string | null }>
}

export interface AlertEvaluator {
  /**
   * Evaluates the rules of a tenant once: opens and closes alerts, and queues their messages. A pass that exceeds its
   * turn ends there, and the next one continues it. Returns whether there was anything to evaluate.
   *
   * @param turnMsMax the turn in milliseconds; unlimited if absent
   */
  evaluate(tenantId: string, turnMsMax?: number): Promise<boolean>
  /** Drops the unfinished pass of a tenant that no longer exists. */
  forget(tenantId: string): void
}
