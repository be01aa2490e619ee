import type { FastifyInstance } from 'fastify'
import type { Database } from '../../db/database.ts'
import { cursorKeyPurpose } from '../../http/cursor.ts'
import { deriveKey } from '../../secrets/sealing.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { ErasureParticipant } from '../hub/erasure/erasure-types.ts'
import type { CatalogueChanged } from '../tenants/tenants-types.ts'
import { addEntitlementRoutes } from './entitlement-routes.ts'
import { createSkills } from './entitlement-service.ts'
import type { SkillRegistry } from './entitlement-types.ts'
import { createSkillErasure } from './skill-erasure.ts'
import { createSkillRegistry } from './skill-registry.ts'

export interface EntitlementModule {
  registry: SkillRegistry
  /** Forgets the names of erased versions. */
  erasure: ErasureParticipant
  routes(app: FastifyInstance): void
}

export function createEntitlementModule(deps: {
  database: Database
  masterKey: Buffer
  governance: GovernanceLog
  catalogueChanged: CatalogueChanged
}): EntitlementModule {
  const skills = createSkills({ ...deps, cursorKey: deriveKey(deps.masterKey, cursorKeyPurpose) })
  return {
    registry: createSkillRegistry(deps),
    erasure: createSkillErasure(),
    routes: (app) => addEntitlementRoutes(app, skills),
  }
}
