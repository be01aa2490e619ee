import { hash, randomBytes } from 'node:crypto'
import { magicLinkHours } from '../../../contract/limits.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import { deleteLinks, hasLink, insertLink, linkByHash } from './links-store.ts'
import type { LinkPurpose, SignInLinks } from './links-types.ts'

/** base64url of 32 bytes. */
const tokenPattern = /^[A-Za-z0-9_-]{43}$/
const paths: Record<LinkPurpose, string> = { welcome: 'welcome', sign_in: 'sign-in/link' }
/** Kept beyond its end, for whoever asks why a link does not open any more. */
const keptMs = 7 * 24 * 3_600_000
const forgottenAtOnce = 1000

export function createSignInLinks(): SignInLinks {
  return {
    async issue(tx, tenant, email, purpose) {
      const token = randomBytes(32).toString('base64url')
      const now = Date.now()
      const expiresAt = formatTimestamp(now + magicLinkHours * 3_600_000)
      await insertLink(tx, {
        token_hash: hashOf(token),
        email,
        purpose,
        created_at: formatTimestamp(now),
        expires_at: expiresAt,
      })
      return { url: `${tenant.baseUrl}/${paths[purpose]}/${tenant.slug}/${token}`, expiresAt }
    },
    hasWelcomeLink: (tx) => hasLink(tx, 'welcome'),
    async look(tx, token) {
      const link = tokenPattern.test(token) ? await linkByHash(tx, hashOf(token)) : undefined
      if (!link || link.consumed_at !== null || Date.parse(link.expires_at) <= Date.now()) return undefined
      return { purpose: link.purpose as LinkPurpose, email: link.email, expiresAt: link.expires_at }
    },
    async consume() {
      throw new Error('not built yet')
    },
    async forgetExpired(tx) {
      const deleted = await deleteLinks(tx, formatTimestamp(Date.now() - keptMs), forgottenAtOnce)
      return deleted === forgottenAtOnce
    },
  }
}

function hashOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
