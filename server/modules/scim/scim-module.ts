import type { FastifyInstance } from 'fastify'
import type { Database } from '../../db/database.ts'
import type { Directory } from '../roster/directory/directory-types.ts'
import type { ResourceReader, ScimConnections } from '../roster/sync/sync-types.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import { readResource } from './resource-body.ts'
import { createScimGroups, groupWriteOf } from './scim-groups.ts'
import { addScimProtocol } from './scim-routes.ts'
import { groupResource, userResource } from './scim-schemas.ts'
import { createScimUsers, userWriteOf } from './scim-users.ts'

/** Reads the resources of pulled directories by the same rules as pushed ones. */
export const resourceReader: ResourceReader = {
  user: (resource) => userWriteOf({ active: true, ...readResource(userResource, resource) }),
  group: (resource) => groupWriteOf(readResource(groupResource, resource)),
}

export interface ScimModule {
  routes(app: FastifyInstance): void
}

/** Creates the SCIM 2.0 server of every tenant whose directory pushes. */
export function createScimModule(deps: {
  database: Database
  directory: Directory
  tenants: TenantDirectory
  connections: ScimConnections
}): ScimModule {
  const served = [
    { definition: userResource, resources: createScimUsers(deps) },
    { definition: groupResource, resources: createScimGroups(deps) },
  ]
  return { routes: (app) => addScimProtocol(app, deps, served) }
}
