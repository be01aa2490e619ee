import type { TenantTx } from '../../db/database.ts'

/** An event by which the sweeper verifies a row that grants access. */
export interface AccessEvidence {
  event_id: string
  subject: string
  /** A pattern that matches the text of a later event about the same subject that supersedes this one. */
  successor: string
}

/** Returns the events that no later event supersedes. Few events are released and purged, so each is looked up. */
export async function findReliedByAccess(tx: TenantTx, events: readonly AccessEvidence[]): Promise<Set<string>> {
  if (events.length === 0) return new Set()
  const { rows } = await tx.client.query<{ event_id: string }>(
    `select e.event_id from unnest($2::uuid[], $3::text[], $4::text[]) as e (event_id, subject, successor)
     where not exists (
       select from hub.records n where n.tenant_id = $1 and n.record_id > e.event_id
         and n.event_kind in ('connector.added', 'tenant.config_changed')
         and strpos(n.canonical, e.subject) > 0 and n.canonical ~ e.successor)`,
    [
      tx.tenantId,
      events.map((event) => event.event_id),
      events.map((event) => `"subject":${JSON.stringify(event.subject)}`),
      events.map((event) => event.successor),
    ],
  )
  return new Set(rows.map((row) => row.event_id))
}
