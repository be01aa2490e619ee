import type { JsonObject } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Actor } from '../../governance/governance-types.ts'

/** A parsed SCIM filter (RFC 7644, section 3.4.2.2). Paths are lower case, without the URN of a core schema. */
export type DirectoryFilter =
  | { kind: 'compare'; path: DirectoryPath; operator: CompareOperator; value: string | number | boolean | null }
  | { kind: 'present'; path: DirectoryPath }
  | { kind: 'and' | 'or'; terms: readonly DirectoryFilter[] }
  | { kind: 'not'; term: DirectoryFilter }
  /** `emails[type eq "work"]`: matches any value of a multi-valued attribute; inner paths are its sub-attributes. */
  | { kind: 'some'; path: DirectoryPath; filter: DirectoryFilter }

export type CompareOperator = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le'

/** `['username']`, `['name', 'familyname']`, `['urn:…:enterprise:2.0:user', 'manager', 'value']`. */
export type DirectoryPath = readonly string[]

export interface DirectoryQuery {
  filter?: DirectoryFilter | undefined
  sort?: { path: DirectoryPath; descending: boolean } | undefined
  /** Number of resources to skip; the first has offset 0. */
  offset: number
  /** Maximum number of resources; 0 requests the total alone. */
  count: number
}

/** The data that a directory provides about a person, without the Hub's additions. */
export interface DirectoryUserWrite {
  userName: string
  externalId: string | null
  active: boolean
  /** All other attributes of the SCIM resource, validated and in canonical spelling, without password and groups. */
  attributes: JsonObject
}

export interface DirectoryUser extends DirectoryUserWrite {
  /** `usr_…`: the id in hub.users, and the `id` of the SCIM resource. */
  userId: string
  /** Whether the person is active in the Hub; an administrator may have overridden the directory. */
  active: boolean
  /** The last value from the directory. */
  wantedActive: boolean
  /** Empty if there are too many for a response. */
  groups: readonly { groupId: string; displayName: string }[]
  /** Number of changes, used as the ETag. */
  revision: number
  createdAt: string
  updatedAt: string
}

export interface DirectoryGroupWrite {
  displayName: string
  externalId: string | null
  attributes: JsonObject
}

export interface DirectoryGroup extends DirectoryGroupWrite {
  /** `grp_…` */
  groupId: string
  /** Absent if the query excluded members, or if there are too many for a response. */
  members?: readonly { userId: string; display: string }[]
  revision: number
  createdAt: string
  updatedAt: string
}

/** The actor of a change, and the revision it expects. */
export interface DirectoryCause {
  actor: Actor
  /** Expected revision. Any other throws `concurrent-modification`. */
  revision?: number | undefined
}

/** Maps a group to an archetype. Both may occur in several mappings. */
export interface GroupMapping {
  group: string
  archetype_id: string
}

export interface BulkOutcome {
  added: number
  updated: number
  /** Number of updated people who became inactive. */
  deactivated?: number
  /** User ids of the last administrators, who stay active although the directory has them as inactive. */
  keptActive?: readonly string[]
}

/**
 * The people and groups of a company's directory, received by SCIM push or pull. Every method works inside the caller's
 * transaction, writes its governance events there (never with an address), and keeps hub.users in step. A new person is
 * created, or the active person with the same address is adopted. Deactivation ends sessions and tokens. Archetypes
 * follow the groups by the mapping of the SCIM configuration, with one `rbac.archetype_assigned` for each person whose
 * archetypes changed. Roles never change. The address of a person with a role above member does not change either, and
 * the directory does not reactivate people whom a person deactivated.
 *
 * Throws DomainError: `concurrent-modification` with the pointer `/userName` or `/displayName` if the name is in use,
 * without a pointer for a wrong revision; `not-found` for an unknown id; `validation-failed`.
 */
export interface Directory {
  /** Locks the tenant's directory until the transaction ends. Every method that changes it does this itself. */
  lock(tx: TenantTx): Promise<void>
  createUser(tx: TenantTx, tenant: Tenant, user: DirectoryUserWrite, cause: DirectoryCause): Promise<DirectoryUser>
  /**
   * Replaces a person and returns the resource. `active` is the value from the directory. Without a difference nothing
   * changes and the revision stays.
   */
  replaceUser(
    tx: TenantTx,
    tenant: Tenant,
    userId: string,
    user: DirectoryUserWrite,
    cause: DirectoryCause,
  ): Promise<DirectoryUser>
  /** Deactivates the person. From then on the Hub knows only the id. */
  removeUser(tx: TenantTx, tenant: Tenant, userId: string, cause: DirectoryCause): Promise<void>
  user(tx: TenantTx, userId: string): Promise<DirectoryUser | undefined>
  users(tx: TenantTx, query: DirectoryQuery): Promise<{ total: number; items: DirectoryUser[] }>

  createGroup(
    tx: TenantTx,
    tenant: Tenant,
    group: DirectoryGroupWrite,
    memberIds: readonly string[],
    cause: DirectoryCause,
  ): Promise<DirectoryGroup>
  /**
   * Changes a group. `members` replaces all of them, or adds and removes some. Throws `validation-failed` for an id
   * that is no user of the directory.
   */
  changeGroup(
    tx: TenantTx,
    tenant: Tenant,
    groupId: string,
    change: {
      group?: DirectoryGroupWrite
      members?: { all: readonly string[] } | { add: readonly string[]; remove: readonly string[] }
    },
    cause: DirectoryCause,
  ): Promise<DirectoryGroup>
  removeGroup(tx: TenantTx, tenant: Tenant, groupId: string, cause: DirectoryCause): Promise<void>
  group(tx: TenantTx, groupId: string, withMembers: boolean): Promise<DirectoryGroup | undefined>
  groups(
    tx: TenantTx,
    query: DirectoryQuery & { withMembers: boolean },
  ): Promise<{ total: number; items: DirectoryGroup[] }>

  /**
   * Stores a page of a pull and marks its people as seen by the sync. Matches people by external id, else by user name.
   */
  putUsers(
    tx: TenantTx,
    tenant: Tenant,
    users: readonly DirectoryUserWrite[],
    syncId: string,
    actor: Actor,
  ): Promise<BulkOutcome>
  /**
   * Stores a page of groups as {@link putUsers} does. Members are external ids of users (SCIM `value`); unknown ones
   * are ignored.
   */
  putGroups(
    tx: TenantTx,
    tenant: Tenant,
    groups: readonly (DirectoryGroupWrite & { memberExternalIds: readonly string[] })[],
    syncId: string,
    actor: Actor,
  ): Promise<BulkOutcome>
  /** Counts active people whom the sync did not see, and all active people of the directory. */
  countUnseen(tx: TenantTx, syncId: string): Promise<{ unseen: number; active: number }>
  /**
   * Deactivates up to `limit` unseen people and returns their number. Returns 0 when none is left, with the absent last
   * administrators, who stay active. The last call also removes the unseen groups.
   */
  deactivateUnseen(
    tx: TenantTx,
    tenant: Tenant,
    syncId: string,
    actor: Actor,
    limit: number,
  ): Promise<{ deactivated: number; keptActive: readonly string[] }>

  /**
   * Updates the archetypes of up to `limit` people to match groups and mapping, in the order of user ids from `after`
   * on. Returns the next `after`, undefined at the end. Used after a change of the mapping or the bundle, and at the
   * end of a pull.
   */
  assignArchetypes(
    tx: TenantTx,
    tenant: Tenant,
    actor: Actor,
    page: { after: string; limit: number },
  ): Promise<{ next: string | undefined; assigned: number }>
  counts(tx: TenantTx): Promise<RosterCounts>
}

export interface RosterCounts {
  /** Number of active people who are in the directory or have archetypes. */
  users: number
  /** Number of those in the directory without an archetype. */
  unmatched: number
  groups: number
}
