import { scimPageMembersMax } from '../../../contract/limits.ts'
import type { JsonObject } from '../../../provenance/json.ts'
import { type Database, readTenant, type TenantTx } from '../../db/database.ts'
import type { Directory, DirectoryGroup, DirectoryGroupWrite } from '../roster/directory/directory-types.ts'
import { changeResource } from './entity-tags.ts'
import { asksForMembers, isOfMembers, membersChanged } from './member-change.ts'
import { applyPatch } from './patch.ts'
import { readPatch } from './patch-operations.ts'
import { renderGroup } from './rendering.ts'
import { checkNames, type ResourceAttributes, readMembers, readResource } from './resource-body.ts'
import { noSuchResource, scimProblem } from './scim-problems.ts'
import { groupResource } from './scim-schemas.ts'
import type { ScimResources } from './scim-types.ts'

/** Serves the groups of a tenant's directory by SCIM. */
export function createScimGroups(deps: { database: Database; directory: Directory }): ScimResources {
  const { database, directory } = deps

  async function existing(tx: TenantTx, id: string, withMembers: boolean): Promise<DirectoryGroup> {
    const group = await directory.group(tx, id, withMembers)
    if (!group) throw noSuchResource('Group', id)
    return group
  }

  return {
    async create({ tenant, actor }, body, projection) {
      const write = groupWriteOf(readResource(groupResource, body))
      const members = readMembers(groupResource, body) ?? []
      const group = await database.withTenant(tenant.slug, (tx) =>
        directory.createGroup(tx, tenant, write, members, { actor }),
      )
      return renderGroup(tenant, group, projection)
    },

    async get({ tenant }, id, projection) {
      const withMembers = projection.includes('members')
      const group = await readTenant(database, tenant.slug, (tx) => existing(tx, id, withMembers))
      if (withMembers) requireMembers(group)
      return renderGroup(tenant, group, projection)
    },

    async list({ tenant }, query, projection) {
      const asked = { ...query, withMembers: projection.includes('members') }
      const page = await readTenant(database, tenant.slug, (tx) => directory.groups(tx, asked))
      return { total: page.total, items: page.items.map((group) => renderGroup(tenant, group, projection).body) }
    },

    async replace(context, id, body, projection) {
      const { tenant, actor } = context
      const attributes = readResource(groupResource, body)
      const all = readMembers(groupResource, body) ?? []
      const group = await changeResource(
        deps,
        context,
        (tx) => existing(tx, id, false),
        async (tx, before) => {
          // A mapping may use the external id, and Okta omits it.
          const { externalId } = attributesOf(before)
          const write = groupWriteOf({ ...(externalId !== undefined && { externalId }), ...attributes })
          const cause = { actor, revision: before.revision }
          return directory.changeGroup(tx, tenant, id, { group: write, members: { all } }, cause)
        },
      )
      return renderGroup(tenant, group, projection)
    },

    async patch(context, id, body, projection) {
      const { tenant, actor, ifMatch } = context
      const steps = readPatch(groupResource, id, body)
      const withMembers = asksForMembers(steps)
      const ofGroup = steps.filter((step) => !isOfMembers(step))
      const group = await changeResource(
        deps,
        context,
        (tx) => existing(tx, id, withMembers),
        async (tx, before) => {
          if (withMembers) requireMembers(before)
          const members = membersChanged(steps, before.members)
          const write = ofGroup.length > 0 ? groupWriteOf(applyPatch(attributesOf(before), ofGroup)) : undefined
          // Adding and removing members does not depend on the version, and directories do it concurrently.
          const depends = write !== undefined || withMembers || ifMatch !== undefined
          const cause = depends ? { actor, revision: before.revision } : { actor }
          const change = { ...(write && { group: write }), ...(members && { members }) }
          return directory.changeGroup(tx, tenant, id, change, cause)
        },
      )
      return renderGroup(tenant, group, projection)
    },

    async remove(context, id) {
      const { tenant, actor } = context
      await changeResource(
        deps,
        context,
        (tx) => existing(tx, id, false),
        async (tx, before) => {
          await directory.removeGroup(tx, tenant, id, { actor, revision: before.revision })
        },
      )
    },
  }
}

/**
 * Rejects a read of one group whose members are too many, since the caller would take it for empty. Lists and responses
 * to changes leave the members out.
 */
function requireMembers({ groupId, members }: DirectoryGroup): void {
  if (members) return
  throw scimProblem(
    'tooMany',
    `The group has more than ${scimPageMembersMax} members. Ask with excludedAttributes=members, and for who is in it ` +
      `page by page with /Users?filter=groups.value eq "${groupId}"; change members by their ids: members[value eq "…"].`,
  )
}

function attributesOf({ displayName, externalId, attributes }: DirectoryGroup): ResourceAttributes {
  return { displayName, ...(externalId !== null && { externalId }), ...attributes }
}

export function groupWriteOf(resource: ResourceAttributes): DirectoryGroupWrite {
  checkNames(groupResource, resource)
  const { displayName, externalId, ...attributes } = resource
  return {
    displayName: String(displayName),
    externalId: typeof externalId === 'string' ? externalId : null,
    attributes: attributes as JsonObject,
  }
}
