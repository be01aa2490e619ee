import type { ResourceReader } from '../roster/sync/sync-types.ts'
import { readResource } from './resource-body.ts'
import { groupWriteOf } from './scim-groups.ts'
import { groupResource, userResource } from './scim-schemas.ts'
import { userWriteOf } from './scim-users.ts'

/** Reads the resources of pulled directories by the same rules as pushed ones. */
export const resourceReader: ResourceReader = {
  user: (resource) => userWriteOf({ active: true, ...readResource(userResource, resource) }),
  group: (resource) => groupWriteOf(readResource(groupResource, resource)),
}
