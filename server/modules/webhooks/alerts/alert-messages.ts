import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { JsonObject } from '../../../../provenance/json.ts'
import type { OutgoingMessage } from '../webhooks-types.ts'
import type { AlertInstance } from './alert-types.ts'
import { alertWindow } from './alert-windows.ts'

/** Returns the message that an alert has opened, only for its endpoint. */
export function openedMessage(webhookId: string, episode: AlertInstance, nowMs: number): OutgoingMessage {
  return messageOf('skill.alert_opened', webhookId, episode, nowMs, {})
}

/** Returns the message that an alert has closed, with the last values and window. */
export function closedMessage(webhookId: string, episode: AlertInstance, nowMs: number): OutgoingMessage {
  return messageOf('skill.alert_closed', webhookId, episode, nowMs, { closed_at: formatTimestamp(nowMs) })
}

function messageOf(
  kind: OutgoingMessage['kind'],
  webhookId: string,
  { alertId, rule, key, value, invocations, openedAt, seenAtMs }: AlertInstance,
  nowMs: number,
  end: JsonObject,
): OutgoingMessage {
  const { fromMs, toMs } = alertWindow(seenAtMs, rule.window_minutes)
  return {
    kind,
    occurredAt: formatTimestamp(nowMs),
    data: {
      alert_id: alertId,
      metric: rule.metric,
      group_by: rule.group_by,
      key,
      value,
      threshold: rule.above,
      window_minutes: rule.window_minutes,
      window: { from: formatTimestamp(fromMs), to: formatTimestamp(toMs) },
      invocations,
      opened_at: openedAt,
      ...end,
    },
    ...(rule.group_by === 'user' && { userId: key }),
    webhookIds: [webhookId],
  }
}
