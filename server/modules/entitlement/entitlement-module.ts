import type { FastifyInstance } from 'fastify'
import type { Database } from '../../db/database.ts'
import { cursorKeyPurpose } from '../../http/cursor.ts'
import { deriveKey } from '../../secrets/encryption.ts'
import type { TenantSecrets } from '../cmek/cmek-types.ts'
import type { ErasureParticipant } from '../erasure/erasure-types.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { ReadableRecords, Records } from '../records/records-types.ts'
import type { ArchetypeBundle, UserReferences } from '../roster/roster-types.ts'
import type { CatalogueChanged } from '../tenants/tenants-types.ts'
import { addCheckRoutes } from './checks/checks-routes.ts'
import { createEntitlementChecks } from './checks/checks-service.ts'
import { createCoworkContents } from './coworks/cowork-contents.ts'
import { addCoworkRoutes } from './coworks/coworks-routes.ts'
import { createCoworks } from './coworks/coworks-service.ts'
import { addEntitlementRoutes } from './entitlement-routes.ts'
import { createSkills } from './entitlement-service.ts'
import type { ArchetypesRemoved, SkillGrants, SkillRegistry, SkillsChanged } from './entitlement-types.ts'
import { addGrantRoutes } from './grants/grants-routes.ts'
import { createGrants } from './grants/grants-service.ts'
import { createSkillGrants } from './grants/skill-grants.ts'
import { createSkillErasure } from './skill-erasure.ts'
import { createSkillRegistry } from './skill-registry.ts'

export interface EntitlementModule {
  registry: SkillRegistry
  grants: SkillGrants
  archetypesRemoved: ArchetypesRemoved
  /** Deletes the content of erased definitions. */
  erasure: ErasureParticipant
  routes(app: FastifyInstance): void
}

export function createEntitlementModule(deps: {
  database: Database
  masterKey: Buffer
  governance: GovernanceLog
  records: Records
  readable: ReadableRecords
  bundle: ArchetypeBundle
  references: UserReferences
  secrets: TenantSecrets
  catalogueChanged: CatalogueChanged
  skillsChanged: SkillsChanged
}): EntitlementModule {
  const cursorKey = deriveKey(deps.masterKey, cursorKeyPurpose)
  const skills = createSkills({ ...deps, cursorKey })
  const coworks = createCoworks({ ...deps, contents: createCoworkContents(deps.secrets), cursorKey })
  const grants = createGrants({ ...deps, cursorKey })
  const checks = createEntitlementChecks(deps)
  return {
    registry: createSkillRegistry(deps),
    grants: createSkillGrants(deps),
    archetypesRemoved: grants.archetypesRemoved,
    erasure: createSkillErasure(),
    routes: (app) => {
      addEntitlementRoutes(app, skills)
      addCoworkRoutes(app, coworks)
      addGrantRoutes(app, grants)
      addCheckRoutes(app, checks)
    },
  }
}
