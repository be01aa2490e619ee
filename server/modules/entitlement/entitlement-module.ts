import type { FastifyInstance } from 'fastify'
import type { Database } from '../../db/database.ts'
import { cursorKeyPurpose } from '../../http/cursor.ts'
import { deriveKey } from '../../secrets/sealing.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { ErasureParticipant } from '../hub/erasure/erasure-types.ts'
import type { ReadableRecords } from '../hub/hub-types.ts'
import type { CatalogueChanged } from '../tenants/tenants-types.ts'
import { addEntitlementRoutes } from './entitlement-routes.ts'
import { createSkills } from './entitlement-service.ts'
import type { SkillRegistry } from './entitlement-types.ts'
import { createSkillGrants } from './grants/skill-grants.ts'
import type { SkillGrants } from './grants-types.ts'
import { createSkillErasure } from './skill-erasure.ts'
import { createSkillRegistry } from './skill-registry.ts'

export interface EntitlementModule {
  registry: SkillRegistry
  grants: SkillGrants
  /** Forgets the names of erased versions. */
  erasure: ErasureParticipant
  routes(app: FastifyInstance): void
}

export function createEntitlementModule(deps: {
  database: Database
  masterKey: Buffer
  governance: GovernanceLog
  readable: ReadableRecords
  catalogueChanged: CatalogueChanged
}): EntitlementModule {
  const skills = createSkills({ ...deps, cursorKey: deriveKey(deps.masterKey, cursorKeyPurpose) })
  return {
    registry: createSkillRegistry(deps),
    grants: createSkillGrants(deps),
    erasure: createSkillErasure(),
    routes: (app) => addEntitlementRoutes(app, skills),
  }
}
