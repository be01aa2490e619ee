import type { WebhookFormat } from '../../../contract/webhook-formats.ts'
import type { Timestamp } from './timestamp.ts'

/** Tables of endpoints, their deliveries, and received messages. */
export interface WebhookTables {
  'hub.webhooks': {
    tenant_id: string
    webhook_id: string
    url: string
    description: string | null
    format: WebhookFormat
    events: string[]
    /** `WebhookFilters` */
    filters: unknown
    /** `WebhookSettings['thresholds']` */
    thresholds: unknown
    /** `AlertRule[]` */
    alerts: unknown
    secret_sealed: Buffer
    former_secret_sealed: Buffer | null
    former_secret_until: Timestamp | null
    created_at: Timestamp
    created_by: string
    updated_at: Timestamp
    disabled_at: Timestamp | null
    disabled_reason: 'by_hand' | 'gone' | 'failing' | null
    removed_at: Timestamp | null
  }
  'hub.webhook_progress': {
    tenant_id: string
    webhook_id: string
    last_sequence: number
    leased_by: string | null
    leased_until: Timestamp | null
    failures: number
    failing_since: Timestamp | null
    attempted_at: Timestamp | null
    delivered_at: Timestamp | null
    overflowing_since: Timestamp | null
  }
  'hub.webhook_outbox': { tenant_id: string; outbox_id: string; messages: string }
  'hub.webhook_deliveries': {
    tenant_id: string
    delivery_id: string
    webhook_id: string
    sequence: number
    message_id: string
    kind: string
    occurred_at: Timestamp
    data: string | null
    record_id: string | null
    user_id: string | null
    status: 'pending' | 'delivered' | 'failed' | 'dead'
    tries: number
    attempt_count: number
    next_attempt_at: Timestamp | null
    /** `DeliveryAttempt[]` */
    attempts: unknown
    created_at: Timestamp
    delivered_at: Timestamp | null
  }
  'hub.webhook_alerts': {
    tenant_id: string
    webhook_id: string
    rule_id: string
    /** The whole `AlertRule`. */
    rule: unknown
    group_key: string
    alert_id: string
    opened_at: Timestamp
    recovering_since: Timestamp | null
    value: number
    invocations: number
    seen_at: Timestamp
  }
  'hub.inbound_secrets': {
    tenant_id: string
    connection_id: string
    kind: 'connector' | 'scim'
    secret_sealed: Buffer
    former_secret_sealed: Buffer | null
    former_secret_until: Timestamp | null
    created_at: Timestamp
    updated_at: Timestamp
  }
  'hub.inbound_messages': { tenant_id: string; connection_id: string; message_id: string; received_at: Timestamp }
}
