import type { Static } from 'typebox'
import type { Role } from '../../../contract/roles.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { UserSchema } from './users/users-schemas.ts'

/** Provides the archetypes of a tenant to other modules. */
export interface ArchetypeBundle {
  allIds(tx: TenantTx): Promise<Set<string>>
}

/** The person a reference identifies, with their archetypes. */
export interface ResolvedUser {
  /** `usr_…` */
  userId: string
  active: boolean
  archetypeIds: readonly string[]
}

export interface UserReferences {
  /**
   * Resolves references: `user:<email>`, `user:<external id of the directory>` or `usr_…`, with or without `user:`;
   * text of that form is only looked up as an id. Unknown references are left out. An address takes precedence over an
   * external id, whether its owner is active or not. An external id that is an address only identifies the person who
   * also has it as user name. Of several people with the same name, the active one is used, then the one changed last.
   * Takes a few statements for any number of references.
   */
  resolveUsers(tx: TenantTx, references: readonly string[]): Promise<Map<string, ResolvedUser>>
}

/** A person of a tenant. */
export interface User {
  /** `usr_` and 24 letters and digits: `sub` of tokens, and `created_by`. */
  userId: string
  email: string
  displayName: string | null
  role: Role
  active: boolean
  /** Whether the person has ever signed in. */
  hasSignedIn: boolean
  /** Epoch of access tokens. Every change that must end live tokens raises it: another role, deactivation. */
  epoch: number
}

/** The identity that a provider vouches for. */
export interface ProvenIdentity {
  connectionId: string
  subject: string
  /** Address inside the domains of the connection; the caller has checked that. */
  email: string
  displayName?: string | undefined
}

/**
 * Finds and creates the people of a tenant for sign-in. Every method works inside the caller's transaction. A rejection
 * is a DomainError `authentication-failed` whose extension `reason` is `deactivated` or `other_identity`.
 *
 * Signing in again never undoes a deactivation: an address that only a deactivated person had is rejected until an
 * administrator adds or reactivates somebody with it.
 */
export interface SignInUsers {
  /**
   * Returns the person of an identity: known by (connection, subject); else the active person with that address, who is
   * then linked to the identity; else a new member. Rejects an address whose owner is linked to another subject of the
   * same connection: the address was given to somebody else. If the provider changed a person's address, it changes
   * here too, unless it belongs to somebody. Finds the tenant's first administrator as {@link ensure} does.
   */
  ofIdentity(tx: TenantTx, tenant: Tenant, identity: ProvenIdentity): Promise<User>
  /**
   * Returns the active person with that address, or creates one: a member, or with the given role. The administrator
   * whom the tenant was created for gets that role while the tenant has no other. A given role also applies to an
   * existing person.
   */
  ensure(tx: TenantTx, tenant: Tenant, email: string, role?: Role): Promise<User>
  /**
   * Returns the tenant's administrator address, spelled as at creation, if it equals this one and the tenant has no
   * administrator yet. Its owner becomes administrator by {@link ensure}, after any proof of owning the address.
   */
  awaitedAdministrator(tx: TenantTx, email: string): Promise<string | undefined>
  /** Returns the active person with that address. */
  ofEmail(tx: TenantTx, email: string): Promise<User | undefined>
  byId(tx: TenantTx, userId: string): Promise<User | undefined>
  /**
   * Records the time of the last sign-in. Rejects a person deactivated since the lookup, and makes a deactivation wait
   * for this transaction, so that it sees and ends the session opened here.
   */
  noteSignIn(tx: TenantTx, userId: string): Promise<void>
}

/** A {@link User} in the form of the response. `matched` is false for an active person without any archetype. */
export type UserResponse = Static<typeof UserSchema>

/** A person as sent to other systems. The address is absent for a person whom the directory removed. */
export type UserProfile = Pick<UserResponse, 'user_id' | 'role' | 'active' | 'archetype_ids' | 'source'> &
  Partial<Pick<UserResponse, 'user_name' | 'external_id' | 'email' | 'display_name'>>

export interface UserProfiles {
  /** Returns profiles by id as the transaction sees them; skips unknown ids. Takes two statements. */
  ofUsers(tx: TenantTx, userIds: readonly string[]): Promise<Map<string, UserProfile>>
}
