import type { ResourceReader } from '../roster/sync/sync-types.ts'
import { readResource } from './resource-body.ts'
import { groupWriteOf } from './scim-groups.ts'
import { groupResource, userResource } from './scim-schemas.ts'
import { userWriteOf } from './scim-users.ts'

/** Reads resources of directories that the Hub asks as it reads those that are sent to it. */
export const resourceReader: ResourceReader = {
  user: (resource) => userWriteOf({ active: true, ...readResource(userResource, resource) }),
  group: (resource) => groupWriteOf(readResource(groupResource, resource)),
}
