import { DomainError } from '../../../../contract/domain-error.ts'
import type { Role } from '../../../../contract/roles.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { JsonValue } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import { randomText } from '../../../secrets/random-text.ts'
import type { TokenRevoker } from '../../auth/auth-types.ts'
import type { Actor } from '../../governance/governance-types.ts'
import type { User } from '../roster-types.ts'
import { hasActiveAdmin, keepDeactivated, setDeactivated, setRole, type UserRow } from './users-store.ts'

export interface UserChangesDeps extends Pick<ModuleParts, 'governance' | 'events'> {
  revoker: TokenRevoker
}

/** The actor of a change of a user, and the reason. */
export interface Cause {
  actor: Actor
  /** Reason of a change that nobody requested explicitly, such as `welcome_link`. */
  reason?: string
}

export type UserChanges = ReturnType<typeof createUserChanges>

/** Changes users, each with its governance event. */
export function createUserChanges({ governance, revoker, events }: UserChangesDeps) {
  type Details = Record<string, JsonValue>

  /** Writes an event about the user, never with an address: events are immutable, so it could not be erased. */
  async function note(tx: TenantTx, tenant: Tenant, userId: string, details: Details, { actor, reason }: Cause) {
    await governance.append(tx, tenant, {
      kind: 'tenant.config_changed',
      subject: `user:${userId}`,
      details: { ...details, ...(reason !== undefined && { reason }) },
      actor,
    })
  }
  const noteChange = (tx: TenantTx, tenant: Tenant, change: string, before: UserRow, after: UserRow, cause: Cause) =>
    note(tx, tenant, after.user_id, { change, before: stateOf(before), after: stateOf(after) }, cause)

  return {
    note,
    /** Writes the event of a new user. */
    added: (tx: TenantTx, tenant: Tenant, user: UserRow, cause: Cause) =>
      note(tx, tenant, user.user_id, { change: 'user_created', before: null, after: stateOf(user) }, cause),

    /**
     * Changes the role. Access tokens of the old role end with the transaction; sessions continue. Call `lockRoles`
     * before reading the user. Throws `concurrent-modification` if no active administrator would remain.
     */
    async changeRole(tx: TenantTx, tenant: Tenant, user: UserRow, role: Role, cause: Cause): Promise<UserRow> {
      if (user.role === role) return user
      if (isActive(user) && user.role === 'admin' && !(await hasActiveAdmin(tx, user.user_id))) {
        throw lastAdministrator('/role', 'would remove the role from the last active administrator')
      }
      const changed = await setRole(tx, user.user_id, role, now())
      await revoker.revoke(tx, `user:${user.user_id}`, changed.epoch)
      await noteChange(tx, tenant, 'user_role', user, changed, cause)
      return changed
    },

    /**
     * Deactivates the user as `changeRole` changes a role. Also ends sessions and access tokens, and keeps the directory
     * from reactivating the user.
     */
    async deactivate(tx: TenantTx, tenant: Tenant, user: UserRow, cause: Cause): Promise<UserRow> {
      if (!isActive(user)) {
        // The directory deactivated this user. From now on it cannot reactivate them.
        if (await keepDeactivated(tx, user.user_id, now())) {
          await note(tx, tenant, user.user_id, { change: 'user_kept_deactivated' }, cause)
        }
        return user
      }
      if (user.role === 'admin' && !(await hasActiveAdmin(tx, user.user_id))) {
        throw lastAdministrator('/path/user_id', 'is the last active administrator')
      }
      const changed = await setDeactivated(tx, user.user_id, now(), now())
      await revoker.revoke(tx, `user:${user.user_id}`, changed.epoch)
      await events.publishInTransaction(tx, 'userDeactivated', { tenant, userId: user.user_id, actor: cause.actor })
      await noteChange(tx, tenant, 'user_deactivated', user, changed, cause)
      return changed
    },

    async reactivate(tx: TenantTx, tenant: Tenant, user: UserRow, cause: Cause): Promise<UserRow> {
      if (isActive(user)) return user
      const changed = await setDeactivated(tx, user.user_id, null, now()).catch(rejectTakenAddress)
      await noteChange(tx, tenant, 'user_reactivated', user, changed, cause)
      return changed
    },
  }
}

export function asUser(row: UserRow): User {
  return {
    userId: row.user_id,
    email: row.email,
    displayName: row.display_name,
    role: row.role,
    active: isActive(row),
    hasSignedIn: row.last_sign_in_at !== null,
    epoch: row.epoch,
  }
}

export function isActive(row: UserRow): boolean {
  return row.deactivated_at === null
}

export function now(): string {
  return formatTimestamp(Date.now())
}

export function addressTaken(pointer: string): DomainError {
  return new DomainError('concurrent-modification', 'Another active user of the tenant has this e-mail address.', {
    errors: [{ pointer, detail: 'belongs to another active user' }],
  })
}

/** Translates the violation of the unique index on addresses; rethrows any other error. */
export function rejectTakenAddress(error: unknown): never {
  const { code, constraint } = error as { code?: string; constraint?: string }
  throw code === '23505' && constraint === 'users_by_email' ? addressTaken('/path/user_id') : error
}

function stateOf({ role, deactivated_at: deactivated }: UserRow) {
  return { role, active: deactivated === null }
}

function lastAdministrator(pointer: string, detail: string): DomainError {
  return new DomainError(
    'concurrent-modification',
    'The tenant would have no active administrator. Make another user an administrator first.',
    { errors: [{ pointer, detail }] },
  )
}

/** Returns a new user id: `usr_` and 24 letters and digits, with no information about the person. */
export function makeUserId(): string {
  return `usr_${randomText(24)}`
}

/** Returns whether the text has the form of a user id. Such text is looked up as an id only. */
export function isUserId(text: string): boolean {
  return /^usr_[A-Za-z0-9]{24}$/.test(text)
}
