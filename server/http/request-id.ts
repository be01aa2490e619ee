import { randomUUIDv7 } from 'node:crypto'

export const requestIdHeader = 'x-service-request-id'

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

/** The client's UUIDv7 (RFC 9562) as it was sent, or a fresh one when it sent none or something else. */
export function requestIdOf(header: string | string[] | undefined): string {
  if (typeof header === 'string' && uuidV7.test(header)) return header
  return randomUUIDv7()
}
