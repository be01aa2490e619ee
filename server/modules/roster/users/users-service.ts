import type { Static } from 'typebox'
import { DomainError } from '../../../../contract/domain-error.ts'
import { emailKey, requireEmail } from '../../../../contract/email-address.ts'
import { type Role, roles } from '../../../../contract/roles.ts'
import { type Scope, scopeNames } from '../../../../contract/scopes.ts'
import { readTenant, type TenantTx } from '../../../db/database.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'
import { openPage } from '../../../http/cursor.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import { personOf } from '../directory/directory-names.ts'
import { lockDirectory, type NameInDirectory, namesInDirectory, touchUser } from '../directory/directory-users-store.ts'
import { archetypesOf } from '../directory/user-archetypes-store.ts'
import type { UserResponse } from '../roster-types.ts'
import { addressTaken, isActive, makeUserId, now, type UserChanges } from './user-changes.ts'
import type { NewUserBody, UserList, UsersQuery } from './users-schemas.ts'
import { insertUser, lockRoles, type UserPosition, type UserRow, userById, usersAfter } from './users-store.ts'

export type Users = ReturnType<typeof createUsers>

/**
 * Manages the people of a tenant for its administrators. Every method throws `not-found` for a user of another tenant.
 * To change a role, or to add, deactivate or reactivate somebody, the caller needs every scope of the role before and
 * after, else `insufficient-scope`: nobody grants or revokes a right they do not hold. A change that leaves no active
 * administrator throws `concurrent-modification`. Repeating a change does nothing.
 */
export function createUsers(deps: Pick<ModuleParts, 'database' | 'cursorKey'> & { changes: UserChanges }) {
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
    /** Returns a page of users, oldest first. All conditions must hold. */
    async list({ slug }: Tenant, { limit, cursor, ...filter }: Static<typeof UsersQuery>) {
      const binding = { tenant: slug, operation: 'listUsers', query: filter }
      const page = openPage<UserPosition>(cursorKey, binding, { limit, cursor })
      const read = async (tx: TenantTx): Promise<Static<typeof UserList>> => {
        const rows = await usersAfter(tx, filter, page.after, page.count)
        const { shown, next_cursor } = page.of(rows, (last) => [last.created_at, last.user_id])
        return { items: await toUserResponses(tx, shown), next_cursor }
      }
      return readTenant(database, slug, read, { inIndexOrder: true })
    },

    /** Creates a user. Throws `concurrent-modification` if an active user has the address. */
    async create(caller: Caller, { email, display_name, role = 'member' }: Static<typeof NewUserBody>) {
      requireScopesOf(caller, role)
      requireEmail(email)
      const named = { email, email_key: emailKey(email), display_name: display_name ?? null }
      const row = { user_id: makeUserId(), ...named, role }
      return database.withTenant(caller.tenant.slug, async (tx) => {
        const user = await insertUser(tx, row, now())
        if (!user) throw addressTaken('/email')
        await changes.added(tx, caller.tenant, user, { actor: caller })
        return toUserResponse(tx, user)
      })
    },

    get: ({ slug }: Tenant, userId: string) =>
      readTenant(database, slug, async (tx) => toUserResponse(tx, await existing(tx, userId))),

    /** Changes the role. Access tokens of the old role end within 5 seconds; sessions continue with the new one. */
    replaceRole: (caller: Caller, userId: string, role: Role) =>
      change(caller, userId, async (tx, user) => {
        requireScopesOf(caller, user.role, role)
        return changes.changeRole(tx, caller.tenant, user, role, { actor: caller })
      }),

    /** Deactivates the user, and ends their sessions at once and their access tokens within 5 seconds. */
    deactivate: (caller: Caller, userId: string) => changeActive(caller, userId, 'deactivate'),

    /** Reactivates the user. Throws `concurrent-modification` if another active user has the address. */
    reactivate: (caller: Caller, userId: string) => changeActive(caller, userId, 'reactivate'),
  }
}

async function existing(tx: TenantTx, userId: string): Promise<UserRow> {
  const user = await userById(tx, userId)
  if (!user) throw new DomainError('not-found', 'The tenant has no user with this id.')
  return user
}

/**
 * Requires that the caller holds every scope it grants or revokes. Otherwise a service account for the roster could
 * make itself an administrator, or lock all of them out. Throws `insufficient-scope`.
 */
function requireScopesOf(caller: Pick<Caller, 'scopes'>, ...changed: Role[]): void {
  const needed = new Set<Scope>(['roster:write', ...changed.flatMap((role) => roles[role])])
  const required = scopeNames.filter((scope) => needed.has(scope))
  const missing = required.filter((scope) => !caller.scopes.has(scope))
  if (missing.length === 0) return
  const names = [...new Set(changed)].join(' and ')
  throw new DomainError(
    'insufficient-scope',
    `You cannot grant or revoke permissions that you do not have: this requires every scope of the role ${names}. ` +
      `The token lacks ${missing.join(' ')}.`,
    { extensions: { required_scopes: required } },
  )
}

/** Returns users with their data from the directory and their archetypes, in the order of the rows. */
async function toUserResponses(tx: TenantTx, rows: readonly UserRow[]): Promise<UserResponse[]> {
  if (rows.length === 0) return []
  const ids = rows.map((row) => row.user_id)
  const names = await namesInDirectory(tx, ids)
  const archetypes = Map.groupBy(await archetypesOf(tx, ids), (row) => row.user_id)
  return rows.map((row) => {
    const name = names.get(row.user_id)
    const archetypeIds = (archetypes.get(row.user_id) ?? []).map((entry) => entry.archetype_id)
    return {
      user_id: row.user_id,
      email: row.email,
      ...otherAddress(row, name),
      ...(name && { user_name: name.user_name }),
      ...(name && name.external_id !== null && { external_id: name.external_id }),
      ...(row.display_name !== null && { display_name: row.display_name }),
      role: row.role,
      active: isActive(row),
      source: name ? 'directory' : 'manual',
      archetype_ids: archetypeIds,
      matched: !name || !isActive(row) || archetypeIds.length > 0,
      created_at: row.created_at,
      ...(row.last_sign_in_at !== null && { last_sign_in_at: row.last_sign_in_at }),
      ...(row.deactivated_at !== null && { deactivated_at: row.deactivated_at }),
    }
  })
}

/** Returns the directory's address if the Hub keeps another: see `People.change`. */
function otherAddress(row: UserRow, name: NameInDirectory | undefined): { directory_email?: string } {
  if (!name) return {}
  const attributes = name.emails === null ? {} : { emails: name.emails }
  const { email, emailKey } = personOf({ userName: name.user_name, attributes })
  return email === '' || emailKey === row.email_key ? {} : { directory_email: email }
}

async function toUserResponse(tx: TenantTx, row: UserRow): Promise<UserResponse> {
  return (await toUserResponses(tx, [row]))[0]!
}
