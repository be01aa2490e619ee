import type { Static } from 'typebox'
import type { DeliveryErrorCode, DeliveryStatus } from '../../../contract/webhook-deliveries.ts'

export type { DeliveryErrorCode, DeliveryStatus }

import type { Caller, Tenant } from '../../http/caller.ts'
import type {
  AttemptSchema,
  DeliveriesQuery,
  DeliveryDetailsSchema,
  DeliverySchema,
  RedeliverBody,
} from './deliveries/deliveries-schemas.ts'

/** One attempt, as stored in `hub.webhook_deliveries.attempts` and as returned. */
export type DeliveryAttempt = Static<typeof AttemptSchema>

/**
 * A delivery in the names of the response: `pending` was not attempted yet, `failed` will be retried, `dead` will not.
 */
export type DeliveryAnswer = Static<typeof DeliverySchema>

/** A delivery with its body and attempts. */
export type DeliveryDetails = Static<typeof DeliveryDetailsSchema>

export type DeliveryFilter = Omit<Static<typeof DeliveriesQuery>, 'limit' | 'cursor'>

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
    range: Static<typeof RedeliverBody>,
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
