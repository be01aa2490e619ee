import { DomainError } from '../../../../contract/domain-error.ts'
import { emailKey, requireEmail } from '../../../../contract/email-address.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { Caller } from '../../../http/caller.ts'
import { openCursor, pageOf, signCursor } from '../../../http/cursor.ts'
import { lockDirectory, touchUser } from '../directory/directory-users-store.ts'
import type { UserFilter, Users } from '../roster-types.ts'
import { requireScopesOf } from './grant-rule.ts'
import { addressTaken, isActive, now, type UserChanges } from './user-changes.ts'
import { makeUserId } from './user-ids.ts'
import { toUserResponse, toUserResponses } from './user-responses.ts'
import {
  insertUser,
  lockRoles,
  type UserConditions,
  type UserPosition,
  type UserRow,
  userById,
  usersAfter,
} from './users-store.ts'

export function createUsers(deps: { database: Database; changes: UserChanges; cursorKey: Buffer }): Users {
  const { database, changes, cursorKey } = deps

  /** Changes one user, with roles locked. */
  function change(caller: Caller, userId: string, work: (tx: TenantTx, user: UserRow) => Promise<UserRow>) {
    return database.withTenant(caller.tenant.slug, async (tx) => {
      await lockRoles(tx)
      return toUserResponse(tx, await work(tx, await existing(tx, userId)))
    })
  }

  /** Activates or deactivates a user as {@link change} does, and counts a revision of the SCIM resource. */
  function changeActive(caller: Caller, userId: string, to: 'deactivate' | 'reactivate') {
    return database.withTenant(caller.tenant.slug, async (tx) => {
      await lockDirectory(tx)
      await lockRoles(tx)
      const user = await existing(tx, userId)
      requireScopesOf(caller, user.role)
      const changed = await changes[to](tx, caller.tenant, user, { actor: caller })
      if (isActive(changed) !== isActive(user)) await touchUser(tx, userId, now())
      return toUserResponse(tx, changed)
    })
  }

  return {
    async list(tenant, filter, { limit, cursor }) {
      const binding = { tenant: tenant.slug, operation: 'listUsers', query: { ...filter } }
      const after = cursor === undefined ? undefined : (openCursor(cursorKey, binding, cursor) as UserPosition)
      const read = async (tx: TenantTx) => {
        const rows = await usersAfter(tx, keyed(filter), after, limit + 1)
        const { shown, next_cursor } = pageOf(rows, limit, (last) =>
          signCursor(cursorKey, binding, [last.created_at, last.user_id]),
        )
        return { items: await toUserResponses(tx, shown), next_cursor }
      }
      return database.withTenant(tenant.slug, read, { readOnly: true, inIndexOrder: true })
    },

    async create(caller, { email, display_name = null, role = 'member' }) {
      requireScopesOf(caller, role)
      requireEmail(email)
      const row = { user_id: makeUserId(), email, email_key: emailKey(email), display_name, role }
      return database.withTenant(caller.tenant.slug, async (tx) => {
        const user = await insertUser(tx, row, now())
        if (!user) throw addressTaken('/email')
        await changes.added(tx, caller.tenant, user, { actor: caller })
        return toUserResponse(tx, user)
      })
    },

    get: (tenant, userId) =>
      database.withTenant(tenant.slug, async (tx) => toUserResponse(tx, await existing(tx, userId)), {
        readOnly: true,
      }),

    replaceRole: (caller, userId, role) =>
      change(caller, userId, async (tx, user) => {
        requireScopesOf(caller, user.role, role)
        return changes.changeRole(tx, caller.tenant, user, role, { actor: caller })
      }),

    deactivate: (caller, userId) => changeActive(caller, userId, 'deactivate'),

    reactivate: (caller, userId) => changeActive(caller, userId, 'reactivate'),
  }
}

async function existing(tx: TenantTx, userId: string): Promise<UserRow> {
  const user = await userById(tx, userId)
  if (!user) throw new DomainError('not-found', 'The tenant has no user with this id.')
  return user
}

function keyed({ email, group_id: groupId, archetype_id: archetypeId, ...others }: UserFilter): UserConditions {
  return {
    ...others,
    ...(email !== undefined && { emailKey: emailKey(email) }),
    ...(groupId !== undefined && { groupId }),
    ...(archetypeId !== undefined && { archetypeId }),
  }
}
