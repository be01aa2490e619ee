import { randomUUIDv7 } from 'node:crypto'

export const requestIdHeader = 'x-service-request-id'

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

/** Returns the client's unchanged UUIDv7 (RFC 9562), or a fresh one if it sent none or another text. */
export function requestIdOf(header: string | string[] | undefined): string {
  if (typeof header === 'string' && uuidV7.test(header)) return header
  return randomUUIDv7()
}
