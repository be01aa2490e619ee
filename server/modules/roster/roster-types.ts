import type { Role } from '../../../contract/roles.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { Actor } from '../governance/governance-types.ts'

/** The archetypes of a tenant as other modules see them. */
export interface ArchetypeBundle {
  allIds(tx: TenantTx): Promise<Set<string>>
}

/** In the names of the answer. */
export interface Archetype {
  archetype_id: string
  name?: string
}

export interface Archetypes {
  /**
   * Replaces the bundle and answers what is stored. Repeating it changes nothing and writes no event. Throws
   * `validation-failed` with a pointer to each id that is malformed or occurs twice.
   */
  replace(tenant: Tenant, archetypes: readonly Archetype[], actor: Actor): Promise<Archetype[]>
  list(tenant: Tenant, page: { limit: number; cursor?: string | undefined }): Promise<ArchetypePage>
}

export interface ArchetypePage {
  items: Archetype[]
  next_cursor: string | null
}

/** Whom a reference means, and what they may do by their archetypes. */
export interface ResolvedUser {
  /** `usr_…` */
  userId: string
  active: boolean
  archetypeIds: readonly string[]
}

export interface UserReferences {
  /**
   * Whom references mean: `user:<email>`, `user:<external id of the directory>` or `usr_…`, which may stand after
   * `user:` too, and is never looked for as anything else. Those that mean nobody are left out. An address goes before an
   * external id, whether its owner is active or not, and an external id that is an address means only whoever has it as user
   * name too; of several people with one of them the active one is meant, then
   * the one who was changed last. A few statements, however many there are.
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
  /** Of access tokens; raised by whatever must end those that are about: another role, deactivation. */
  epoch: number
}

/** Who an identity provider says has signed in. */
export interface ProvenIdentity {
  connectionId: string
  subject: string
  /** Inside the domains of the connection: the caller has checked it. */
  email: string
  displayName?: string | undefined
}

/**
 * The people of a tenant, as signing in needs them. All work inside the caller's transaction. Those that refuse throw
 * DomainError `authentication-failed` whose extension `reason` is `deactivated` or `other_identity`.
 *
 * Nobody undoes a deactivation by signing in again: an address that only a deactivated person had is refused until an
 * administrator adds or reactivates somebody with it.
 */
export interface SignInUsers {
  /**
   * The person behind an identity: known by (connection, subject); else the active one with that address, from now on
   * linked to the identity; else a new member. An address whose owner is linked to another subject of the same
   * connection is refused: the address was given to somebody else. Whom the provider gave another address has it here
   * as well, unless it belongs to somebody. The tenant's first administrator is found as in {@link ensure}.
   */
  ofIdentity(tx: TenantTx, tenant: Tenant, identity: ProvenIdentity): Promise<User>
  /**
   * The active person with that address, made where there is none: a member, or with the role that is given. The
   * administrator whom the tenant was created for becomes one while the tenant has no other. A role that is given is
   * also given to a person who exists.
   */
  ensure(tx: TenantTx, tenant: Tenant, email: string, role?: Role): Promise<User>
  /**
   * The address, as the tenant was created for it, when it is that one and the tenant has no administrator yet: its
   * owner becomes the administrator by {@link ensure}, however they prove that the address is theirs.
   */
  awaitedAdministrator(tx: TenantTx, email: string): Promise<string | undefined>
  /** The active person with that address. */
  ofEmail(tx: TenantTx, email: string): Promise<User | undefined>
  byId(tx: TenantTx, userId: string): Promise<User | undefined>
  /**
   * Keeps when the person signed in last. Refuses one who was deactivated since they were looked up, and makes a
   * deactivation wait for this transaction: a session that is opened with it is seen, and ended, by that.
   */
  noteSignIn(tx: TenantTx, userId: string): Promise<void>
}

/** A {@link User} in the names of the answer. */
export interface UserAnswer {
  user_id: string
  email: string
  /** What the directory names, where the Hub keeps another. */
  directory_email?: string
  /** Of the directory; absent for those whom it does not keep. */
  user_name?: string
  external_id?: string
  display_name?: string
  role: Role
  active: boolean
  source: 'directory' | 'manual'
  archetype_ids: string[]
  /** False for an active person of the directory without any archetype. */
  matched: boolean
  created_at: string
  last_sign_in_at?: string
  deactivated_at?: string
}

/** A person as other systems are told of them, by the names of {@link UserAnswer}. */
export interface UserProfile {
  user_id: string
  user_name?: string
  external_id?: string
  /** Absent where the Hub knows none, such as of somebody whom the directory removed. */
  email?: string
  display_name?: string
  role: Role
  active: boolean
  archetype_ids: string[]
  source: 'directory' | 'manual'
}

export interface UserProfiles {
  /** By id, as the transaction sees them; without those whom the tenant does not have. Two statements. */
  ofUsers(tx: TenantTx, userIds: readonly string[]): Promise<Map<string, UserProfile>>
}

export interface NewUser {
  email: string
  display_name?: string
  /** Default `member`. */
  role?: Role
}

/** Of several all must hold. */
export interface UserFilter {
  role?: Role
  active?: boolean
  /** The whole address, however it is written. */
  email?: string
  /** A part of the address or the name. */
  search?: string
  group_id?: string
  archetype_id?: string
  /** See {@link UserAnswer}. */
  matched?: boolean
}

export interface UserPage {
  items: UserAnswer[]
  next_cursor: string | null
}

/**
 * The people of a tenant, as its administrators see them. All throw `not-found` for a user whom the tenant does not
 * have. Whoever changes somebody's role, or adds, deactivates or reactivates somebody, needs every scope of the role
 * before and after, else `insufficient-scope`: nobody gives or takes what they do not hold. What would leave the
 * tenant without an active administrator is `concurrent-modification`. Repeating a change does nothing.
 */
export interface Users {
  /** The oldest first. */
  list(tenant: Tenant, filter: UserFilter, page: { limit: number; cursor?: string | undefined }): Promise<UserPage>
  /** Throws `concurrent-modification` when an active user has the address. */
  create(caller: Caller, user: NewUser): Promise<UserAnswer>
  get(tenant: Tenant, userId: string): Promise<UserAnswer>
  /** Access tokens of the old role end within 5 seconds; sessions go on with the new one. */
  replaceRole(caller: Caller, userId: string, role: Role): Promise<UserAnswer>
  /** Ends the user's sessions, and access tokens within 5 seconds. */
  deactivate(caller: Caller, userId: string): Promise<UserAnswer>
  /** Throws `concurrent-modification` when the address belongs to another active user by now. */
  reactivate(caller: Caller, userId: string): Promise<UserAnswer>
}

/** In the names of the answer. */
export interface UserArchetypes {
  user_id: string
  archetype_ids: string[]
  /** Who decides: the groups of the directory, or whoever set them by hand. */
  source: 'group' | 'manual'
}

/** All throw `not-found` for a user whom the tenant does not have. Repeating a change does nothing. */
export interface PersonalArchetypes {
  get(tenant: Tenant, userId: string): Promise<UserArchetypes>
  /** From now on groups do not decide. Throws `validation-failed` with a pointer to each id outside of the bundle. */
  replace(caller: Caller, userId: string, archetypeIds: readonly string[]): Promise<UserArchetypes>
  /** From now on groups decide again. */
  reset(caller: Caller, userId: string): Promise<UserArchetypes>
}

/** A group of the directory, in the names of the answer. */
export interface GroupAnswer {
  group_id: string
  display_name: string
  external_id?: string
  member_count: number
  /** By the mapping of the SCIM configuration. */
  archetype_ids: string[]
  created_at: string
  updated_at: string
}

export interface GroupMember {
  user_id: string
  user_name: string
  email: string
  display_name?: string
  active: boolean
}

export interface Groups {
  /** The oldest first. */
  list(
    tenant: Tenant,
    page: { limit: number; cursor?: string | undefined },
  ): Promise<{ items: GroupAnswer[]; next_cursor: string | null }>
  /** By id. Throws `not-found` for a group that the tenant does not have. */
  members(
    tenant: Tenant,
    groupId: string,
    page: { limit: number; cursor?: string | undefined },
  ): Promise<{ items: GroupMember[]; next_cursor: string | null }>
}
