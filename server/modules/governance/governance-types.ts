import type { GovernanceKind } from '../../../contract/governance-kinds.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { WrittenEvent } from '../webhooks/webhooks-types.ts'

/** Who caused an event: a caller, whoever runs the Hub, or a part of the service that works by itself. */
export type Actor =
  | Pick<Caller, 'subject' | 'clientId' | 'address' | 'requestId'>
  | { operator: string; address?: string; requestId?: string }
  | { service: string }

export interface GovernanceEvent {
  /** A kind of interface section 6 or decisions section 10, such as `hub.record_purged`. */
  kind: GovernanceKind
  /** What it concerns: `record:<id>`, `skill:<id>`, `tenant:<slug>`, … */
  subject: string
  /** Never secrets. `actor`, `address` and `request_id` are added from the actor. */
  details?: Record<string, JsonValue>
  actor: Actor
}

/** Writes the service's own governance events, as records by `service:hub`. */
export interface GovernanceLog {
  /** Appends inside the transaction that causes the event, so that neither exists without the other. */
  append(tx: TenantTx, tenant: Tenant, event: GovernanceEvent): Promise<{ recordId: string }>
  /** The same for many at once, in their order: they share seals and statements. */
  appendAll(tx: TenantTx, tenant: Tenant, events: readonly GovernanceEvent[]): Promise<{ recordId: string }[]>
}

export interface ClientEvents {
  /** A client has just written an event of its own (`custom.*`): others are told of it like of the service's. */
  written(tx: TenantTx, tenant: Tenant, event: WrittenEvent): Promise<void>
}

/** A sign-in or an access that was refused. */
export interface Refusal {
  kind: 'auth.login_failed' | 'auth.access_refused'
  /** `service_account:<id>`, `user:<id>`, `tenant:<slug>`, … */
  subject: string
  /** A word or two in snake case, such as `wrong_secret`, `email_domain`, `scope`. */
  reason: string
  /** Of who was refused; empty where it is nobody's doing in particular. */
  address: string
  requestId: string
  /** Never secrets, never addresses of people. */
  details?: Record<string, JsonValue>
}

/**
 * Writes refusals as governance events of the tenant: the first of its kind, subject, reason and address at once,
 * those that repeat it within a minute together, with their count. It never throws and nobody waits for it.
 */
export interface RefusalLog {
  note(tenant: Tenant | Promise<Tenant | undefined>, refusal: Refusal): void
  /** Writes what is still held back. */
  settled(): Promise<void>
}
