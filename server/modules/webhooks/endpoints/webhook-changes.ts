import type { JsonValue } from '../../../../provenance/json.ts'
import type { RedactedUrl } from '../../../secrets/redacted-url.ts'
import { isFormerGood } from '../../../secrets/signing-secrets.ts'
import type { WebhookChanges, WebhookResponse, WebhookSettings } from '../webhooks-types.ts'
import type { OpenCounts, WebhookRow, WebhookState, WebhookWithProgress } from './webhooks-store.ts'

export function stateOf(row: WebhookRow): WebhookState {
  const { url, description, format, events, filters, thresholds, alerts, disabled_at, disabled_reason } = row
  return { url, description, format, events, filters, thresholds, alerts, disabled_at, disabled_reason }
}

export function newState({
  url,
  events,
  description,
  format,
  filters,
  thresholds,
  alerts,
}: WebhookSettings): WebhookState {
  return {
    ...{ url, events, description: description || null, format: format ?? 'hub' },
    ...{ filters: filters ?? {}, thresholds: thresholds ?? {}, alerts: alerts ?? [] },
    ...{ disabled_at: null, disabled_reason: null },
  }
}

/**
 * Applies changes. An absent member stays unchanged, an empty description removes it. An endpoint that is already
 * disabled keeps its reason.
 */
export function changedState(before: WebhookState, changes: WebhookChanges, now: string): WebhookState {
  const { enabled, description = before.description, ...settings } = changes
  const isEnabled = before.disabled_at === null
  const switched =
    enabled === undefined || enabled === isEnabled
      ? {}
      : enabled
        ? { disabled_at: null, disabled_reason: null }
        : { disabled_at: now, disabled_reason: 'by_hand' as const }
  return { ...before, ...settings, description: description || null, ...switched }
}

/**
 * Describes an endpoint for events.
 *
 * @param address its redacted form, see `createUrlRedactor`
 */
export function described(state: WebhookState, address: RedactedUrl): { [member: string]: JsonValue } {
  return { ...address, ...present(state) }
}

/** Returns the settings in the names of the response, without empty ones. */
function present({
  events,
  description,
  format,
  filters,
  thresholds,
  alerts,
  disabled_at,
  disabled_reason,
}: WebhookState) {
  return {
    events,
    ...(description !== null && { description }),
    ...(format !== 'hub' && { format }),
    ...(Object.keys(filters).length > 0 && { filters }),
    ...(Object.keys(thresholds).length > 0 && { thresholds }),
    ...(alerts.length > 0 && { alerts }),
    enabled: disabled_at === null,
    ...(disabled_reason !== null && { disabled_reason }),
  }
}

/**
 * Converts a row to the response.
 *
 * @param counts default: zero
 */
export function toWebhookResponse(
  row: WebhookWithProgress,
  counts: Pick<OpenCounts, 'pending' | 'dead'> = { pending: 0, dead: 0 },
): WebhookResponse {
  const { webhook_id, url, disabled_at } = row
  return {
    ...{ webhook_id, url, ...present(row) },
    ...(disabled_at !== null && { disabled_at }),
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

function statusOf(row: WebhookWithProgress): WebhookResponse['health']['status'] {
  if (row.disabled_at !== null) return 'disabled'
  if (row.failures > 0) return 'failing'
  return row.attempted_at === null ? 'waiting' : 'ok'
}
