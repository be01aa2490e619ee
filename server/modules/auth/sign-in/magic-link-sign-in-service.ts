import { DomainError } from '../../../../contract/domain-error.ts'
import { type Database, readTenant, type TenantTx } from '../../../db/database.ts'
import { isServedAt, type Tenant } from '../../../http/caller.ts'
import type { DenialRecorder } from '../../governance/governance-types.ts'
import type { IdentityProviders } from '../../identity/identity-types.ts'
import type { KnownLink, LinkPurpose, OpenLink, SignInLinks } from '../../links/links-types.ts'
import type { SignInUsers, User } from '../../roster/roster-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { OpenedSession, Sessions, SignInMethod } from '../auth-types.ts'
import { placeholderTenant } from './placeholder-tenant.ts'

/** The parts of a link's address. */
export interface LinkAddress {
  purpose: LinkPurpose
  tenant: string
  token: string
  /** Slug of the tenant whose own host the link was opened at. */
  hostTenant: string | undefined
}

/** The visitor who opens a link. */
interface Visitor {
  address: string
  requestId: string
  userAgent?: string | undefined
}

export interface MagicLinkSignIn {
  /**
   * Returns the tenant and the content of a link without consuming it; undefined if it does not open for any reason.
   */
  look(link: LinkAddress): Promise<{ tenant: Tenant; link: OpenLink } | undefined>
  /** Consumes the link and opens a session. Returns undefined if the link does not open or its owner may not use it. */
  signIn(link: LinkAddress, visitor: Visitor): Promise<{ tenant: Tenant; session: OpenedSession } | undefined>
}

const methods: Record<LinkPurpose, SignInMethod> = {
  welcome: 'welcome_link',
  sign_in: 'magic_link',
  invitation: 'magic_link',
}

/** Rolls back the transaction: a link that signs nobody in is not consumed. */
class Refused extends Error {
  readonly reason: string
  constructor(reason: string) {
    super(reason)
    this.reason = reason
  }
}

export function createMagicLinkSignIn(deps: {
  database: Database
  directory: TenantDirectory
  links: SignInLinks
  users: SignInUsers
  providers: IdentityProviders
  sessions: Sessions
  denials: DenialRecorder
}): MagicLinkSignIn {
  const { database, directory, links, users, denials } = deps

  /** Finds a link. An unknown tenant takes as long as an unknown link. */
  async function known(address: LinkAddress): Promise<{ tenant: Tenant; link: KnownLink } | undefined> {
    const { purpose, token, hostTenant } = address
    const found = await directory.read(address.tenant)
    const tenant = found && isServedAt(hostTenant, found) ? found : undefined
    const look = (tx: TenantTx) => links.look(tx, token)
    const link = await readTenant(database, (tenant ?? placeholderTenant).slug, look)
    return tenant && link && { tenant, link: { ...link, isOpen: link.isOpen && link.purpose === purpose } }
  }

  async function ownerOf(tx: TenantTx, tenant: Tenant, { purpose, email }: OpenLink): Promise<User> {
    if (purpose === 'welcome') return users.ensure(tx, tenant, email, 'admin')
    if (purpose === 'invitation') return invited(tx, email)
    const awaited = await users.awaitedAdministrator(tx, email)
    const user = await (awaited === undefined ? users.ofEmail(tx, email) : users.ensure(tx, tenant, email))
    if (!user) throw new Refused('deactivated')
    // The tenant may have configured an identity provider since the link was mailed.
    if (!(await allowsMagicLink(tx, user, deps.providers))) throw new Refused('identity_provider_only')
    return user
  }

  /** Returns the owner of an invitation, which an administrator has seen: it opens the first session and no other. */
  async function invited(tx: TenantTx, email: string): Promise<User> {
    const user = await users.ofEmail(tx, email)
    if (!user) throw new Refused('deactivated')
    if (user.hasSignedIn) throw new Refused('link_not_open')
    if (await deps.providers.isConfigured(tx)) throw new Refused('identity_provider_only')
    return user
  }

  async function openSession(tenant: Tenant, { token }: LinkAddress, visitor: Visitor): Promise<OpenedSession> {
    return database.withTenant(tenant.slug, async (tx) => {
      const link = await links.consume(tx, token)
      if (!link) throw new Refused('link_not_open')
      const user = await ownerOf(tx, tenant, link)
      return deps.sessions.open(tx, tenant, { user, method: methods[link.purpose], ...visitor })
    })
  }

  return {
    async look(address) {
      const found = await known(address)
      return found?.link.isOpen ? found : undefined
    },

    async signIn(address, visitor) {
      const found = await known(address)
      // A link that never existed is not recorded: anybody can make one up.
      if (!found) return undefined
      const { tenant, link } = found
      try {
        // Checked before the transaction, so repeated attempts with a closed link lock no row.
        if (!link.isOpen) throw new Refused('link_not_open')
        return { tenant, session: await openSession(tenant, address, visitor) }
      } catch (error) {
        const reason = reasonOf(error)
        if (reason === undefined) throw error
        const { address: from, requestId } = visitor
        const details = { method: methods[address.purpose] }
        const subject = `tenant:${tenant.slug}`
        denials.note(tenant, { kind: 'auth.login_failed', subject, reason, address: from, requestId, details })
        return undefined
      }
    },
  }
}

/** Returns the reason why the person may not sign in; undefined for other failures. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof Refused) return error.reason
  if (!(error instanceof DomainError) || error.slug !== 'authentication-failed') return undefined
  return String(error.extensions.reason ?? 'refused')
}

/**
 * Returns whether the person may sign in by a mailed link. An identity provider of the tenant controls access, with
 * second factors and the company's joiners and leavers; a link would bypass it. Administrators may still use links,
 * since somebody must be able to repair a broken provider or configuration.
 */
export async function allowsMagicLink(
  tx: TenantTx,
  user: Pick<User, 'active' | 'role'>,
  providers: IdentityProviders,
): Promise<boolean> {
  if (!user.active) return false
  return user.role === 'admin' || !(await providers.isConfigured(tx))
}
