import { DomainError } from '../../../../contract/domain-error.ts'
import { emailKey, requireEmail } from '../../../../contract/email-address.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { Caller } from '../../../http/caller.ts'
import { openCursor, signCursor } from '../../../http/cursor.ts'
import type { UserAnswer, UserFilter, Users } from '../roster-types.ts'
import { requireScopesOf } from './grant-rule.ts'
import { addressTaken, isActive, now, type UserChanges } from './user-changes.ts'
import { makeUserId } from './user-ids.ts'
import { insertUser, lockRoles, type UserPosition, type UserRow, userById, usersAfter } from './users-store.ts'

export function createUsers(deps: { database: Database; changes: UserChanges; cursorKey: Buffer }): Users {
  const { database, changes, cursorKey } = deps

  /** Changes one user, with nobody else changing roles meanwhile. */
  function change(caller: Caller, userId: string, work: (tx: TenantTx, user: UserRow) => Promise<UserRow>) {
    return database.withTenant(caller.tenant.slug, async (tx) => {
      await lockRoles(tx)
      return answerOf(await work(tx, await existing(tx, userId)))
    })
  }

  return {
    async list(tenant, filter, { limit, cursor }) {
      const binding = { tenant: tenant.slug, operation: 'listUsers', query: { ...filter } }
      const after = cursor === undefined ? undefined : (openCursor(cursorKey, binding, cursor) as UserPosition)
      const rows = await database.withTenant(tenant.slug, (tx) => usersAfter(tx, keyed(filter), after, limit + 1), {
        readOnly: true,
        inIndexOrder: true,
      })
      const last = rows.length > limit ? rows[limit - 1] : undefined
      return {
        items: rows.slice(0, limit).map(answerOf),
        next_cursor: last ? signCursor(cursorKey, binding, [last.created_at, last.user_id]) : null,
      }
    },

    async create(caller, { email, display_name = null, role = 'member' }) {
      requireScopesOf(caller, role)
      requireEmail(email)
      const row = { user_id: makeUserId(), email, email_key: emailKey(email), display_name, role }
      return database.withTenant(caller.tenant.slug, async (tx) => {
        const user = await insertUser(tx, row, now())
        if (!user) throw addressTaken('/email')
        await changes.added(tx, caller.tenant, user, { actor: caller })
        return answerOf(user)
      })
    },

    get: (tenant, userId) =>
      database.withTenant(tenant.slug, async (tx) => answerOf(await existing(tx, userId)), { readOnly: true }),

    replaceRole: (caller, userId, role) =>
      change(caller, userId, async (tx, user) => {
        requireScopesOf(caller, user.role, role)
        return changes.changeRole(tx, caller.tenant, user, role, { actor: caller })
      }),

    deactivate: (caller, userId) =>
      change(caller, userId, async (tx, user) => {
        requireScopesOf(caller, user.role)
        return changes.deactivate(tx, caller.tenant, user, { actor: caller })
      }),

    reactivate: (caller, userId) =>
      change(caller, userId, async (tx, user) => {
        requireScopesOf(caller, user.role)
        return changes.reactivate(tx, caller.tenant, user, { actor: caller })
      }),
  }
}

async function existing(tx: TenantTx, userId: string): Promise<UserRow> {
  const user = await userById(tx, userId)
  if (!user) throw new DomainError('not-found', 'The tenant has no user of this id.')
  return user
}

function keyed({ email, ...others }: UserFilter) {
  return { ...others, ...(email !== undefined && { emailKey: emailKey(email) }) }
}

function answerOf(row: UserRow): UserAnswer {
  return {
    user_id: row.user_id,
    email: row.email,
    ...(row.display_name !== null && { display_name: row.display_name }),
    role: row.role,
    active: isActive(row),
    created_at: row.created_at,
    ...(row.last_sign_in_at !== null && { last_sign_in_at: row.last_sign_in_at }),
    ...(row.deactivated_at !== null && { deactivated_at: row.deactivated_at }),
  }
}
