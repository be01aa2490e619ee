import type { Static } from 'typebox'
import type { PointedError } from '../../../contract/domain-error.ts'
import type { InvocationEventKind } from '../../../contract/webhook-events.ts'
import type { JsonObject, JsonValue } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import type { IngestStep } from '../../db/ingest-script.ts'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type {
  Filters,
  Rule,
  Thresholds,
  WebhookBody,
  WebhookChangesBody,
  WebhookSchema,
} from './endpoints/webhooks-schemas.ts'

// ── Endpoints ───────────────────────────────────────────────────────────────────────────────────────────────

/** Conditions for `skill.*` events, all of which must hold; an absent member accepts everything. */
export type WebhookFilters = Static<typeof Filters>

/** Thresholds of single invocations; greater values cause a message. */
export type WebhookThresholds = Static<typeof Thresholds>

/** A condition over the last `window_minutes`, for each skill, user or archetype. */
export type AlertRule = Static<typeof Rule>

/** The settings in the names of the body. */
export type WebhookSettings = Static<typeof WebhookBody>

export type WebhookChanges = Static<typeof WebhookChangesBody>

/** An endpoint in the names of the response. */
export type WebhookAnswer = Static<typeof WebhookSchema>

/** Administers endpoints. All methods throw `not-found` for a missing or removed endpoint. */
export interface WebhookAdministration {
  /** Returns further problems of settings that already have invalid parts. */
  furtherProblems(sound: ValidParts<WebhookSettings>): PointedError[]
  create(caller: Caller, settings: WebhookSettings): Promise<WebhookAnswer>
  list(
    tenant: Tenant,
    page: { limit: number; cursor: string | undefined },
  ): Promise<{ items: WebhookAnswer[]; next_cursor: string | null }>
  get(tenant: Tenant, webhookId: string): Promise<WebhookAnswer>
  update(caller: Caller, webhookId: string, changes: WebhookChanges): Promise<WebhookAnswer>
  /** Removes an endpoint and its deliveries. Repeating it returns the same response. */
  remove(caller: Caller, webhookId: string): Promise<{ webhook_id: string; removed_at: string }>
  rotateSecret(caller: Caller, webhookId: string): Promise<WebhookAnswer>
}

/** An endpoint as deliveries, alerts and the outbox use it. */
export interface Endpoint {
  webhookId: string
  events: readonly string[]
  filters: WebhookFilters
  thresholds: WebhookThresholds
  alerts: readonly AlertRule[]
  enabled: boolean
}

export interface Endpoints {
  /** Returns all endpoints that are not removed, enabled or not. */
  all(tx: TenantTx): Promise<Endpoint[]>
  /** Returns an endpoint. Throws DomainError `not-found` if it is removed or unknown. */
  find(tx: TenantTx, webhookId: string): Promise<Endpoint>
  /**
   * Returns the signing secrets: the newest first, and the former one while it is valid. Undefined once their key is
   * destroyed, and for an endpoint that is removed or unknown.
   */
  secretsOf(tx: TenantTx, tenant: Tenant, webhookId: string): Promise<string[] | undefined>
  /**
   * Disables an endpoint because its receiver is gone (410) or failed for too long, and writes the event
   * `webhook.disabled`. Does nothing if it is already disabled.
   */
  disable(tx: TenantTx, tenant: Tenant, webhookId: string, reason: 'gone' | 'failing'): Promise<void>
  /** Writes the event `webhook.overflowed`: from now on the oldest waiting deliveries are given up. */
  overflowed(tx: TenantTx, tenant: Tenant, webhookId: string, openMax: number): Promise<void>
}

// ── The outbox ──────────────────────────────────────────────────────────────────────────────────────────────

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

// ── Events ──────────────────────────────────────────────────────────────────────────────────────────────────

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
