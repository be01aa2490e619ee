import type { MessageRow } from '../deliveries/message-body.ts'

/**
 * The body as it is sent: `messageBody` of the deliveries as compact JSON, without reading `data` again, which is
 * compact JSON already. Of a message whose data was erased nothing is sent.
 */
export function requestBody(tenantSlug: string, row: MessageRow & { data: string }): string {
  const { message_id, kind, occurred_at, sequence, data } = row
  // The others have no characters that JSON escapes; a kind is made of what clients name.
  return `{"id":"${message_id}","kind":${JSON.stringify(kind)},"tenant":${JSON.stringify(tenantSlug)},"occurred_at":"${occurred_at}","sequence":${sequence},"data":${data}}`
}
