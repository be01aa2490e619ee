import type { FastifyInstance } from 'fastify'
import type { Database, TenantTx } from '../../db/database.ts'
import { cursorKeyPurpose } from '../../http/cursor.ts'
import { deriveKey } from '../../secrets/sealing.ts'
import type { TokenRevoker } from '../auth/auth-types.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { CatalogueChanged } from '../tenants/tenants-types.ts'
import { addRosterRoutes } from './roster-routes.ts'
import { createArchetypes } from './roster-service.ts'
import { archetypeIds } from './roster-store.ts'
import type { ArchetypeBundle, Archetypes, SignInUsers } from './roster-types.ts'
import { createSignInUsers } from './users/sign-in-service.ts'
import { createUserChanges } from './users/user-changes.ts'
import { addUserRoutes } from './users/users-routes.ts'
import { createUsers } from './users/users-service.ts'

export interface RosterModule {
  bundle: ArchetypeBundle
  archetypes: Archetypes
  signInUsers: SignInUsers
  routes(app: FastifyInstance): void
}

export function createRosterModule(deps: {
  database: Database
  masterKey: Buffer
  governance: GovernanceLog
  revoker: TokenRevoker
  /** Ends every session of a person who may no longer have one. */
  endSessions: (tx: TenantTx, userId: string) => Promise<void>
  /** Whom the tenant was created for. */
  adminEmail: (tx: TenantTx) => Promise<string | undefined>
  catalogueChanged: CatalogueChanged
}): RosterModule {
  const cursorKey = deriveKey(deps.masterKey, cursorKeyPurpose)
  const archetypes = createArchetypes({ ...deps, cursorKey })
  const changes = createUserChanges(deps)
  const users = createUsers({ ...deps, changes, cursorKey })
  return {
    bundle: { allIds: archetypeIds },
    archetypes,
    signInUsers: createSignInUsers({ changes, adminEmail: deps.adminEmail }),
    routes: (app) => {
      addRosterRoutes(app, archetypes)
      addUserRoutes(app, users)
    },
  }
}
