import type { JsonObject } from '../../../provenance/json.ts'
import { type Database, readTenant, type TenantTx } from '../../db/database.ts'
import type { Directory, DirectoryUser, DirectoryUserWrite } from '../roster/directory/directory-types.ts'
import { changeResource } from './entity-tags.ts'
import { applyPatch } from './patch.ts'
import { readPatch } from './patch-operations.ts'
import { renderUser } from './rendering.ts'
import { checkNames, type ResourceAttributes, readResource } from './resource-body.ts'
import { noSuchResource } from './scim-problems.ts'
import { userResource } from './scim-schemas.ts'
import type { ScimResources } from './scim-types.ts'

/** Serves the users of a tenant's directory by SCIM. */
export function createScimUsers(deps: { database: Database; directory: Directory }): ScimResources {
  const { database, directory } = deps

  async function existing(tx: TenantTx, id: string): Promise<DirectoryUser> {
    const user = await directory.user(tx, id)
    if (!user) throw noSuchResource('User', id)
    return user
  }

  return {
    async create({ tenant, actor }, body, projection) {
      const write = userWriteOf({ active: true, ...readResource(userResource, body) })
      const user = await database.withTenant(tenant.slug, (tx) => directory.createUser(tx, tenant, write, { actor }))
      return renderUser(tenant, user, projection)
    },

    async get({ tenant }, id, projection) {
      const user = await readTenant(database, tenant.slug, (tx) => existing(tx, id))
      return renderUser(tenant, user, projection)
    },

    async list({ tenant }, query, projection) {
      const page = await readTenant(database, tenant.slug, (tx) => directory.users(tx, query))
      return { total: page.total, items: page.items.map((user) => renderUser(tenant, user, projection).body) }
    },

    async replace(context, id, body, projection) {
      const { tenant, actor } = context
      const attributes = readResource(userResource, body)
      const user = await changeResource(
        deps,
        context,
        (tx) => existing(tx, id),
        async (tx, before) => {
          // External id and activity stay unless the body sets them, since they decide about identity and access: Okta
          // omits them.
          const { externalId, active } = attributesOf(before)
          const write = userWriteOf({
            ...(externalId !== undefined && { externalId }),
            active: active ?? true,
            ...attributes,
          })
          return directory.replaceUser(tx, tenant, id, write, { actor, revision: before.revision })
        },
      )
      return renderUser(tenant, user, projection)
    },

    async patch(context, id, body, projection) {
      const { tenant, actor } = context
      const steps = readPatch(userResource, id, body)
      const user = await changeResource(
        deps,
        context,
        (tx) => existing(tx, id),
        async (tx, before) => {
          const write = userWriteOf(applyPatch(attributesOf(before), steps))
          return directory.replaceUser(tx, tenant, id, write, { actor, revision: before.revision })
        },
      )
      return renderUser(tenant, user, projection)
    },

    async remove(context, id) {
      const { tenant, actor } = context
      await changeResource(
        deps,
        context,
        (tx) => existing(tx, id),
        async (tx, before) => {
          await directory.removeUser(tx, tenant, id, { actor, revision: before.revision })
        },
      )
    },
  }
}

/** Returns the attributes with the directory's own last value of `active`, not an administrator's decision. */
function attributesOf({ userName, externalId, wantedActive, attributes }: DirectoryUser): ResourceAttributes {
  return { userName, ...(externalId !== null && { externalId }), ...attributes, active: wantedActive }
}

/** Checks the names and returns the rest. A missing `active` counts as true. */
export function userWriteOf(resource: ResourceAttributes): DirectoryUserWrite {
  checkNames(userResource, resource)
  const { userName, externalId, active, ...attributes } = resource
  return {
    userName: String(userName),
    externalId: typeof externalId === 'string' ? externalId : null,
    active: active !== false,
    attributes: attributes as JsonObject,
  }
}
