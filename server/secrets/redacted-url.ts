import { createHmac } from 'node:crypto'
import { deriveKey } from './encryption.ts'

/** What a governance event says of an address, under the names of its members. */
export type RedactedUrl = { url: string; url_digest?: string }

/**
 * Addresses as events tell of them. Many receivers have their secret in the path or the query, and events stay for ever.
 *
 * @returns the origin, and where something follows it a digest of the whole, of 16 hex digits: the same for the same
 * address of the tenant, so that a change is seen. Who has no key cannot try out what it may be of.
 */
export function createUrlRedactor(masterKey: Buffer): (tenantId: string, url: string) => RedactedUrl {
  const key = deriveKey(masterKey, 'addresses in governance events')
  return (tenantId, url) => {
    const { origin = '', href = '' } = URL.parse(url) ?? {}
    if (href === `${origin}/`) return { url: origin }
    const digest = createHmac('sha256', key)
      .update(JSON.stringify([tenantId, url]))
      .digest('hex')
    return { url: origin, url_digest: digest.slice(0, 16) }
  }
}
