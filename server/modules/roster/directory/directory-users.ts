import { isDeepStrictEqual } from 'node:util'
import { DomainError } from '../../../../contract/domain-error.ts'
import { scimPageMembersMax } from '../../../../contract/limits.ts'
import type { JsonObject } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Actor, GovernanceEvent, GovernanceLog } from '../../governance/governance-types.ts'
import { now } from '../users/user-changes.ts'
import type { ArchetypeAssignment } from './archetype-assignment.ts'
import { groupCounts, leaveGroups, membershipsOf } from './directory-members-store.ts'
import { nameKey, type PersonDetails, personOf } from './directory-names.ts'
import { nameTaken, requireRevision, requireStorable, unknownUser } from './directory-refusals.ts'
import type { Directory, DirectoryUser, DirectoryUserWrite } from './directory-types.ts'
import {
  type DirectoryUserRow,
  deleteUser,
  insertUsers,
  lockDirectory,
  updateUsers,
  usersByIds,
  usersKnownBy,
} from './directory-users-store.ts'
import { eventOf, type People } from './people.ts'
import { erasePerson, type PersonRow, peopleByIds } from './people-store.ts'
import { countLimit } from './short-page.ts'

export interface UserChange {
  before?: DirectoryUserRow | undefined
  after: DirectoryUserWrite
}

export interface StoredUsers {
  /** User ids in the order of the changes. */
  userIds: string[]
  added: number
  updated: number
  /** Number of updated people who became inactive. */
  deactivated: number
  /** Last administrators, who stay active. */
  kept: string[]
}

export interface DirectoryUsers extends Pick<Directory, 'createUser' | 'replaceUser' | 'removeUser' | 'user'> {
  /** Applies changes to the directory and to the people of the Hub in a few statements. The new names must be free. */
  store(tx: TenantTx, tenant: Tenant, changes: readonly UserChange[], actor: Actor): Promise<StoredUsers>
}

export function createDirectoryUsers(deps: {
  governance: GovernanceLog
  people: People
  assignment: ArchetypeAssignment
  /** Returns the replacement for the address of a removed person. */
  formerAddressKey: (tenantId: string, emailKey: string) => string
}): DirectoryUsers {
  const { governance, people, assignment } = deps

  async function store(tx: TenantTx, tenant: Tenant, changes: readonly UserChange[], actor: Actor) {
    const events: GovernanceEvent[] = []
    const known = changes.filter(isOfKnown)
    // Updates come first: they may free an address that a new person needs.
    const { updated, deactivated, kept } = await update(tx, known.filter(isChange), actor, events)
    const fresh = changes.filter(({ before }) => !before).map(({ after }) => after)
    const ids = await add(tx, fresh, actor, events)
    await governance.appendAll(tx, tenant, events)
    const newIds = ids.userIds.values()
    const userIds = changes.map(({ before }) => before?.user_id ?? newIds.next().value!)
    return { userIds, added: fresh.length, updated, deactivated, kept: [...kept, ...ids.kept] }
  }

  async function update(tx: TenantTx, changes: KnownChange[], actor: Actor, events: GovernanceEvent[]) {
    if (changes.length === 0) return { updated: 0, deactivated: 0, kept: [] }
    const idsWhere = (isIt: (change: KnownChange) => boolean) =>
      changes.filter(isIt).map(({ before }) => before.user_id)
    const details = changes.map(({ before, after }) => ({
      userId: before.user_id,
      before: personOf({ userName: before.user_name, attributes: before.attributes }),
      after: personOf(after),
    }))
    await people.change(
      tx,
      details.filter((person) => !isDeepStrictEqual(person.before, person.after)),
      actor,
      events,
    )
    const leaving = idsWhere(({ before, after }) => before.active && !after.active)
    const kept = await people.deactivate(tx, leaving, actor, events)
    const returning = idsWhere(({ before, after }) => !before.active && after.active)
    await people.reactivate(tx, returning, actor, events)
    const stored = changes
      .map((change) => ({
        ...change,
        after: kept.includes(change.before.user_id) ? { ...change.after, active: true } : change.after,
      }))
      .filter(isChange)
    await updateUsers(
      tx,
      stored.map(({ before, after }) => ({ ...after, userId: before.user_id })),
      now(),
    )
    const renamed = new Set(details.filter(hasNewName).map(({ userId }) => userId))
    for (const change of stored) {
      const attributes = changedAttributes(change)
      if (attributes.length === 0) continue
      const changed = renamed.has(change.before.user_id) ? { changed: ['display_name'] } : {}
      events.push(eventOf(change.before.user_id, { change: 'directory_user', attributes, ...changed }, actor))
    }
    return { updated: stored.length, deactivated: leaving.length - kept.length, kept }
  }

  async function add(tx: TenantTx, users: DirectoryUserWrite[], actor: Actor, events: GovernanceEvent[]) {
    if (users.length === 0) return { userIds: [], kept: [] }
    const wanted = users.map((user) => ({ ...personOf(user), active: user.active, externalId: user.externalId }))
    const userIds = await people.add(tx, wanted, actor, events)
    // Affects adopted people only: a person created as inactive is inactive already.
    const leaving = userIds.filter((_, index) => !users[index]!.active)
    const kept = await people.deactivate(tx, leaving, actor, events)
    const rows = users.map((user, index) => {
      const userId = userIds[index]!
      return { ...user, userId, active: user.active || kept.includes(userId) }
    })
    await insertUsers(tx, rows, now())
    return { userIds, kept }
  }

  async function existing(tx: TenantTx, userId: string): Promise<DirectoryUserRow> {
    const [row] = await usersByIds(tx, [userId])
    if (!row) throw unknownUser()
    return row
  }

  async function requireFreeName(tx: TenantTx, userName: string, except?: string): Promise<void> {
    const owners = await usersKnownBy(tx, { nameKeys: [nameKey(userName)], externalIds: [] })
    if (owners.some(({ user_id: id }) => id !== except)) throw nameTaken('/userName')
  }

  async function storeOne(tx: TenantTx, tenant: Tenant, change: UserChange, actor: Actor): Promise<DirectoryUser> {
    requireStorable(change.after)
    await requireFreeName(tx, change.after.userName, change.before?.user_id)
    const { userIds, kept } = await store(tx, tenant, [change], actor)
    if (kept.length > 0) throw lastAdministrator('/active')
    return (await user(tx, userIds[0]!))!
  }

  async function user(tx: TenantTx, userId: string): Promise<DirectoryUser | undefined> {
    const rows = await usersByIds(tx, [userId])
    return (await withGroups(tx, rows))[0]
  }

  return {
    store,
    user,
    async createUser(tx, tenant, write, { actor }) {
      await lockDirectory(tx)
      return storeOne(tx, tenant, { after: write }, actor)
    },
    async replaceUser(tx, tenant, userId, write, { actor, revision }) {
      await lockDirectory(tx)
      const before = await existing(tx, userId)
      requireRevision(before.revision, revision)
      return storeOne(tx, tenant, { before, after: write }, actor)
    },
    async removeUser(tx, tenant, userId, { actor, revision }) {
      await lockDirectory(tx)
      const row = await existing(tx, userId)
      requireRevision(row.revision, revision)
      const left: GovernanceEvent[] = []
      if ((await people.deactivate(tx, [userId], actor, left)).length > 0) throw lastAdministrator('')
      // Written before the names are erased, since the messages to others contain them.
      await governance.appendAll(tx, tenant, left)
      await leaveGroups(tx, userId, now())
      await deleteUser(tx, userId)
      const cleared = await assignment.clear(tx, userId, actor)
      const [person] = await peopleByIds(tx, [userId])
      const key = person!.email_key
      await erasePerson(tx, userId, key === '' ? '' : deps.formerAddressKey(tx.tenantId, key))
      const changed = forgotten(row, person!)
      const removed = eventOf(userId, { change: 'directory_user_removed', changed }, actor)
      await governance.appendAll(tx, tenant, [...cleared, removed])
    },
  }
}

type KnownChange = UserChange & { before: DirectoryUserRow }

function isOfKnown(change: UserChange): change is KnownChange {
  return change.before !== undefined
}

function isChange({ before, after }: KnownChange): boolean {
  return (
    before.user_name !== after.userName ||
    before.external_id !== after.externalId ||
    before.active !== after.active ||
    !isDeepStrictEqual(before.attributes, after.attributes)
  )
}

/** Returns the names of the changed attributes, never their values. A change of `active` has its own event. */
function changedAttributes({ before, after }: KnownChange): string[] {
  const [old, next]: JsonObject[] = [before.attributes, after.attributes]
  const names = new Set([...Object.keys(old!), ...Object.keys(next!)])
  return [
    ...(before.user_name === after.userName ? [] : ['userName']),
    ...(before.external_id === after.externalId ? [] : ['externalId']),
    ...[...names].filter((name) => !isDeepStrictEqual(old![name], next![name])).sort(),
  ]
}

/** Returns whether the display name in the Hub changes. */
function hasNewName({ before, after }: { before: PersonDetails; after: PersonDetails }): boolean {
  return before.displayName !== after.displayName
}

/** Returns the erased members, named as in API responses. */
function forgotten({ external_id }: DirectoryUserRow, { email, display_name }: PersonRow): string[] {
  return [
    ...(email === '' ? [] : ['email']),
    ...(display_name === null ? [] : ['display_name']),
    ...(external_id === null ? [] : ['external_id']),
  ]
}

/**
 * Returns people with their groups, in the order of the rows; without groups for people who are in too many for a
 * response.
 */
export async function withGroups(tx: TenantTx, rows: readonly DirectoryUserRow[]): Promise<DirectoryUser[]> {
  if (rows.length === 0) return []
  const userIds = rows.map((row) => row.user_id)
  const counts = await groupCounts(tx, userIds, countLimit)
  const shown = userIds.filter((id) => (counts.get(id) ?? 0) <= scimPageMembersMax)
  const memberships = await membershipsOf(tx, shown)
  const groupsOf = Map.groupBy(memberships, (row) => row.user_id)
  return rows.map((row) => ({
    userId: row.user_id,
    userName: row.user_name,
    externalId: row.external_id,
    active: row.is_active,
    wantedActive: row.active,
    attributes: row.attributes,
    groups: (groupsOf.get(row.user_id) ?? []).map(({ group_id, display_name }) => ({
      groupId: group_id,
      displayName: display_name,
    })),
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }))
}

function lastAdministrator(pointer: string): DomainError {
  const detail =
    'The person is the last active administrator of the tenant and stays active. Make another user administrator first.'
  const errors = pointer === '' ? undefined : [{ pointer, detail: 'would deactivate the last active administrator' }]
  return new DomainError('concurrent-modification', detail, errors ? { errors } : {})
}
