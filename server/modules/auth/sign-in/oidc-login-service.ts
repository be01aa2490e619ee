import { validationFailed } from '../../../../contract/domain-error.ts'
import { loginMinutes } from '../../../../contract/limits.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import { isServedAt, type Tenant } from '../../../http/caller.ts'
import { constantTimeEqual } from '../../../secrets/constant-time-equal.ts'
import type { DenialRecorder } from '../../governance/governance-types.ts'
import type { IdentityProviders, ProviderClaims } from '../../identity/identity-types.ts'
import type { SignInUsers } from '../../roster/roster-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { OpenedSession, Sessions } from '../auth-types.ts'
import { type Landing, returnPath } from './landing.ts'
import { clientRejected, noSuchLogin, notedReason, notOfThisLogin, usableEmail } from './oidc-errors.ts'
import { consumeLogin, deleteConsumedLogins } from './oidc-store.ts'
import { createLoginTransactions, type LoginTransaction, stateHash } from './oidc-transaction.ts'
import { placeholderTenant } from './placeholder-tenant.ts'

export interface LoginVisitor {
  address: string
  requestId: string
  userAgent?: string | undefined
  /** The host name that the browser used, without a port. */
  hostname: string
  /** Slug of the tenant whose own host was called. */
  hostTenant: string | undefined
}

export interface OidcLogin {
  /**
   * Returns the address to send the browser to, and the content of its cookie. Without a cookie, the browser used
   * another name of this machine than the provider knows, and is sent to the same login at that name. Throws the same
   * `invalid-tenant` for an unknown tenant, for one not served at this host and for one without an identity provider.
   */
  begin(
    wanted: { tenant: string | undefined; returnTo: string | undefined },
    visitor: LoginVisitor,
  ): Promise<BegunLogin>
  /**
   * Finishes a login. `sealed` is the cookie and `callback` the whole address that the browser came back to. Calls
   * `proven` once the person has proved their identity. Throws `validation-failed` for a callback that does not match
   * this login, and `authentication-failed` with a reason for a person who may not sign in.
   */
  finish(
    sealed: string | undefined,
    callback: URL,
    visitor: LoginVisitor,
    proven: (identity: string, tenantSlug: string) => Promise<void>,
  ): Promise<{ session: OpenedSession; location: string }>
  /** Deletes a batch of spent logins, as a chore. Returns true if there may be more. */
  deleteConsumed(tx: TenantTx): Promise<boolean>
}

export interface BegunLogin {
  location: string
  cookie?: string
  tenant: string
  /** Path of the login itself, at any host. */
  path: string
}

const forgottenAtOnce = 500
const loginPath = '/api/v1/auth/login'
const callbackPath = '/api/v1/auth/callback'

export function createOidcLogin(deps: {
  database: Database
  masterKey: Buffer
  directory: TenantDirectory
  providers: IdentityProviders
  users: SignInUsers
  sessions: Pick<Sessions, 'open'>
  denials: DenialRecorder
  landing: Landing
  /** Returns milliseconds since 1970. */
  now?: () => number
}): OidcLogin {
  const { database, directory, providers, denials } = deps
  const transactions = createLoginTransactions(deps.masterKey, deps.now)

  /** Consumes the login that the callback answers. It is over after this call, regardless of the result. */
  async function spend(sealed: string | undefined, callback: URL, { hostTenant }: LoginVisitor) {
    const login = sealed === undefined ? undefined : transactions.decrypt(sealed)
    const tenant = login && (await directory.find(login.tenant))
    if (!login || !tenant || !isServedAt(hostTenant, tenant)) {
      throw notOfThisLogin('must belong to a login that started in this browser less than ten minutes ago')
    }
    if (!constantTimeEqual(callback.searchParams.get('state') ?? '', login.state)) {
      throw notOfThisLogin('must be the state of the latest login in this browser')
    }
    const isFirst = await database.withTenant(tenant.slug, (tx) => consumeLogin(tx, stateHash(login.state)))
    if (!isFirst) throw notOfThisLogin('was already used')
    return { login, tenant }
  }

  async function prove(login: LoginTransaction, tenant: Tenant, callback: URL): Promise<ProviderClaims> {
    const provider = await providers.of(tenant)
    if (provider?.connectionId !== login.connectionId) {
      throw notOfThisLogin('belongs to an identity provider that has been replaced')
    }
    const claims = await provider.finish(callback, login, `${tenant.baseUrl}${callbackPath}`)
    return { ...claims, email: usableEmail(claims, provider) }
  }

  function noteRejection(tenant: Tenant, error: unknown, login: LoginTransaction, visitor: LoginVisitor): void {
    const reason = notedReason(error)
    if (reason === undefined) return
    denials.note(tenant, {
      kind: 'auth.login_failed',
      subject: `connection:${login.connectionId}`,
      reason,
      // No visitor causes the provider to reject the Hub, so all visitors share one event.
      address: reason === clientRejected ? '' : visitor.address,
      requestId: visitor.requestId,
      details: { method: 'oidc' },
    })
  }

  return {
    async begin({ tenant: slug = '', returnTo }, { hostTenant, hostname }) {
      const wanted = slug || hostTenant
      if (!wanted) throw validationFailed([{ pointer: '/query/tenant', detail: 'is required: the slug of the tenant' }])
      const found = await directory.read(wanted)
      const tenant = found && isServedAt(hostTenant, found) ? found : undefined
      const provider = await providers.of(tenant ?? placeholderTenant)
      if (!tenant || !provider) throw noSuchLogin(wanted)
      const returnsTo = returnPath(returnTo)
      const path = `${loginPath}?${new URLSearchParams({ tenant: tenant.slug, return_to: returnsTo })}`
      if (isOtherLoopback(hostname, tenant)) {
        return { location: `${tenant.baseUrl}${path}`, tenant: tenant.slug, path }
      }
      const { connectionId } = provider
      const login = transactions.begin({ tenant: tenant.slug, connectionId, returnTo: returnsTo })
      const location = await provider.loginUrl(login, `${tenant.baseUrl}${callbackPath}`)
      return { location: location.href, cookie: transactions.encrypt(login), tenant: tenant.slug, path }
    },

    async finish(sealed, callback, visitor, proven) {
      const { login, tenant } = await spend(sealed, callback, visitor)
      const { address, requestId, userAgent } = visitor
      try {
        const { connectionId, subject, email = '', displayName } = await prove(login, tenant, callback)
        await proven(`${connectionId} ${subject}`, tenant.slug)
        const session = await database.withTenant(tenant.slug, async (tx) => {
          const user = await deps.users.ofIdentity(tx, tenant, { connectionId, subject, email, displayName })
          return deps.sessions.open(tx, tenant, { user, method: 'oidc', connectionId, address, requestId, userAgent })
        })
        return { session, location: deps.landing(tenant, login.returnTo) }
      } catch (error) {
        noteRejection(tenant, error, login, visitor)
        throw error
      }
    },

    async deleteConsumed(tx) {
      return (await deleteConsumedLogins(tx, loginMinutes * 2, forgottenAtOnce)) === forgottenAtOnce
    },
  }
}

const loopbackNames = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Returns whether the browser uses another loopback name of this machine than the provider will send it back to: the
 * cookie would not follow. Checks loopback names only, since a proxy may have set any other name.
 */
function isOtherLoopback(hostname: string, tenant: Tenant): boolean {
  const home = new URL(tenant.baseUrl).hostname
  return hostname !== home && loopbackNames.has(hostname) && loopbackNames.has(home)
}
