import { isFormerGood } from '../../../secrets/signing-secrets.ts'
import type { WebhookAnswer } from '../webhooks-types.ts'
import { stateOf } from './webhook-changes.ts'
import type { OpenCounts, WebhookWithProgress } from './webhooks-store.ts'

/**
 * Converts a row to the response.
 *
 * @param counts default: zero
 */
export function toWebhookResponse(
  row: WebhookWithProgress,
  counts: Pick<OpenCounts, 'pending' | 'dead'> = { pending: 0, dead: 0 },
): WebhookAnswer {
  const { url, events, description, filters, thresholds, alerts, disabled_at, disabled_reason } = stateOf(row)
  return {
    webhook_id: row.webhook_id,
    ...{ url, events },
    ...(description !== null && { description }),
    ...(Object.keys(filters).length > 0 && { filters }),
    ...(Object.keys(thresholds).length > 0 && { thresholds }),
    ...(alerts.length > 0 && { alerts }),
    enabled: disabled_at === null,
    ...(disabled_at !== null && { disabled_at }),
    ...(disabled_reason !== null && { disabled_reason }),
    created_at: row.created_at,
    created_by: row.created_by,
    updated_at: row.updated_at,
    ...(row.former_secret_until !== null && isFormerGood(row) && { former_secret_until: row.former_secret_until }),
    health: {
      status: statusOf(row),
      failures: row.failures,
      ...(row.failing_since !== null && { failing_since: row.failing_since }),
      ...(row.attempted_at !== null && { last_attempt_at: row.attempted_at }),
      ...(row.delivered_at !== null && { last_delivered_at: row.delivered_at }),
      ...(row.overflowing_since !== null && { overflowing_since: row.overflowing_since }),
      pending: counts.pending,
      dead: counts.dead,
    },
  }
}

function statusOf(row: WebhookWithProgress): WebhookAnswer['health']['status'] {
  if (row.disabled_at !== null) return 'disabled'
  if (row.failures > 0) return 'failing'
  return row.attempted_at === null ? 'waiting' : 'ok'
}
