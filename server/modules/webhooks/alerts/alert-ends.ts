import type { TenantTx } from '../../../db/database.ts'
import type { AlertRule, WebhookOutbox } from '../webhooks-types.ts'
import { closedMessage } from './alert-messages.ts'
import { removeAlertsBut } from './alerts-store.ts'
import { rulesById } from './metric-queries.ts'

/** The end of alerts by what is done to their endpoint or its rules, whatever the figures are. */
export interface AlertEnds {
  /** Alerts of rules that an endpoint has not got any more end, and it is told so. */
  rulesChanged(tx: TenantTx, webhookId: string, rules: readonly AlertRule[]): Promise<void>
  /**
   * The endpoint was disabled, removed, or enabled again: all its alerts are forgotten without a word. Nobody knows
   * what happened to them while it was told of nothing.
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
