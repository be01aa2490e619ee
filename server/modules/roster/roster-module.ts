import type { FastifyInstance } from 'fastify'
import type { TenantTx } from '../../db/database.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { deriveKey } from '../../secrets/encryption.ts'
import type { TokenRevoker } from '../auth/auth-types.ts'
import { createDirectory, createFormerAddressKey } from './directory/directory-service.ts'
import { createGroupArchetypes } from './directory/group-archetypes.ts'
import { createGroups } from './directory/groups-service.ts'
import { mappingOf } from './directory/user-archetypes-store.ts'
import { resolveUsers } from './directory/user-references-store.ts'
import { addGroupRoutes, addRosterRoutes } from './roster-routes.ts'
import { createArchetypes } from './roster-service.ts'
import { archetypeIds } from './roster-store.ts'
import { createSyncModule, type SyncModuleParts } from './sync/sync-module.ts'
import { createPersonalArchetypes } from './users/personal-archetypes.ts'
import { RosterSignIn } from './users/sign-in-service.ts'
import { createUserChanges } from './users/user-changes.ts'
import { profilesOf } from './users/user-profiles-store.ts'
import { addPersonalArchetypeRoutes, addUserRoutes } from './users/users-routes.ts'
import { createUsers } from './users/users-service.ts'

/** `deriveKey` purpose of the key for comparing addresses of removed people. */
const formerAddressPurpose = 'former addresses'

export function createRosterModule(
  deps: SyncModuleParts &
    Pick<ModuleParts, 'masterKey' | 'cursorKey' | 'events'> & {
      revoker: TokenRevoker
      /** Returns the address of the administrator the tenant was created for. */
      adminEmail: (tx: TenantTx) => Promise<string | undefined>
    },
) {
  const formerAddressKey = createFormerAddressKey(deriveKey(deps.masterKey, formerAddressPurpose))
  const assignment = createGroupArchetypes({ mappingOf, bundleOf: archetypeIds })
  const settleLater = (tx: TenantTx): Promise<void> => sync.settleLater(tx)
  const directory = createDirectory({ ...deps, assignment, formerAddressKey, settleLater })
  const sync = createSyncModule({ ...deps, directory })
  const archetypes = createArchetypes({ ...deps, assignment, settle: sync.upkeep.settle })
  const changes = createUserChanges(deps)
  const users = createUsers({ ...deps, changes })
  const groups = createGroups({ ...deps, assignment })
  const personalArchetypes = createPersonalArchetypes({ ...deps, assignment, bundleOf: archetypeIds })
  return {
    bundle: { allIds: archetypeIds },
    archetypes,
    directory,
    references: { resolveUsers },
    profiles: { ofUsers: profilesOf },
    signInUsers: new RosterSignIn({ changes, adminEmail: deps.adminEmail, formerAddressKey }),
    sync,
    routes: (app: FastifyInstance) => {
      sync.routes(app)
      addRosterRoutes(app, archetypes)
      addUserRoutes(app, users)
      addPersonalArchetypeRoutes(app, personalArchetypes)
      addGroupRoutes(app, groups)
    },
  }
}
