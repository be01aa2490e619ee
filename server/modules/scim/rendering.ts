import type { JsonObject, JsonValue } from '../../../provenance/json.ts'
import type { Tenant } from '../../http/caller.ts'
import type { DirectoryGroup, DirectoryUser } from '../roster/directory/directory-types.ts'
import { entityTag } from './entity-tags.ts'
import type { Projection } from './projection.ts'
import type { ResourceDefinition } from './schema-types.ts'
import { groupResource, messageSchemas, userResource } from './scim-schemas.ts'
import type { ScimResource } from './scim-types.ts'

/** Returns the address of the tenant's SCIM server, without a trailing slash. */
export function scimBaseUrl(tenant: Tenant): string {
  return `${tenant.baseUrl}/scim/v2/${tenant.slug}`
}

export function renderUser(tenant: Tenant, user: DirectoryUser, projection: Projection): ScimResource {
  const base = scimBaseUrl(tenant)
  const { userName, externalId, active, attributes, groups } = user
  const extensions = userResource.extensions.map(({ id }) => id).filter((id) => attributes[id] !== undefined)
  return rendered(projection, {
    schemas: [userResource.schema.id, ...extensions],
    id: user.userId,
    ...(externalId !== null && { externalId }),
    userName,
    ...attributes,
    active,
    groups: groups.map(({ groupId, displayName }) => ({
      value: groupId,
      $ref: `${base}/Groups/${groupId}`,
      display: displayName,
      type: 'direct',
    })),
    meta: metaOf(userResource, `${base}/Users/${user.userId}`, user),
  })
}

export function renderGroup(tenant: Tenant, group: DirectoryGroup, projection: Projection): ScimResource {
  const base = scimBaseUrl(tenant)
  const { displayName, externalId, members } = group
  return rendered(projection, {
    schemas: [groupResource.schema.id],
    id: group.groupId,
    ...(externalId !== null && { externalId }),
    displayName,
    ...(members && {
      members: members.map(({ userId, display }) => ({
        value: userId,
        $ref: `${base}/Users/${userId}`,
        display,
        type: 'User',
      })),
    }),
    meta: metaOf(groupResource, `${base}/Groups/${group.groupId}`, group),
  })
}

/** Renders a page of a list (RFC 7644, section 3.4.2). */
export function renderList(total: number, startIndex: number, items: readonly JsonValue[]): JsonObject {
  return {
    schemas: [messageSchemas.list],
    totalResults: total,
    startIndex,
    itemsPerPage: items.length,
    Resources: items,
  }
}

interface Meta extends JsonObject {
  resourceType: string
  created: string
  lastModified: string
  location: string
  version: string
}

function metaOf(
  { name }: ResourceDefinition,
  location: string,
  { createdAt, updatedAt, revision }: Pick<DirectoryUser, 'createdAt' | 'updatedAt' | 'revision'>,
): Meta {
  return { resourceType: name, created: createdAt, lastModified: updatedAt, location, version: entityTag(revision) }
}

function rendered(projection: Projection, resource: JsonObject & { meta: Meta }): ScimResource {
  const { location, version } = resource.meta
  return { body: projection.of(resource), location, etag: version }
}
