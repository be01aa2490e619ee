import { DomainError } from '../../../../contract/domain-error.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { RefusalLog } from '../../governance/governance-types.ts'
import type { IdentityProviders } from '../../identity/identity-types.ts'
import type { LinkPurpose, OpenLink, SignInLinks } from '../../links/links-types.ts'
import type { SignInUsers, User } from '../../roster/roster-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { OpenedSession, Sessions, SignInMethod } from '../auth-types.ts'
import { maySignInByLink } from './link-rule.ts'

/** A link as it stands in an address. */
export interface LinkAddress {
  purpose: LinkPurpose
  tenant: string
  token: string
  /** The one tenant that is served where the link was opened, where that is a tenant's own address. */
  servedTenant: string | undefined
}

/** Who opens a link. */
interface Visitor {
  address: string
  requestId: string
  userAgent?: string | undefined
}

export interface LinkSignIn {
  /** What the link stands for, without using it up. Undefined when it does not open, for whatever reason. */
  look(link: LinkAddress): Promise<{ tenant: Tenant; link: OpenLink } | undefined>
  /** Uses the link up and opens a session. Undefined when it does not open, or its owner may not sign in by it. */
  signIn(link: LinkAddress, visitor: Visitor): Promise<{ tenant: Tenant; session: OpenedSession } | undefined>
}

const methods: Record<LinkPurpose, SignInMethod> = { welcome: 'welcome_link', sign_in: 'magic_link' }

/** Undoes the transaction: a link that signs nobody in is not used up. */
class Refused extends Error {
  readonly reason: string
  constructor(reason: string) {
    super(reason)
    this.reason = reason
  }
}

export function createLinkSignIn(deps: {
  database: Database
  directory: TenantDirectory
  links: SignInLinks
  users: SignInUsers
  providers: IdentityProviders
  sessions: Sessions
  refusals: RefusalLog
}): LinkSignIn {
  const { database, directory, links, users, refusals } = deps

  async function tenantOf({ tenant, servedTenant = tenant }: LinkAddress): Promise<Tenant | undefined> {
    return servedTenant === tenant ? directory.find(tenant) : undefined
  }

  async function ownerOf(tx: TenantTx, tenant: Tenant, { purpose, email }: OpenLink): Promise<User> {
    if (purpose === 'welcome') return users.ensure(tx, tenant, email, 'admin')
    const awaited = await users.awaitedAdministrator(tx, email)
    const user = await (awaited === undefined ? users.ofEmail(tx, email) : users.ensure(tx, tenant, email))
    if (!user) throw new Refused('deactivated')
    // The tenant may have got an identity provider since the link was mailed.
    if (!(await maySignInByLink(tx, user, deps.providers))) throw new Refused('identity_provider_only')
    return user
  }

  return {
    async look(address) {
      const tenant = await tenantOf(address)
      if (!tenant) return undefined
      const link = await database.withTenant(tenant.slug, (tx) => links.look(tx, address.token), { readOnly: true })
      return link?.purpose === address.purpose ? { tenant, link } : undefined
    },

    async signIn(address, visitor) {
      const tenant = await tenantOf(address)
      if (!tenant) return undefined
      try {
        const session = await database.withTenant(tenant.slug, async (tx) => {
          const link = await links.consume(tx, address.token)
          if (link?.purpose !== address.purpose) throw new Refused('link_not_open')
          const user = await ownerOf(tx, tenant, link)
          return deps.sessions.open(tx, tenant, { user, method: methods[link.purpose], ...visitor })
        })
        return { tenant, session }
      } catch (error) {
        const reason = reasonOf(error)
        if (reason === undefined) throw error
        const { address: from, requestId } = visitor
        const details = { method: methods[address.purpose] }
        const subject = `tenant:${tenant.slug}`
        refusals.note(tenant, { kind: 'auth.login_failed', subject, reason, address: from, requestId, details })
        return undefined
      }
    },
  }
}

/** Why the person may not sign in; undefined for failures of another kind. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof Refused) return error.reason
  if (!(error instanceof DomainError) || error.slug !== 'authentication-failed') return undefined
  return String(error.extensions.reason ?? 'refused')
}
