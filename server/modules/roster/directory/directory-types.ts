import type { JsonObject } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Actor } from '../../governance/governance-types.ts'

/** A SCIM filter (RFC 7644, section 3.4.2.2), parsed. Paths are lower case, without the URN of a core schema. */
export type DirectoryFilter =
  | { kind: 'compare'; path: DirectoryPath; operator: CompareOperator; value: string | number | boolean | null }
  | { kind: 'present'; path: DirectoryPath }
  | { kind: 'and' | 'or'; terms: readonly DirectoryFilter[] }
  | { kind: 'not'; term: DirectoryFilter }
  /** `emails[type eq "work"]`: some value of a multi-valued attribute; paths inside are its sub-attributes. */
  | { kind: 'some'; path: DirectoryPath; filter: DirectoryFilter }

export type CompareOperator = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le'

/** `['username']`, `['name', 'familyname']`, `['urn:…:enterprise:2.0:user', 'manager', 'value']`. */
export type DirectoryPath = readonly string[]

export interface DirectoryQuery {
  filter?: DirectoryFilter | undefined
  sort?: { path: DirectoryPath; descending: boolean } | undefined
  /** From 0. */
  offset: number
  /** 0 asks for the total alone. */
  count: number
}

/** What a directory says of a person, without what the Hub adds. */
export interface DirectoryUserWrite {
  userName: string
  externalId: string | null
  active: boolean
  /** Every other attribute of the SCIM resource, checked and in its canonical spelling; no password, no groups. */
  attributes: JsonObject
}

export interface DirectoryUser extends DirectoryUserWrite {
  /** `usr_…`: of hub.users too, and the `id` of the SCIM resource. */
  userId: string
  /** Whether the person is active in the Hub, which an administrator may have decided. */
  active: boolean
  /** What the directory said last. */
  wantedActive: boolean
  /** None where they are too many for an answer. */
  groups: readonly { groupId: string; displayName: string }[]
  /** Counts the changes: the ETag. */
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
  /** Left out where the query said so, and where they are too many for an answer. */
  members?: readonly { userId: string; display: string }[]
  revision: number
  createdAt: string
  updatedAt: string
}

/** Who changes the directory, and which connection it came by. */
export interface DirectoryCause {
  actor: Actor
  /** Refuses with `concurrent-modification` when the resource has another revision by now. */
  revision?: number | undefined
}

/** How a group comes to an archetype; several groups may name one, and one group several. */
export interface GroupMapping {
  group: string
  archetype_id: string
}

export interface BulkOutcome {
  added: number
  updated: number
  /** Of those that were updated: people who were active before, and are not now. */
  deactivated?: number
  /** User ids of people whom the directory has as inactive: the last administrators, left active. */
  keptActive?: readonly string[]
}

/**
 * The people and groups that a company's directory keeps here, by SCIM or pulled. Everything works inside the caller's
 * transaction, writes its governance events in it (never with an address), and keeps hub.users in step: a person is
 * made, or the active one with the same address is taken up; deactivation ends sessions and tokens; archetypes follow
 * the groups by the mapping of the SCIM configuration, one `rbac.archetype_assigned` for each person whose archetypes
 * changed. Roles are never touched. Of people with a role above member, the address is not changed either, nor does the
 * directory reactivate whom a person deactivated.
 *
 * Throws DomainError: `concurrent-modification` with the pointer `/userName` or `/displayName` when the name is taken,
 * with none for a wrong revision; `not-found` for an id that is unknown; `validation-failed`.
 */
export interface Directory {
  /** Until the transaction ends nobody else changes the tenant's directory. All that changes it does this by itself. */
  lock(tx: TenantTx): Promise<void>
  createUser(tx: TenantTx, tenant: Tenant, user: DirectoryUserWrite, cause: DirectoryCause): Promise<DirectoryUser>
  /** `active` is what the directory wants. Answers the resource as it is then; nothing changes, and the revision stays, where nothing differs. */
  replaceUser(
    tx: TenantTx,
    tenant: Tenant,
    userId: string,
    user: DirectoryUserWrite,
    cause: DirectoryCause,
  ): Promise<DirectoryUser>
  /** The person is deactivated, and known to the Hub by id only from then on. */
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
  /** `members` replaces all of them, or adds and removes some; ids that are no user of the directory are `validation-failed`. */
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

  /** A page of a pull: people known by external id, else by user name. Marks them as seen by the sync. */
  putUsers(
    tx: TenantTx,
    tenant: Tenant,
    users: readonly DirectoryUserWrite[],
    syncId: string,
    actor: Actor,
  ): Promise<BulkOutcome>
  /** As {@link putUsers}; members are named by external ids of users (SCIM `value`), unknown ones are left out. */
  putGroups(
    tx: TenantTx,
    tenant: Tenant,
    groups: readonly (DirectoryGroupWrite & { memberExternalIds: readonly string[] })[],
    syncId: string,
    actor: Actor,
  ): Promise<BulkOutcome>
  /** Active people whom the sync did not meet, and all active people of the directory. */
  countUnseen(tx: TenantTx, syncId: string): Promise<{ unseen: number; active: number }>
  /**
   * Deactivates up to `limit` of them, and answers how many; 0 when none is left, then with the last administrators who
   * are absent and stay active. Groups that were not met go with the last.
   */
  deactivateUnseen(
    tx: TenantTx,
    tenant: Tenant,
    syncId: string,
    actor: Actor,
    limit: number,
  ): Promise<{ deactivated: number; keptActive: readonly string[] }>

  /**
   * Brings the archetypes of up to `limit` people in line with groups and mapping, from the user id `after` on; answers
   * where to go on, undefined at the end. For a changed mapping or bundle, and the end of a pull.
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
  /** Active people of the directory, and others that have archetypes. */
  users: number
  /** Of those of the directory that have no archetype. */
  unmatched: number
  groups: number
}
