import type { JsonObject } from '../../../../provenance/json.ts'
import type { MessageBody } from '../delivery-types.ts'

/** The columns of a delivery that its message body contains. */
export interface MessageRow {
  message_id: string
  kind: string
  occurred_at: string
  sequence: number
  /** The JSON text; null once the data was erased. */
  data: string | null
}

/** Returns the body that is sent, and that the log of deliveries shows. It is the same at every attempt. */
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
