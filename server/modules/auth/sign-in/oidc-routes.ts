import type { FastifyInstance } from 'fastify'
import type { Database } from '../../../db/database.ts'
import type { RefusalLog } from '../../governance/governance-types.ts'
import type { IdentityProviders } from '../../identity/identity-types.ts'
import type { SignInUsers } from '../../roster/roster-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { Sessions } from '../auth-types.ts'

export interface OidcSignInDeps {
  database: Database
  masterKey: Buffer
  directory: TenantDirectory
  providers: IdentityProviders
  users: SignInUsers
  sessions: Sessions
  refusals: RefusalLog
  browserUrl: () => string
}

export function addOidcRoutes(_app: FastifyInstance, _deps: OidcSignInDeps): void {}
