import { hash, randomBytes } from 'node:crypto'
import { DomainError } from '../../../contract/domain-error.ts'
import { invitationsPerDay, magicLinkHours, signInMailsPerHour } from '../../../contract/limits.ts'
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
const paths: Record<LinkPurpose, string> = { welcome: 'welcome', sign_in: 'sign-in/link', invitation: 'invitation' }
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
      if (await hadEnough(tx, email, 'sign_in')) return undefined
      return issueAs(tx, tenant, { email, purpose: 'sign_in', token })
    },
    async invite(tx, tenant, email) {
      await lockMailedLinks(tx)
      if (await hadEnough(tx, email, 'invitation')) {
        throw tooMany(`This person was invited ${signInMailsPerHour} times within the hour.`, hourMs)
      }
      const since = formatTimestamp(Date.now() - 24 * hourMs)
      const today = await countLinks(tx, { purpose: 'invitation', since, max: invitationsPerDay })
      if (today >= invitationsPerDay) {
        throw tooMany(`The tenant has sent ${invitationsPerDay} invitations within 24 hours.`, 24 * hourMs)
      }
      await consumeAll(tx, { purpose: 'invitation', email }, formatTimestamp(Date.now()))
      return issueAs(tx, tenant, { email, purpose: 'invitation', token: newToken() })
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
    endOpen: (tx, purpose, email) => consumeAll(tx, { purpose, email }, formatTimestamp(Date.now())),
    async deleteExpired(tx) {
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

/** Returns whether the address has reached the hourly limit of links of that purpose. */
async function hadEnough(tx: TenantTx, email: string, purpose: LinkPurpose): Promise<boolean> {
  const since = formatTimestamp(Date.now() - hourMs)
  const mailed = await countLinks(tx, { email, purpose, since, max: signInMailsPerHour })
  return mailed >= signInMailsPerHour
}

function tooMany(detail: string, withinMs: number): DomainError {
  return new DomainError('rate-limited', `${detail} Try again later.`, { retryAfterSeconds: withinMs / 1000 })
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
