import type { FastifyInstance } from 'fastify'
import type { Database } from '../../db/database.ts'
import { cursorKeyPurpose } from '../../http/cursor.ts'
import { deriveKey } from '../../secrets/sealing.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { CatalogueChanged } from '../tenants/tenants-types.ts'
import { addRosterRoutes } from './roster-routes.ts'
import { createArchetypes } from './roster-service.ts'
import { archetypeIds } from './roster-store.ts'
import type { ArchetypeBundle, Archetypes } from './roster-types.ts'

export interface RosterModule {
  bundle: ArchetypeBundle
  archetypes: Archetypes
  routes(app: FastifyInstance): void
}

export function createRosterModule(deps: {
  database: Database
  masterKey: Buffer
  governance: GovernanceLog
  catalogueChanged: CatalogueChanged
}): RosterModule {
  const archetypes = createArchetypes({ ...deps, cursorKey: deriveKey(deps.masterKey, cursorKeyPurpose) })
  return {
    bundle: { allIds: archetypeIds },
    archetypes,
    routes: (app) => addRosterRoutes(app, archetypes),
  }
}
