import type { JsonObject } from '../../../../provenance/json.ts'
import type { MessageBody } from '../delivery-types.ts'

/** What of a delivery stands in the body of its message. */
export interface MessageRow {
  message_id: string
  kind: string
  occurred_at: string
  sequence: number
  /** JSON; null once what it tells of was erased. */
  data: string | null
}

/** The body that is sent, and shown in the log of deliveries: the same at every attempt. */
export function messageBody(tenantSlug: string, row: MessageRow): MessageBody {
  return {
    id: row.message_id,
    kind: row.kind,
    tenant: tenantSlug,
    occurred_at: row.occurred_at,
    sequence: row.sequence,
    ...(row.data !== null && { data: JSON.parse(row.data) as JsonObject }),
  }
}
