import type { PointedError } from '../../../contract/domain-error.ts'
import type { InvocationEventKind } from '../../../contract/webhook-events.ts'
import type { JsonObject, JsonValue } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import type { IngestStep } from '../../db/ingest-script.ts'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import type { Caller, Tenant } from '../../http/caller.ts'

// ── Endpoints ───────────────────────────────────────────────────────────────────────────────────────────────

/** Of `skill.*`: what must be so of an invocation, all of it; an absent member lets everything through. */
export interface WebhookFilters {
  skill_ids?: string[]
  archetype_ids?: string[]
}

/** Of single invocations; more than this is told. Absent: the defaults of `webhook-defaults.ts`. */
export interface WebhookThresholds {
  latency_ms?: number
  cost_usd?: number
}

/** Over the last `window_minutes`, for each skill, user or archetype by itself. */
export interface AlertRule {
  /** A ratio from 0 to 1; milliseconds; US dollars. */
  metric: 'error_rate' | 'latency_p95_ms' | 'cost_usd_per_hour'
  group_by: 'skill' | 'user' | 'archetype'
  above: number
  /** It ends once it was at or below this for a whole window; default `above`. */
  recovers_at?: number
  window_minutes: number
  /** With fewer in the window nothing is said of error rate and latency. Default 20. */
  min_invocations?: number
}

/** In the names of the body. */
export interface WebhookSettings {
  url: string
  events: string[]
  description?: string
  filters?: WebhookFilters
  thresholds?: WebhookThresholds
  alerts?: AlertRule[]
}

export type WebhookChanges = Partial<WebhookSettings> & { enabled?: boolean }

/** In the names of the answer. */
export interface WebhookAnswer {
  webhook_id: string
  url: string
  events: string[]
  description?: string
  filters?: WebhookFilters
  thresholds?: WebhookThresholds
  alerts?: AlertRule[]
  enabled: boolean
  disabled_at?: string
  disabled_reason?: 'by_hand' | 'gone' | 'failing'
  created_at: string
  created_by: string
  updated_at: string
  former_secret_until?: string
  /** Once: of the answer that made it. */
  secret?: string
  health: {
    status: 'ok' | 'waiting' | 'failing' | 'disabled'
    /** Attempts in a row that failed. */
    failures: number
    failing_since?: string
    last_attempt_at?: string
    last_delivered_at?: string
    /** Since when what waits longest is given up, because more waits than may. */
    overflowing_since?: string
    /** Deliveries that are to be attempted, counted up to `webhookHealthCountMax`. */
    pending: number
    /** Deliveries that were given up, counted up to `webhookHealthCountMax`. */
    dead: number
  }
}

/** All throw `not-found` for an endpoint that is not there, or was removed. */
export interface WebhookAdministration {
  /** What else is wrong with settings that have faults already. */
  furtherProblems(sound: ValidParts<WebhookSettings>): PointedError[]
  create(caller: Caller, settings: WebhookSettings): Promise<WebhookAnswer>
  list(
    tenant: Tenant,
    page: { limit: number; cursor: string | undefined },
  ): Promise<{ items: WebhookAnswer[]; next_cursor: string | null }>
  get(tenant: Tenant, webhookId: string): Promise<WebhookAnswer>
  update(caller: Caller, webhookId: string, changes: WebhookChanges): Promise<WebhookAnswer>
  /** Repeating it gives the same answer. Takes its deliveries with it. */
  remove(caller: Caller, webhookId: string): Promise<{ webhook_id: string; removed_at: string }>
  rotateSecret(caller: Caller, webhookId: string): Promise<WebhookAnswer>
}

/** An endpoint as deliveries, alerts and the outbox see it. */
export interface Endpoint {
  webhookId: string
  events: readonly string[]
  filters: WebhookFilters
  thresholds: WebhookThresholds
  alerts: readonly AlertRule[]
  enabled: boolean
}

export interface Endpoints {
  /** All that are not removed; enabled or not. */
  all(tx: TenantTx): Promise<Endpoint[]>
  /** Throws DomainError `not-found` for one that is removed or unknown. */
  find(tx: TenantTx, webhookId: string): Promise<Endpoint>
  /**
   * What to sign with: the newest first, and the former while it is good. Undefined once its key is destroyed, and for an
   * endpoint that is removed or unknown.
   */
  secretsOf(tx: TenantTx, tenant: Tenant, webhookId: string): Promise<string[] | undefined>
  /**
   * What the Hub does by itself when a receiver is gone (410), or failed for too long: writes the event
   * `webhook.disabled`. Does nothing where it is disabled already.
   */
  disable(tx: TenantTx, tenant: Tenant, webhookId: string, reason: 'gone' | 'failing'): Promise<void>
  /** Writes the event `webhook.overflowed`: from now on what waits longest is given up. */
  overflowed(tx: TenantTx, tenant: Tenant, webhookId: string, openMax: number): Promise<void>
}

// ── The outbox ──────────────────────────────────────────────────────────────────────────────────────────────

/** Something to tell. */
export interface OutgoingMessage {
  kind: string
  /** RFC 3339, UTC, six digits. */
  occurredAt: string
  data: JsonObject
  /** The record that `data` repeats something of: once that is erased, so is this. */
  recordId?: string
  /** The person it names, `usr_…` or `user:…`: as `recordId`. */
  userId?: string
  /** For these endpoints alone, whatever they name; else for all that want the kind, and the figures of an invocation. */
  webhookIds?: readonly string[]
}

/** What a transaction has to tell, kept exactly if it commits. */
export interface WebhookOutbox {
  /** Whether any enabled endpoint wants a kind: as the transaction sees them. */
  wanted(tx: TenantTx): Promise<(kind: string) => boolean>
  /** Wakes the workers once the transaction has committed. Nothing happens without messages. */
  add(tx: TenantTx, messages: readonly OutgoingMessage[]): Promise<void>
  /** The same as a step of an ingest transaction; call {@link queued} once it has committed. */
  step(tenantId: string, messages: readonly OutgoingMessage[]): IngestStep
  /** Something of the tenant waits. Never throws, and nobody waits for it. */
  queued(tenantId: string): void
}

// ── What is told ────────────────────────────────────────────────────────────────────────────────────────────

/** A governance event that was just written: by the service, or by a client (`custom.*`). */
export interface WrittenEvent {
  recordId: string
  createdAt: string
  createdBy: string
  provenanceHash: string
  kind: string
  subject: string | undefined
  details: JsonObject | undefined
}

/** Tells of governance events, and of what they say about people. */
export interface GovernanceNews {
  /** In the transaction that wrote them. One statement where no endpoint wants any. */
  written(tx: TenantTx, tenant: Tenant, events: readonly WrittenEvent[]): Promise<void>
}

/** An invocation as it was ingested. */
export interface IngestedEvent {
  recordId: string
  /** Of the record. */
  createdAt: string
  /** As in the record. */
  fields: Readonly<Record<string, JsonValue>>
  skillId: string
  archetypeId: string
  userId: string
  /** Its record is stored under the key of a Mode B tenant. */
  sealed: boolean
}

/** What the enabled endpoints of a tenant want to know of single invocations. */
export interface InvocationWatch {
  /** One message at most of an event and {@link InvocationEventKind}, however many endpoints want it. */
  messagesOf(events: readonly IngestedEvent[]): OutgoingMessage[]
}

export interface InvocationWatches {
  /** Of at most a second ago; undefined where no endpoint wants any. Costs no statement mostly. */
  of(tenantId: string): Promise<InvocationWatch | undefined>
  /** To be called after a commit that changed endpoints of the tenant. */
  changed(tenantId: string): void
}
