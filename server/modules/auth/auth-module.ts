import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config.ts'
import type { Database, DatabaseLog } from '../../db/database.ts'
import type { EventBus } from '../../event-bus.ts'
import { type AccessControl, type AccessDenial, agentDetails, type TokenClaims } from '../../http/caller.ts'
import { cursorKeyPurpose } from '../../http/cursor.ts'
import type { TenantChore } from '../../jobs/housekeeping.ts'
import type { JobSender } from '../../jobs/job-sender.ts'
import type { JobDefinition } from '../../jobs/queue.ts'
import type { Mailer } from '../../mail/mailer.ts'
import { deriveKey } from '../../secrets/encryption.ts'
import type { DenialRecorder, GovernanceLog } from '../governance/governance-types.ts'
import type { IdentityProviders } from '../identity/identity-types.ts'
import type { TokenKeys } from '../keys/keys-types.ts'
import type { SignInLinks } from '../links/links-types.ts'
import type { SignInUsers } from '../roster/roster-types.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import { addAuthRoutes } from './auth-routes.ts'
import type { BasicAuthenticator, Revocations, ServiceAccounts, Sessions } from './auth-types.ts'
import { createOAuthClients } from './clients/clients-module.ts'
import { addInvitationRoutes } from './invitations/invitations-routes.ts'
import { createInvitations } from './invitations/invitations-service.ts'
import { createClientDirectory } from './service-accounts/client-directory.ts'
import { addServiceAccountRoutes } from './service-accounts/service-accounts-routes.ts'
import { ServiceAccountAdministration } from './service-accounts/service-accounts-service.ts'
import { readAccount } from './service-accounts/service-accounts-store.ts'
import { SessionEnds } from './sessions/session-ends.ts'
import { addSessionRoutes } from './sessions/sessions-routes.ts'
import { createSessions } from './sessions/sessions-service.ts'
import { createUserSessions } from './sessions/user-sessions.ts'
import { addUserSessionRoutes } from './sessions/user-sessions-routes.ts'
import { createLanding } from './sign-in/landing.ts'
import { createMagicLinkRequests } from './sign-in/magic-link-requests-service.ts'
import { addMagicLinkRoutes } from './sign-in/magic-link-routes.ts'
import { createMagicLinkSignIn } from './sign-in/magic-link-sign-in-service.ts'
import { addMockLoginRoutes } from './sign-in/mock-login-routes.ts'
import { createMockLogin } from './sign-in/mock-login-service.ts'
import { createOidcLogin } from './sign-in/oidc-login-service.ts'
import { addOidcRoutes } from './sign-in/oidc-routes.ts'
import { addSignInPages } from './sign-in/sign-in-routes.ts'
import { createTokenService } from './tokens/token-service.ts'
import { createTokenVerifier } from './tokens/token-verifier.ts'

export interface AuthModule {
  /** Access control that the HTTP layer applies to every request. */
  access: AccessControl
  basic: BasicAuthenticator
  serviceAccounts: ServiceAccounts
  sessions: Sessions
  jobs: readonly JobDefinition[]
  chores: readonly TenantChore[]
  routes(app: FastifyInstance): void
}

export interface AuthModuleDeps {
  database: Database
  masterKey: Buffer
  keys: TokenKeys
  directory: TenantDirectory
  governance: GovernanceLog
  events: EventBus
  denials: DenialRecorder
  revocations: Revocations
  users: SignInUsers
  providers: IdentityProviders
  links: SignInLinks
  mailer: Mailer
  jobSender: JobSender
  environment: Config['environment']
  /** Returns the address of the web UI without a trailing slash. It is known only once the service listens. */
  browserUrl: () => string
  log: DatabaseLog
}

export function createAuthModule(deps: AuthModuleDeps): AuthModule {
  const { directory } = deps
  const secretsKey = deriveKey(deps.masterKey, 'service account secrets')
  const clients = createClientDirectory(deps)
  const authenticate = createTokenVerifier(deps)
  const tokens = createTokenService({ ...deps, clients, secretsKey })
  const cursorKey = deriveKey(deps.masterKey, cursorKeyPurpose)
  const serviceAccounts = new ServiceAccountAdministration({ ...deps, clients, secretsKey, cursorKey })
  const ends = new SessionEnds({ ...deps, revoker: deps.revocations, now: () => Date.now() })
  const sessions = createSessions({
    ...deps,
    ends,
    authenticate,
    accountName: async (tx, clientId) => (await readAccount(tx, clientId))?.name,
  })
  deps.events.onInTransaction('userDeactivated', (tx, { tenant, userId, actor }) =>
    ends.endAll(tx, tenant, userId, { actor, reason: 'deactivated' }),
  )
  const oauthClients = createOAuthClients({ ...deps, ends, sessions })
  const linkRequests = createMagicLinkRequests(deps)
  const linkSignIn = createMagicLinkSignIn({ ...deps, sessions })
  const invitations = createInvitations(deps)
  const landing = createLanding(deps)
  const oidcLogin = createOidcLogin({ ...deps, sessions, landing })
  const mockLogin = deps.environment !== 'production'
  return {
    access: {
      authenticate,
      findTenant: (slug) => directory.find(slug),
      tenantAt: (host) => directory.atHost(host),
      refused: createAccessDenials(deps),
    },
    basic: tokens,
    serviceAccounts,
    sessions,
    jobs: [linkRequests.job, invitations.job],
    chores: [
      { name: 'delete expired sessions', run: (tx) => sessions.deleteExpired(tx) },
      { name: 'delete expired logins', run: (tx) => oidcLogin.deleteConsumed(tx) },
    ],
    routes: (app) => {
      addAuthRoutes(app, { tokens, directory, clients: oauthClients.exchange })
      oauthClients.routes(app)
      addSessionRoutes(app, sessions)
      addUserSessionRoutes(app, createUserSessions({ ...deps, ends, cursorKey }))
      addOidcRoutes(app, oidcLogin)
      addMagicLinkRoutes(app, { requests: linkRequests, signIn: linkSignIn, landing, mailer: deps.mailer })
      addInvitationRoutes(app, invitations)
      if (mockLogin) addMockLoginRoutes(app, createMockLogin({ ...deps, sessions }))
      addSignInPages(app, { ...deps, mockLogin, landing })
      addServiceAccountRoutes(app, serviceAccounts)
    },
  }
}

/** Records a rejected access for the tenant of the token, never for the requested tenant. */
function createAccessDenials(deps: { directory: TenantDirectory; denials: DenialRecorder }) {
  return ({ claims, reason, details: asked, address, requestId }: AccessDenial): void => {
    const tenant = deps.directory.find(claims.tenantSlug)
    const subject = subjectOf(claims)
    const details = { ...asked, ...agentDetails(claims) }
    deps.denials.note(tenant, { kind: 'auth.access_refused', subject, reason, details, address, requestId })
  }
}

/**
 * Returns the subject of the event. A service account is its own subject; in the tokens of people the client is the web
 * UI.
 */
function subjectOf({ subject, clientId }: TokenClaims): string {
  return subject === clientId ? `service_account:${clientId}` : `user:${subject}`
}
