import type { FastifyInstance } from 'fastify'
import type { TenantSecrets } from '../cmek/cmek-types.ts'
import type { checkEntitlements } from './checks/checks-service.ts'
import { createCoworkContents } from './coworks/cowork-contents.ts'
import { addCoworkRoutes } from './coworks/coworks-routes.ts'
import { createCoworks } from './coworks/coworks-service.ts'
import { addCheckRoutes, addEntitlementRoutes, addGrantRoutes } from './entitlement-routes.ts'
import { createSkillRegistry, createSkills, eraseSkills } from './entitlement-service.ts'
import { createGrants } from './grants/grants-service.ts'
import { createSkillGrants } from './grants/skill-grants.ts'

export function createEntitlementModule(
  deps: Omit<Parameters<typeof createCoworks>[0], 'contents'> &
    Parameters<typeof checkEntitlements>[0] &
    Parameters<typeof createSkillGrants>[0] & { secrets: TenantSecrets },
) {
  const skills = createSkills(deps)
  const coworks = createCoworks({ ...deps, contents: createCoworkContents(deps.secrets) })
  const grants = createGrants(deps)
  deps.events.onInTransaction('archetypesRemoved', grants.archetypesRemoved)
  deps.events.onInTransaction('recordsErased', (tx, { records }) => eraseSkills(tx, records))
  return {
    registry: createSkillRegistry(deps),
    grants: createSkillGrants(deps),
    routes: (app: FastifyInstance) => {
      addEntitlementRoutes(app, skills)
      addCoworkRoutes(app, coworks)
      addGrantRoutes(app, grants)
      addCheckRoutes(app, deps)
    },
  }
}
