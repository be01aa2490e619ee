import type { DeliveryErrorCode, DeliveryStatus } from '../../../contract/webhook-deliveries.ts'
import type { JsonObject } from '../../../provenance/json.ts'
import type { Caller, Tenant } from '../../http/caller.ts'

/** One attempt, as it is kept in `hub.webhook_deliveries.attempts`, and as it is answered. */
export interface DeliveryAttempt {
  /** RFC 3339; when it began. */
  at: string
  /** Until the head of the answer, or the failure. */
  duration_ms: number
  url: string
  request_headers: Record<string, string>
  response?: {
    status: number
    /** The first ones, names in lower case. */
    headers: Record<string, string>
    /** The first `webhookBodyCharactersKept` characters, where it is text. */
    body?: string
  }
  /** Absent where it was taken. */
  error?: { code: DeliveryErrorCode; detail: string }
  /** Where the receiver asked for it (`Retry-After`). */
  retry_after_seconds?: number
}

export type { DeliveryErrorCode, DeliveryStatus }

/** In the names of the answer; `pending` was not attempted yet, `failed` was and will be again, `dead` will not. */
export interface DeliveryAnswer {
  delivery_id: string
  webhook_id: string
  /** `id` of the body, and `X-Service-Webhook-Id`. */
  message_id: string
  kind: string
  sequence: number
  status: DeliveryStatus
  occurred_at: string
  created_at: string
  /** In all. */
  attempt_count: number
  next_attempt_at?: string
  delivered_at?: string
  last_attempt?: DeliveryAttempt
}

/** What is sent. */
export type MessageBody = {
  id: string
  kind: string
  /** Slug. */
  tenant: string
  occurred_at: string
  sequence: number
  /** Absent once what it tells of was erased. */
  data?: JsonObject
}

/** With what was sent. */
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

/** All throw `not-found` for an endpoint or a delivery that is not there. */
export interface DeliveryAdministration {
  /** The newest first. */
  list(
    tenant: Tenant,
    webhookId: string,
    filter: DeliveryFilter,
    page: { limit: number; cursor: string | undefined },
  ): Promise<{ items: DeliveryAnswer[]; next_cursor: string | null }>
  get(tenant: Tenant, webhookId: string, deliveryId: string): Promise<DeliveryDetails>
  /** Queues a message of the kind `webhook.test`, also to an endpoint that is disabled, with one attempt. */
  test(caller: Caller, webhookId: string): Promise<DeliveryAnswer>
  /**
   * Queued anew, whatever its status: the schedule begins again. `concurrent-modification` while the endpoint is
   * disabled. Without the id of an endpoint, of whichever it is.
   */
  redeliver(caller: Caller, webhookId: string | undefined, deliveryId: string): Promise<DeliveryAnswer>
  redeliverSince(
    caller: Caller,
    webhookId: string,
    range: { since: string; until?: string; status?: DeliveryStatus },
  ): Promise<{ webhook_id: string; queued: number }>
}

/** Shows operators how delivery goes. */
export interface DeliveryMetrics {
  deliveriesAttempted(outcome: Exclude<DeliveryStatus, 'pending'>, count: number): void
  /** @param read in seconds, how long the oldest message that is no delivery yet has waited, and the oldest delivery that is due */
  showWebhookWaits(read: () => { queued: number; due: number }): void
}

/** What a process that delivers is told of a tenant: something is due, or something that it may have read was erased. */
export type WebhookSignal = 'queued' | 'erased'

/** Gets messages to their receivers, in the background. */
export interface WebhookWorker {
  /** Something of the tenant is due now, or was erased: nothing is sent then as it was read before. */
  wake(tenantId: string, word?: WebhookSignal): void
  /** An endpoint was removed, disabled or moved: nothing more begins where it was, and what hangs there is broken off. */
  breakOff(tenantId: string, webhookId: string): void
  start(metrics?: DeliveryMetrics): void
  /** Breaks off what is on its way, which is sent again, and gives every lease back. */
  stop(): Promise<void>
}
