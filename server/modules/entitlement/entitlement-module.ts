import type { FastifyInstance } from 'fastify'
import type { Database } from '../../db/database.ts'
import type { EventBus } from '../../events.ts'
import { cursorKeyPurpose } from '../../http/cursor.ts'
import { deriveKey } from '../../secrets/encryption.ts'
import type { TenantSecrets } from '../cmek/cmek-types.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { ReadableRecords, Records } from '../records/records-types.ts'
import type { ArchetypeBundle, UserReferences } from '../roster/roster-types.ts'
import { addCheckRoutes } from './checks/checks-routes.ts'
import { createEntitlementChecks } from './checks/checks-service.ts'
import { createCoworkContents } from './coworks/cowork-contents.ts'
import { addCoworkRoutes } from './coworks/coworks-routes.ts'
import { createCoworks } from './coworks/coworks-service.ts'
import { addEntitlementRoutes } from './entitlement-routes.ts'
import { createSkills } from './entitlement-service.ts'
import type { SkillGrants, SkillRegistry } from './entitlement-types.ts'
import { addGrantRoutes } from './grants/grants-routes.ts'
import { createGrants } from './grants/grants-service.ts'
import { createSkillGrants } from './grants/skill-grants.ts'
import { forgetSkills } from './skill-erasure.ts'
import { createSkillRegistry } from './skill-registry.ts'

export interface EntitlementModule {
  registry: SkillRegistry
  grants: SkillGrants
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
  events: EventBus
}): EntitlementModule {
  const cursorKey = deriveKey(deps.masterKey, cursorKeyPurpose)
  const skills = createSkills({ ...deps, cursorKey })
  const coworks = createCoworks({ ...deps, contents: createCoworkContents(deps.secrets), cursorKey })
  const grants = createGrants({ ...deps, cursorKey })
  const checks = createEntitlementChecks(deps)
  deps.events.onInTransaction('archetypesRemoved', grants.archetypesRemoved)
  deps.events.onInTransaction('recordsErased', (tx, { records }) => forgetSkills(tx, records))
  return {
    registry: createSkillRegistry(deps),
    grants: createSkillGrants(deps),
    routes: (app) => {
      addEntitlementRoutes(app, skills)
      addCoworkRoutes(app, coworks)
      addGrantRoutes(app, grants)
      addCheckRoutes(app, checks)
    },
  }
}
