import type { DeliveryErrorCode, DeliveryStatus } from '../../../contract/webhook-deliveries.ts'
import type { JsonObject } from '../../../provenance/json.ts'
import type { Caller, Tenant } from '../../http/caller.ts'

/** One attempt, as stored in `hub.webhook_deliveries.attempts` and as returned. */
export interface DeliveryAttempt {
  /** The start, in RFC 3339. */
  at: string
  /** Milliseconds until the head of the response, or until the failure. */
  duration_ms: number
  url: string
  request_headers: Record<string, string>
  response?: {
    status: number
    /** The first headers, with names in lower case. */
    headers: Record<string, string>
    /** The first `webhookBodyCharactersKept` characters of a text body. */
    body?: string
  }
  /** Absent if the receiver accepted the message. */
  error?: { code: DeliveryErrorCode; detail: string }
  /** The value of `Retry-After`, if the receiver sent it. */
  retry_after_seconds?: number
}

export type { DeliveryErrorCode, DeliveryStatus }

/**
 * A delivery in the names of the response: `pending` was not attempted yet, `failed` will be retried, `dead` will not.
 */
export interface DeliveryAnswer {
  delivery_id: string
  webhook_id: string
  /** The `id` of the body, and `X-Service-Webhook-Id`. */
  message_id: string
  kind: string
  sequence: number
  status: DeliveryStatus
  occurred_at: string
  created_at: string
  /** The number of all attempts. */
  attempt_count: number
  next_attempt_at?: string
  delivered_at?: string
  last_attempt?: DeliveryAttempt
}

/** The body of a message. */
export type MessageBody = {
  id: string
  kind: string
  /** The slug. */
  tenant: string
  occurred_at: string
  sequence: number
  /** Absent once the data was erased. */
  data?: JsonObject
}

/** A delivery with its body and attempts. */
export interface DeliveryDetails extends DeliveryAnswer {
  body: MessageBody
  attempts: DeliveryAttempt[]
}

export interface DeliveryFilter {
  status?: DeliveryStatus
  kind?: string
  created_at__gte?: string
  created_at__lt?: string
}

/** Reads and requeues deliveries. All methods throw `not-found` for a missing endpoint or delivery. */
export interface DeliveryAdministration {
  /** Lists deliveries, the newest first. */
  list(
    tenant: Tenant,
    webhookId: string,
    filter: DeliveryFilter,
    page: { limit: number; cursor: string | undefined },
  ): Promise<{ items: DeliveryAnswer[]; next_cursor: string | null }>
  get(tenant: Tenant, webhookId: string, deliveryId: string): Promise<DeliveryDetails>
  /** Queues a message of the kind `webhook.test` with a single attempt, even for a disabled endpoint. */
  test(caller: Caller, webhookId: string): Promise<DeliveryAnswer>
  /**
   * Queues a delivery again, regardless of its status; its schedule restarts. Throws `concurrent-modification` while
   * the endpoint is disabled. Without an endpoint id, the delivery may belong to any endpoint.
   */
  redeliver(caller: Caller, webhookId: string | undefined, deliveryId: string): Promise<DeliveryAnswer>
  redeliverSince(
    caller: Caller,
    webhookId: string,
    range: { since: string; until?: string; status?: DeliveryStatus },
  ): Promise<{ webhook_id: string; queued: number }>
}

/** Shows the state of deliveries to operators. */
export interface DeliveryMetrics {
  deliveriesAttempted(outcome: Exclude<DeliveryStatus, 'pending'>, count: number): void
  /**
   * @param read returns, in seconds, how long the oldest message in the outbox has waited, and how long the oldest
   * delivery has been due
   */
  showWebhookWaits(read: () => { queued: number; due: number }): void
}

/**
 * A signal to the delivering processes about a tenant: a delivery is due, or data that they may have read was erased.
 */
export type WebhookSignal = 'queued' | 'erased'

/** Delivers messages in the background. */
export interface WebhookWorker {
  /** Handles a signal. After an erasure nothing is sent as it was read before. */
  wake(tenantId: string, word?: WebhookSignal): void
  /** Stops sending to an endpoint that was removed, disabled or moved, and aborts running attempts there. */
  breakOff(tenantId: string, webhookId: string): void
  start(metrics?: DeliveryMetrics): void
  /** Aborts running attempts, which are repeated later, and releases every lease. */
  stop(): Promise<void>
}
