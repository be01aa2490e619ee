import { createHmac } from 'node:crypto'
import { deriveKey } from './encryption.ts'

/** The form of an address in a governance event, under the names of its members. */
export type RedactedUrl = { url: string; url_digest?: string }

/**
 * Redacts addresses for events. Many receivers have a secret in the path or the query, and events are permanent.
 *
 * @returns the origin and, if a path or query follows, a digest of the whole in 16 hexadecimal digits. Equal addresses
 * of a tenant have equal digests, so that a change is visible. Without the key nobody can test guesses against it.
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
