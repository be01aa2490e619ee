import type { JsonObject } from '../../../../provenance/json.ts'
import type { DeliveryAnswer, DeliveryDetails } from '../delivery-types.ts'
import type { DeliveryRow, DetailedRow } from './deliveries-store.ts'

/** Converts a row to the names of the response, with only the last attempt. */
export function toDeliveryResponse(row: DeliveryRow): DeliveryAnswer {
  return {
    delivery_id: row.delivery_id,
    webhook_id: row.webhook_id,
    message_id: row.message_id,
    kind: row.kind,
    sequence: row.sequence,
    status: row.status,
    occurred_at: row.occurred_at,
    created_at: row.created_at,
    attempt_count: row.attempt_count,
    ...(row.next_attempt_at !== null && { next_attempt_at: row.next_attempt_at }),
    ...(row.delivered_at !== null && { delivered_at: row.delivered_at }),
    ...(row.last_attempt && { last_attempt: row.last_attempt }),
  }
}

/** Adds the body and all stored attempts. */
export function deliveryDetails(tenantSlug: string, row: DetailedRow): DeliveryDetails {
  return { ...toDeliveryResponse(row), body: messageBody(tenantSlug, row), attempts: row.attempts }
}

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
export function messageBody(tenantSlug: string, row: MessageRow): DeliveryDetails['body'] {
  return {
    id: row.message_id,
    kind: row.kind,
    tenant: tenantSlug,
    occurred_at: row.occurred_at,
    sequence: row.sequence,
    ...(row.data !== null && { data: JSON.parse(row.data) as JsonObject }),
  }
}
