import type { Static } from 'typebox'
import type { DeliveryErrorCode, DeliveryStatus } from '../../../contract/webhook-deliveries.ts'
import type { InvocationEventKind } from '../../../contract/webhook-events.ts'
import type { JsonObject, JsonValue } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import type { IngestStep } from '../../db/ingest-script.ts'
import type { Filters, Rule, WebhookBody, WebhookChangesBody, WebhookSchema } from './endpoints/webhooks-schemas.ts'

/** Conditions for `skill.*` events, all of which must hold; an absent member accepts everything. */
export type WebhookFilters = Static<typeof Filters>

/** A condition over the last `window_minutes`, for each skill, user or archetype. */
export type AlertRule = Static<typeof Rule>

/** The settings in the names of the body. */
export type WebhookSettings = Static<typeof WebhookBody>

export type WebhookChanges = Static<typeof WebhookChangesBody>

/** An endpoint in the names of the response. */
export type WebhookResponse = Static<typeof WebhookSchema>

/** An endpoint as deliveries, alerts and the outbox use it. */
export interface Endpoint extends Required<Pick<WebhookSettings, 'events' | 'filters' | 'thresholds' | 'alerts'>> {
  webhookId: string
  enabled: boolean
}

/** A message for endpoints. */
export interface OutgoingMessage {
  kind: string
  /** RFC 3339, UTC, six fractional digits. */
  occurredAt: string
  data: JsonObject
  /** The record that `data` quotes; the message is erased with it. */
  recordId?: string
  /** The person that `data` names, `usr_…` or `user:…`; the message is erased with them. */
  userId?: string
  /**
   * The only endpoints, regardless of their events. Default: all that want the kind, and the values of an invocation.
   */
  webhookIds?: readonly string[]
}

/** Stores the messages of a transaction exactly if it commits. */
export interface WebhookOutbox {
  /** Returns a test of whether any enabled endpoint wants a kind, as the transaction sees them. */
  wanted(tx: TenantTx): Promise<(kind: string) => boolean>
  /** Adds messages, and wakes the workers once the transaction has committed. Does nothing without messages. */
  add(tx: TenantTx, messages: readonly OutgoingMessage[]): Promise<void>
  /** Returns `add` as a step of an ingest transaction; call {@link queued} once it has committed. */
  step(tenantId: string, messages: readonly OutgoingMessage[]): IngestStep
  /** Announces waiting messages of the tenant. Never throws, and nobody waits for it. */
  queued(tenantId: string): void
}

/** An ingested invocation. */
export interface IngestedEvent {
  recordId: string
  /** `created_at` of the record. */
  createdAt: string
  /** The members of the record. */
  fields: Readonly<Record<string, JsonValue>>
  skillId: string
  archetypeId: string
  userId: string
  /** Whether its record is stored under the key of a Mode B tenant. */
  sealed: boolean
}

/** Selects the messages about single invocations that the enabled endpoints of a tenant want. */
export interface InvocationWatch {
  /** Returns at most one message per event and {@link InvocationEventKind}, regardless of the number of endpoints. */
  messagesOf(events: readonly IngestedEvent[]): OutgoingMessage[]
}

export interface InvocationWatches {
  /** Returns the watch, at most one second old; undefined if no endpoint wants any. It usually costs no statement. */
  of(tenantId: string): Promise<InvocationWatch | undefined>
  /** Drops the cached watch. Call it after a commit that changed endpoints of the tenant. */
  changed(tenantId: string): void
}

export type { DeliveryErrorCode, DeliveryStatus }

import type { AttemptSchema } from './deliveries/deliveries-schemas.ts'

/** One attempt, as stored in `hub.webhook_deliveries.attempts` and as returned. */
export type DeliveryAttempt = Static<typeof AttemptSchema>

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
