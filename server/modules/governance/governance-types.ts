import type { JsonValue } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'

/** Who caused an event: a caller, whoever runs the Hub, or a part of the service that works by itself. */
export type Actor =
  | Pick<Caller, 'subject' | 'clientId' | 'address' | 'requestId'>
  | { operator: string }
  | { service: string }

interface GovernanceEvent {
  /** A kind of interface section 6 or decisions section 10, such as `hub.record_purged`. */
  kind: string
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
}
