import { hash, randomBytes } from 'node:crypto'
import { magicLinkHours, signInMailsPerHour } from '../../../contract/limits.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import {
  consumeAll,
  consumeLink,
  countLinks,
  deleteLinks,
  hasLink,
  insertLink,
  type LinkRow,
  linkByHash,
  lockMailedLinks,
} from './links-store.ts'
import type { IssuedLink, LinkPurpose, OpenLink, SignInLinks } from './links-types.ts'

/** Matches base64url of 32 bytes. */
const tokenPattern = /^[A-Za-z0-9_-]{43}$/
const paths: Record<LinkPurpose, string> = { welcome: 'welcome', sign_in: 'sign-in/link' }
const hourMs = 3_600_000
/** Milliseconds to keep an expired link, to explain why it no longer opens. */
const keptMs = 7 * 24 * hourMs
const forgottenAtOnce = 1000

export function createSignInLinks(): SignInLinks {
  return {
    issue: (tx, tenant, email, purpose) => issueAs(tx, tenant, { email, purpose, token: newToken() }),
    newToken,
    async issueForMail(tx, tenant, email, token) {
      await lockMailedLinks(tx)
      const made = await linkByHash(tx, hashOf(token))
      if (made) return isOpen(made) ? linkOf(tenant, made, token) : undefined
      if (await hadEnough(tx, email)) return undefined
      return issueAs(tx, tenant, { email, purpose: 'sign_in', token })
    },
    hasWelcomeLink: (tx) => hasLink(tx, 'welcome'),
    async look(tx, token) {
      const link = tokenPattern.test(token) ? await linkByHash(tx, hashOf(token)) : undefined
      return link && { ...opened(link), isOpen: isOpen(link) }
    },
    async consume(tx, token) {
      if (!tokenPattern.test(token)) return undefined
      const link = await consumeLink(tx, hashOf(token), formatTimestamp(Date.now()))
      return link && opened(link)
    },
    endOpen: (tx, purpose) => consumeAll(tx, purpose, formatTimestamp(Date.now())),
    async forgetExpired(tx) {
      const deleted = await deleteLinks(tx, formatTimestamp(Date.now() - keptMs), forgottenAtOnce)
      return deleted === forgottenAtOnce
    },
  }
}

async function issueAs(
  tx: TenantTx,
  tenant: Tenant,
  { email, purpose, token }: { email: string; purpose: LinkPurpose; token: string },
): Promise<IssuedLink> {
  const now = Date.now()
  const row = {
    token_hash: hashOf(token),
    email,
    purpose,
    created_at: formatTimestamp(now),
    expires_at: formatTimestamp(now + magicLinkHours * hourMs),
  }
  await insertLink(tx, row)
  return linkOf(tenant, row, token)
}

/** Returns whether the address has reached the hourly limit of mails. Each mailed link stays valid. */
async function hadEnough(tx: TenantTx, email: string): Promise<boolean> {
  const since = formatTimestamp(Date.now() - hourMs)
  const mailed = await countLinks(tx, { email, purpose: 'sign_in', since, max: signInMailsPerHour })
  return mailed >= signInMailsPerHour
}

function linkOf(tenant: Tenant, row: Pick<LinkRow, 'purpose' | 'expires_at'>, token: string): IssuedLink {
  const path = paths[row.purpose as LinkPurpose]
  return { url: `${tenant.baseUrl}/${path}/${tenant.slug}/${token}`, expiresAt: row.expires_at }
}

function isOpen(link: LinkRow): boolean {
  return link.consumed_at === null && Date.parse(link.expires_at) > Date.now()
}

function opened(link: LinkRow): OpenLink {
  return { purpose: link.purpose as LinkPurpose, email: link.email, expiresAt: link.expires_at }
}

function hashOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

function newToken(): string {
  return randomBytes(32).toString('base64url')
}
