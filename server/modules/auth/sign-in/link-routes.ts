import type { FastifyInstance } from 'fastify'
import type { Database, DatabaseLog } from '../../../db/database.ts'
import type { JobSender } from '../../../jobs/job-sender.ts'
import type { Mailer } from '../../../mail/mailer.ts'
import type { RefusalLog } from '../../governance/governance-types.ts'
import type { IdentityProviders } from '../../identity/identity-types.ts'
import type { SignInLinks } from '../../links/links-types.ts'
import type { SignInUsers } from '../../roster/roster-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { Sessions } from '../auth-types.ts'

export interface LinkSignInDeps {
  database: Database
  masterKey: Buffer
  directory: TenantDirectory
  providers: IdentityProviders
  users: SignInUsers
  sessions: Sessions
  links: SignInLinks
  mailer: Mailer
  jobSender: JobSender
  refusals: RefusalLog
  log: DatabaseLog
}

export function addLinkRoutes(_app: FastifyInstance, _deps: LinkSignInDeps): void {}
