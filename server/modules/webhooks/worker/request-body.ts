import type { MessageRow } from '../deliveries/message-body.ts'

/**
 * Returns the body that is sent: `messageBody` of the deliveries as compact JSON. It does not parse `data`, which is
 * compact JSON already. A message whose data was erased is not sent.
 */
export function requestBody(tenantSlug: string, row: MessageRow & { data: string }): string {
  const { message_id, kind, occurred_at, sequence, data } = row
  // The other members have no characters that JSON escapes; a kind contains names by clients.
  return `{"id":"${message_id}","kind":${JSON.stringify(kind)},"tenant":${JSON.stringify(tenantSlug)},"occurred_at":"${occurred_at}","sequence":${sequence},"data":${data}}`
}
