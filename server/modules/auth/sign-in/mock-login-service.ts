import { DomainError, invalidTenant, validationFailed } from '../../../../contract/domain-error.ts'
import { requireEmail } from '../../../../contract/email-address.ts'
import type { Config } from '../../../config.ts'
import type { Database } from '../../../db/database.ts'
import { isServedAt, type Tenant } from '../../../http/caller.ts'
import type { DenialRecorder } from '../../governance/governance-types.ts'
import type { SignInUsers } from '../../roster/roster-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { IssuedUserToken, OpenedSession, Sessions } from '../auth-types.ts'

export interface MockLogin {
  email: string
  tenant?: string | undefined
  /** The tenant of the host, if that is a tenant's own host. */
  hostTenant: Tenant | null
  address: string
  requestId: string
  userAgent?: string | undefined
}

export interface MockSignIn {
  session: OpenedSession
  issued: IssuedUserToken
}

const demoTenant = 'demo'

/** Creates a login as anyone, with the effects of a real login. Only called outside production. */
export function createMockLogin(deps: {
  database: Database
  directory: TenantDirectory
  users: SignInUsers
  sessions: Sessions
  denials: DenialRecorder
  environment: Config['environment']
}): (login: MockLogin) => Promise<MockSignIn> {
  const { database, directory, users, sessions } = deps

  async function tenantOf({ tenant: named, hostTenant }: MockLogin): Promise<Tenant> {
    if (named === undefined) return hostTenant ?? tenantWithoutName()
    const tenant = await directory.find(named)
    if (tenant && isServedAt(hostTenant?.slug, tenant)) return tenant
    throw invalidTenant(named)
  }

  /** Returns the only tenant, or in development the one of the first start. */
  async function tenantWithoutName(): Promise<Tenant> {
    const slugs = await directory.slugs()
    const hasDemo = deps.environment === 'development' && slugs.includes(demoTenant)
    const wanted = slugs.length === 1 ? slugs[0] : hasDemo ? demoTenant : undefined
    const tenant = wanted === undefined ? undefined : await directory.find(wanted)
    if (tenant && isServedAt(undefined, tenant)) return tenant
    throw validationFailed([{ pointer: '/tenant', detail: 'is required, because the Hub has several tenants' }])
  }

  return async (login) => {
    requireEmail(login.email)
    const tenant = await tenantOf(login)
    const { address, requestId, userAgent } = login
    try {
      const session = await database.withTenant(tenant.slug, async (tx) => {
        const user = await users.ensure(tx, tenant, login.email)
        return sessions.open(tx, tenant, { user, method: 'mock', address, requestId, userAgent })
      })
      return { session, issued: await sessions.firstToken(tenant, session) }
    } catch (error) {
      if (error instanceof DomainError && error.slug === 'authentication-failed') {
        const reason = String(error.extensions.reason ?? 'refused')
        const subject = `tenant:${tenant.slug}`
        const details = { method: 'mock' }
        deps.denials.note(tenant, { kind: 'auth.login_failed', subject, reason, address, requestId, details })
      }
      throw error
    }
  }
}
