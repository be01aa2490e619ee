import { DomainError } from '../../../../contract/domain-error.ts'
import { emailKey } from '../../../../contract/email-address.ts'
import { displayNameLengthMax } from '../../../../contract/limits.ts'
import type { Role } from '../../../../contract/roles.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ProvenIdentity, SignInUsers, User } from '../roster-types.ts'
import { asUser, type Cause, isActive, makeUserId, now, rejectTakenAddress, type UserChanges } from './user-changes.ts'
import { hasFormerUserAt, linkIdentity, ownerOf } from './user-identities-store.ts'
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

/** The address to look up, with what is known about its owner. */
interface Wanted {
  email: string
  role?: Role | undefined
  displayName?: string | undefined
  /** The connection of the identity that has the address. */
  connectionId?: string
}

interface SignInUsersDeps {
  changes: UserChanges
  /** Returns the address of the administrator the tenant was created for. */
  adminEmail: (tx: TenantTx) => Promise<string | undefined>
  /** Returns the stored replacement for the address of a removed person. */
  formerAddressKey: (tenantId: string, emailKey: string) => string
}

export class RosterSignIn implements SignInUsers {
  readonly #deps: SignInUsersDeps

  constructor(deps: SignInUsersDeps) {
    this.#deps = deps
  }

  async ofIdentity(tx: TenantTx, tenant: Tenant, identity: ProvenIdentity): Promise<User> {
    const ownerId = await ownerOf(tx, identity)
    const owner = ownerId === undefined ? undefined : await userById(tx, ownerId)
    if (owner && !isActive(owner)) throw refused('deactivated')
    const user = owner ?? (await this.#firstTime(tx, tenant, identity))
    const current = await this.#withIdentity(tx, tenant, user, identity)
    return asUser(await this.#withRole(tx, tenant, current))
  }

  async ensure(tx: TenantTx, tenant: Tenant, email: string, role?: Role): Promise<User> {
    const user = await this.#personAt(tx, tenant, { email, role })
    return asUser(await this.#withRole(tx, tenant, user, role))
  }

  async ofEmail(tx: TenantTx, email: string): Promise<User | undefined> {
    const row = await activeUserAt(tx, emailKey(email))
    return row && asUser(row)
  }

  async byId(tx: TenantTx, userId: string): Promise<User | undefined> {
    const row = await userById(tx, userId)
    return row && asUser(row)
  }

  async noteSignIn(tx: TenantTx, userId: string): Promise<void> {
    if (!(await setLastSignIn(tx, userId, now()))) throw refused('deactivated')
  }

  /** Returns the active person with that address, or creates one. */
  async #personAt(tx: TenantTx, tenant: Tenant, wanted: Wanted): Promise<UserRow & { isNew?: true }> {
    const key = emailKey(wanted.email)
    const known = await activeUserAt(tx, key)
    if (known) return known
    // Signing in again must not undo a deactivation. An administrator must add the new owner of such an address.
    const formerKeys = [key, this.#deps.formerAddressKey(tx.tenantId, key)]
    if (await hasFormerUserAt(tx, formerKeys, wanted.connectionId)) throw refused('deactivated')
    const role = wanted.role ?? 'member'
    const display_name = displayNameOf(wanted)
    const row = { user_id: makeUserId(), email: wanted.email, email_key: key, display_name, role }
    const inserted = await insertUser(tx, row, now())
    if (inserted) {
      await this.#deps.changes.added(tx, tenant, inserted, causeOf(wanted.role, 'first_sign_in'))
      return { ...inserted, isNew: true }
    }
    // A concurrent sign-in was faster and has committed: the conflict waited for that.
    const other = await activeUserAt(tx, key)
    if (!other) throw refused('deactivated')
    return other
  }

  /** Applies the given role, or the role of the first administrator. */
  async #withRole(tx: TenantTx, tenant: Tenant, user: UserRow, given?: Role): Promise<UserRow> {
    const role = given ?? ((await this.awaitedAdministrator(tx, user.email)) === undefined ? user.role : 'admin')
    if (role === user.role) return user
    await lockRoles(tx)
    const locked = await userById(tx, user.user_id)
    if (!locked || !isActive(locked)) throw refused('deactivated')
    if (given === undefined && (await hasActiveAdmin(tx))) return locked
    return this.#deps.changes.changeRole(tx, tenant, locked, role, causeOf(given, 'first_administrator'))
  }

  async awaitedAdministrator(tx: TenantTx, email: string): Promise<string | undefined> {
    if (await hasActiveAdmin(tx)) return undefined
    const adminEmail = await this.#deps.adminEmail(tx)
    return adminEmail !== undefined && emailKey(adminEmail) === emailKey(email) ? adminEmail : undefined
  }

  /** Updates the name and the address from the identity provider. */
  async #withIdentity(tx: TenantTx, tenant: Tenant, user: UserRow, identity: ProvenIdentity): Promise<UserRow> {
    const displayName = user.display_name === null ? displayNameOf(identity) : null
    const cause = { actor, reason: 'identity_provider' }
    if (displayName !== null) {
      await setDisplayName(tx, user.user_id, displayName, now())
      await this.#deps.changes.note(tx, tenant, user.user_id, { change: 'user_display_name' }, cause)
    }
    const named = displayName === null ? user : { ...user, display_name: displayName }
    const key = emailKey(identity.email)
    if (key === user.email_key || (await activeUserAt(tx, key))) return named
    const moved = await setAddress(tx, user.user_id, { email: identity.email, emailKey: key }, now()).catch(
      rejectTakenAddress,
    )
    await this.#deps.changes.note(tx, tenant, user.user_id, { change: 'user_email' }, cause)
    return moved
  }

  /** Returns the person with the address of a new identity, and links both permanently. */
  async #firstTime(tx: TenantTx, tenant: Tenant, identity: ProvenIdentity): Promise<UserRow> {
    const { isNew, ...user } = await this.#personAt(tx, tenant, identity)
    if (!(await linkIdentity(tx, identity, user.user_id, now()))) {
      // The same person may just have linked it in another window.
      if ((await ownerOf(tx, identity)) !== user.user_id) throw refused('other_identity')
    } else if (!isNew) {
      // From now on the provider controls who signs in as a person the tenant knew before.
      const link = { change: 'user_identity_linked', connection_id: identity.connectionId, role: user.role }
      await this.#deps.changes.note(tx, tenant, user.user_id, link, { actor })
    }
    return user
  }
}

/** Returns the cause of a change. Only the welcome link of the administrator gives a role. */
function causeOf(given: Role | undefined, otherwise: string): Cause {
  return { actor, reason: given === undefined ? otherwise : 'welcome_link' }
}

/** Returns the provider's display name in a form that fits on one line. */
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
