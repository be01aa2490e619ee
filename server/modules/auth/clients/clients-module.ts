import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../config.ts'
import type { Database } from '../../../db/database.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import type { TokenKeys } from '../../keys/keys-types.ts'
import type { SignInUsers } from '../../roster/roster-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import { createLiveSessions } from '../sessions/live-sessions.ts'
import { RefreshFamilies } from '../sessions/refresh-families.ts'
import type { SessionEnds } from '../sessions/session-ends.ts'
import type { SessionService } from '../sessions/sessions-types.ts'
import { createClientAuthorizations } from './authorizations-service.ts'
import { createClientRegistrations } from './client-registrations.ts'
import { ClientTokenExchange } from './client-token-exchange.ts'
import { createClientTokens } from './client-tokens.ts'
import { addClientRoutes } from './clients-routes.ts'

export interface OAuthClients {
  exchange: ClientTokenExchange
  routes(app: FastifyInstance): void
}

/** Creates the endpoints by which people authorize OAuth clients. */
export function createOAuthClients(deps: {
  database: Database
  masterKey: Buffer
  keys: TokenKeys
  directory: TenantDirectory
  governance: GovernanceLog
  ends: SessionEnds
  users: SignInUsers
  sessions: Pick<SessionService, 'admit'>
  environment: Config['environment']
}): OAuthClients {
  const now = () => Date.now()
  const shared = { ...deps, now, live: createLiveSessions({ ...deps, now }) }
  const registrations = createClientRegistrations(deps)
  const tokens = createClientTokens(deps)
  const authorizations = createClientAuthorizations({ ...shared, codes: tokens })
  return {
    exchange: new ClientTokenExchange({ ...shared, registrations, tokens, families: new RefreshFamilies(shared) }),
    routes: (app) => addClientRoutes(app, { ...deps, registrations, authorizations }),
  }
}
