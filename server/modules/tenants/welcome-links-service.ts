import { hash, randomBytes } from 'node:crypto'
import { magicLinkHours } from '../../../contract/limits.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { Database, TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { TenantDirectory, WelcomeLink } from './tenants-types.ts'
import { deleteLinks, hasLink, insertLink, linkByHash } from './welcome-links-store.ts'

const purpose = 'welcome'
/** base64url of 32 bytes. */
const tokenPattern = /^[A-Za-z0-9_-]{43}$/

/** Kept beyond its end, for whoever asks why a link does not open any more. */
const keptMs = 7 * 24 * 3_600_000
const forgottenAtOnce = 1000

/** A link that opens for the administrator of a new tenant. Only its hash is kept. */
export async function issueWelcomeLink(tx: TenantTx, tenant: Tenant, email: string): Promise<WelcomeLink> {
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
  return { url: `${tenant.baseUrl}/welcome/${tenant.slug}/${token}`, expiresAt }
}

/** Whether the tenant was ever given a welcome link. */
export function hasWelcomeLink(tx: TenantTx): Promise<boolean> {
  return hasLink(tx, purpose)
}

/**
 * What a welcome link opens, or undefined when it is unknown, expired, used or another tenant's. Looking does not
 * use it up: mail scanners open links too.
 */
export type WelcomeLinkOpener = (
  slug: string,
  token: string,
) => Promise<{ tenant: Tenant; expiresAt: string } | undefined>

export function createWelcomeLinkOpener(deps: { database: Database; directory: TenantDirectory }): WelcomeLinkOpener {
  return async (slug, token) => {
    const tenant = tokenPattern.test(token) ? await deps.directory.find(slug) : undefined
    if (!tenant) return undefined
    const link = await deps.database.withTenant(slug, (tx) => linkByHash(tx, hashOf(token)), { readOnly: true })
    if (!link || link.purpose !== purpose || link.consumed_at !== null) return undefined
    return Date.parse(link.expires_at) > Date.now() ? { tenant, expiresAt: link.expires_at } : undefined
  }
}

/** Forgets links that expired a week ago; true when there may be more. */
export async function forgetExpiredLinks(tx: TenantTx): Promise<boolean> {
  const deleted = await deleteLinks(tx, formatTimestamp(Date.now() - keptMs), forgottenAtOnce)
  return deleted === forgottenAtOnce
}

function hashOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
