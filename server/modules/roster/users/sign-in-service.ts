import { DomainError } from '../../../../contract/domain-error.ts'
import { emailKey } from '../../../../contract/email-address.ts'
import { displayNameLengthMax } from '../../../../contract/limits.ts'
import type { Role } from '../../../../contract/roles.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ProvenIdentity, SignInUsers } from '../roster-types.ts'
import { asUser, type Cause, isActive, now, refuseTakenAddress, type UserChanges } from './user-changes.ts'
import { hasFormerUserAt, linkIdentity, ownerOf } from './user-identities-store.ts'
import { makeUserId } from './user-ids.ts'
import {
  activeUserAt,
  hasActiveAdmin,
  insertUser,
  lockRoles,
  setAddress,
  setDisplayName,
  setLastSignIn,
  type UserRow,
  userById,
} from './users-store.ts'

const actor = { service: 'sign-in' }

/** Whose address is looked for, and what is known of them. */
interface Wanted {
  email: string
  role?: Role | undefined
  displayName?: string | undefined
  /** Of the identity that comes with the address. */
  connectionId?: string
}

export function createSignInUsers(deps: {
  changes: UserChanges
  /** Whom the tenant was created for. */
  adminEmail: (tx: TenantTx) => Promise<string | undefined>
  /** What is left of the address of somebody whom the directory removed. */
  formerAddressKey: (tenantId: string, emailKey: string) => string
}): SignInUsers {
  const { changes } = deps

  /** The active person with that address, else a new one. */
  async function personAt(tx: TenantTx, tenant: Tenant, wanted: Wanted): Promise<UserRow & { isNew?: true }> {
    const key = emailKey(wanted.email)
    const known = await activeUserAt(tx, key)
    if (known) return known
    // Signing in again must not undo a deactivation. Whoever has the address by now is added by an administrator.
    const formerKeys = [key, deps.formerAddressKey(tx.tenantId, key)]
    if (await hasFormerUserAt(tx, formerKeys, wanted.connectionId)) throw refused('deactivated')
    const role = wanted.role ?? 'member'
    const display_name = displayNameOf(wanted)
    const row = { user_id: makeUserId(), email: wanted.email, email_key: key, display_name, role }
    const inserted = await insertUser(tx, row, now())
    if (inserted) {
      await changes.added(tx, tenant, inserted, causeOf(wanted.role, 'first_sign_in'))
      return { ...inserted, isNew: true }
    }
    // Somebody else was faster, and has committed: the conflict waited for that.
    const other = await activeUserAt(tx, key)
    if (!other) throw refused('deactivated')
    return other
  }

  /** Gives the role that is wanted, or the first administrator theirs. */
  async function withRole(tx: TenantTx, tenant: Tenant, user: UserRow, given?: Role): Promise<UserRow> {
    const role = given ?? ((await awaitedAdministrator(tx, user.email)) === undefined ? user.role : 'admin')
    if (role === user.role) return user
    await lockRoles(tx)
    const locked = await userById(tx, user.user_id)
    if (!locked || !isActive(locked)) throw refused('deactivated')
    if (given === undefined && (await hasActiveAdmin(tx))) return locked
    return changes.changeRole(tx, tenant, locked, role, causeOf(given, 'first_administrator'))
  }

  async function awaitedAdministrator(tx: TenantTx, email: string): Promise<string | undefined> {
    if (await hasActiveAdmin(tx)) return undefined
    const adminEmail = await deps.adminEmail(tx)
    return adminEmail !== undefined && emailKey(adminEmail) === emailKey(email) ? adminEmail : undefined
  }

  /** The provider knows of a new address or name before the Hub does. */
  async function withIdentity(tx: TenantTx, tenant: Tenant, user: UserRow, identity: ProvenIdentity): Promise<UserRow> {
    const displayName = user.display_name === null ? displayNameOf(identity) : null
    const cause = { actor, reason: 'identity_provider' }
    if (displayName !== null) {
      await setDisplayName(tx, user.user_id, displayName, now())
      await changes.note(tx, tenant, user.user_id, { change: 'user_display_name' }, cause)
    }
    const named = displayName === null ? user : { ...user, display_name: displayName }
    const key = emailKey(identity.email)
    if (key === user.email_key || (await activeUserAt(tx, key))) return named
    const moved = await setAddress(tx, user.user_id, { email: identity.email, emailKey: key }, now()).catch(
      refuseTakenAddress,
    )
    await changes.note(tx, tenant, user.user_id, { change: 'user_email' }, cause)
    return moved
  }

  /** The person with the address of an identity that comes for the first time, linked to it for good. */
  async function firstTime(tx: TenantTx, tenant: Tenant, identity: ProvenIdentity): Promise<UserRow> {
    const { isNew, ...user } = await personAt(tx, tenant, identity)
    if (!(await linkIdentity(tx, identity, user.user_id, now()))) {
      // It may have been linked to this very user just now, by the same person in another window.
      if ((await ownerOf(tx, identity)) !== user.user_id) throw refused('other_identity')
    } else if (!isNew) {
      // From now on the provider says who comes in as somebody whom the tenant knew before.
      const link = { change: 'user_identity_linked', connection_id: identity.connectionId, role: user.role }
      await changes.note(tx, tenant, user.user_id, link, { actor })
    }
    return user
  }

  return {
    async ofIdentity(tx, tenant, identity) {
      const ownerId = await ownerOf(tx, identity)
      const owner = ownerId === undefined ? undefined : await userById(tx, ownerId)
      if (owner && !isActive(owner)) throw refused('deactivated')
      const user = owner ?? (await firstTime(tx, tenant, identity))
      const current = await withIdentity(tx, tenant, user, identity)
      return asUser(await withRole(tx, tenant, current))
    },
    async ensure(tx, tenant, email, role) {
      const user = await personAt(tx, tenant, { email, role })
      return asUser(await withRole(tx, tenant, user, role))
    },
    awaitedAdministrator,
    async ofEmail(tx, email) {
      const row = await activeUserAt(tx, emailKey(email))
      return row && asUser(row)
    },
    async byId(tx, userId) {
      const row = await userById(tx, userId)
      return row && asUser(row)
    },
    async noteSignIn(tx, userId) {
      if (!(await setLastSignIn(tx, userId, now()))) throw refused('deactivated')
    },
  }
}

/** A role is only ever given by the link that welcomes the administrator. */
function causeOf(given: Role | undefined, otherwise: string): Cause {
  return { actor, reason: given === undefined ? otherwise : 'welcome_link' }
}

/** What a provider says, fit to be shown in one line. */
function displayNameOf({ displayName }: { displayName?: string | undefined }): string | null {
  const text = (displayName ?? '').replaceAll(/\p{C}+/gu, ' ').trim()
  return text === '' ? null : [...text].slice(0, displayNameLengthMax).join('')
}

function refused(reason: 'deactivated' | 'other_identity'): DomainError {
  const detail =
    reason === 'deactivated'
      ? 'This person was deactivated. An administrator of the tenant can reactivate them.'
      : 'This e-mail address belongs to another person of the tenant. An administrator of the tenant can deactivate them.'
  return new DomainError('authentication-failed', detail, { extensions: { reason } })
}
