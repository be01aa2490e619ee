import type { TenantTx } from '../../../db/database.ts'
import type { AlertRule, WebhookOutbox } from '../webhooks-types.ts'
import { closedMessage } from './alert-messages.ts'
import { removeAlertsBut } from './alerts-store.ts'
import { rulesById } from './metric-queries.ts'

/** Ends alerts when their endpoint or its rules change, regardless of the metrics. */
export interface AlertEnds {
  /** Closes alerts of rules that the endpoint no longer has, and notifies it. */
  rulesChanged(tx: TenantTx, webhookId: string, rules: readonly AlertRule[]): Promise<void>
  /**
   * Deletes all alerts of an endpoint that was disabled, removed or enabled again, without messages: their state during
   * the silence is unknown.
   */
  forgotten(tx: TenantTx, webhookId: string): Promise<void>
}

export function createAlertEnds(deps: { outbox: Pick<WebhookOutbox, 'add'>; nowMs: () => number }): AlertEnds {
  const { outbox, nowMs } = deps
  return {
    async rulesChanged(tx, webhookId, rules) {
      const ended = await removeAlertsBut(tx, webhookId, [...rulesById(rules).keys()])
      const now = nowMs()
      await outbox.add(
        tx,
        ended.map((episode) => closedMessage(webhookId, episode, now)),
      )
    },
    async forgotten(tx, webhookId) {
      await removeAlertsBut(tx, webhookId, [])
    },
  }
}
