import type { GovernanceKind } from '../../../contract/governance-kinds.ts'
import type { JsonObject, JsonValue } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'

/** Identifies who caused an event: a caller, an operator of the Hub, or a background service. */
export type Actor =
  | Pick<Caller, 'subject' | 'clientId' | 'address' | 'requestId' | 'clientName' | 'sessionId'>
  | { operator: string; address?: string; requestId?: string }
  | { service: string }

export interface GovernanceEvent {
  /** A kind of interface section 6 or decisions section 10, such as `hub.record_purged`. */
  kind: GovernanceKind
  /** The object it concerns: `record:<id>`, `skill:<id>`, `tenant:<slug>`, … */
  subject: string
  /** Never secrets. `actor`, `agent`, `address` and `request_id` are added from the actor. */
  details?: Record<string, JsonValue>
  actor: Actor
}

/** Writes the service's own governance events, as records by `service:hub`. */
export interface GovernanceLog {
  /** Appends inside the transaction that causes the event, so that neither exists without the other. */
  append(tx: TenantTx, tenant: Tenant, event: GovernanceEvent): Promise<{ recordId: string }>
  /** Appends several events in the given order. They share seals and statements. */
  appendAll(tx: TenantTx, tenant: Tenant, events: readonly GovernanceEvent[]): Promise<{ recordId: string }[]>
}

/** A governance event that was just written by the service, or by a client (`custom.*`). */
export interface WrittenEvent {
  recordId: string
  createdAt: string
  createdBy: string
  provenanceHash: string
  kind: string
  subject: string | undefined
  details: JsonObject | undefined
}

export interface ClientEvents {
  /** Publishes events that a client has just written (`custom.*`), like the service's own events. */
  written(tx: TenantTx, tenant: Tenant, ...events: readonly WrittenEvent[]): Promise<void>
}

/** Describes a refused sign-in or access. */
export interface Denial {
  kind: 'auth.login_failed' | 'auth.access_refused'
  /** `service_account:<id>`, `user:<id>`, `tenant:<slug>`, … */
  subject: string
  /** A short reason in snake case, such as `wrong_secret`, `email_domain`, `scope`. */
  reason: string
  /** The client's address; empty if no single client caused the denial. */
  address: string
  requestId: string
  /** Never secrets, never addresses of people. */
  details?: Record<string, JsonValue>
}

/**
 * Writes denials as governance events of the tenant. The first of its kind, subject, reason and address is written at
 * once; repetitions within a minute are written as one event with their count. Never throws, and callers do not wait
 * for it.
 */
export interface DenialRecorder {
  note(tenant: Tenant | Promise<Tenant | undefined>, denial: Denial): void
  /** Writes pending denials. Resolves when all are stored. */
  settled(): Promise<void>
}
