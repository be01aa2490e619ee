import { isDeepStrictEqual } from 'node:util'
import { DomainError } from '../../../../contract/domain-error.ts'
import { scimPageMembersMax } from '../../../../contract/limits.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Actor, GovernanceEvent, GovernanceLog } from '../../governance/governance-types.ts'
import { now } from '../users/user-changes.ts'
import { nameTaken, requireRevision, requireStorable, unknownUser } from './directory-errors.ts'
import { groupCounts, leaveGroups, membershipsOf } from './directory-members-store.ts'
import { changedMembers, nameKey, type PersonDetails, personOf } from './directory-names.ts'
import type { Directory, DirectoryCause, DirectoryUser, DirectoryUserWrite } from './directory-types.ts'
import {
  type DirectoryUserRow,
  deleteUser,
  insertUsers,
  lockDirectory,
  updateUsers,
  usersByIds,
  usersKnownBy,
} from './directory-users-store.ts'
import type { GroupArchetypes } from './group-archetypes.ts'
import { eventOf, type People } from './people.ts'
import { erasePerson, type PersonRow, peopleByIds } from './people-store.ts'
import { countLimit } from './short-page.ts'

interface UserChange {
  before?: DirectoryUserRow | undefined
  after: DirectoryUserWrite
}

interface DirectoryUsersDeps {
  governance: GovernanceLog
  people: People
  assignment: GroupArchetypes
  /** Returns the replacement for the address of a removed person. */
  formerAddressKey: (tenantId: string, emailKey: string) => string
}

/** Stores the people of a company's directory; see {@link Directory}. */
export class DirectoryUsers implements Pick<Directory, 'createUser' | 'replaceUser' | 'removeUser' | 'user'> {
  readonly #deps: DirectoryUsersDeps

  constructor(deps: DirectoryUsersDeps) {
    this.#deps = deps
  }

  async user(tx: TenantTx, userId: string): Promise<DirectoryUser | undefined> {
    return (await withGroups(tx, await usersByIds(tx, [userId])))[0]
  }

  async createUser(tx: TenantTx, tenant: Tenant, write: DirectoryUserWrite, { actor }: DirectoryCause) {
    await lockDirectory(tx)
    return this.#storeOne(tx, tenant, { after: write }, actor)
  }

  async replaceUser(tx: TenantTx, tenant: Tenant, userId: string, write: DirectoryUserWrite, cause: DirectoryCause) {
    await lockDirectory(tx)
    const before = await existing(tx, userId)
    requireRevision(before.revision, cause.revision)
    return this.#storeOne(tx, tenant, { before, after: write }, cause.actor)
  }

  async removeUser(tx: TenantTx, tenant: Tenant, userId: string, { actor, revision }: DirectoryCause): Promise<void> {
    const { governance, people, assignment, formerAddressKey } = this.#deps
    await lockDirectory(tx)
    const row = await existing(tx, userId)
    requireRevision(row.revision, revision)
    const left: GovernanceEvent[] = []
    if ((await people.deactivate(tx, tenant, [userId], actor, left)).length > 0) throw lastAdministrator('')
    // Written before the names are erased, since the messages to others contain them.
    await governance.appendAll(tx, tenant, left)
    await leaveGroups(tx, userId, now())
    await deleteUser(tx, userId)
    const cleared = await assignment.clear(tx, userId, actor)
    const [person] = await peopleByIds(tx, [userId])
    const key = person!.email_key
    await erasePerson(tx, userId, key === '' ? '' : formerAddressKey(tx.tenantId, key))
    const changed = forgotten(row, person!)
    const removed = eventOf(userId, { change: 'directory_user_removed', changed }, actor)
    await governance.appendAll(tx, tenant, [...cleared, removed])
  }

  /**
   * Applies changes to the directory and to the people of the Hub in a few statements. The new names must be free.
   * Returns the user ids in the order of the changes, how many of the updated people became inactive, and the last
   * administrators, who stay active.
   */
  async store(tx: TenantTx, tenant: Tenant, changes: readonly UserChange[], actor: Actor) {
    const events: GovernanceEvent[] = []
    const known = changes.filter(isOfKnown)
    // Updates come first: they may free an address that a new person needs.
    const { updated, deactivated, kept } = await this.#update(tx, tenant, known.filter(isChange), actor, events)
    const fresh = changes.filter(({ before }) => !before).map(({ after }) => after)
    const ids = await this.#add(tx, tenant, fresh, actor, events)
    await this.#deps.governance.appendAll(tx, tenant, events)
    const newIds = ids.userIds.values()
    const userIds = changes.map(({ before }) => before?.user_id ?? newIds.next().value!)
    return { userIds, added: fresh.length, updated, deactivated, kept: [...kept, ...ids.kept] }
  }

  async #storeOne(tx: TenantTx, tenant: Tenant, change: UserChange, actor: Actor): Promise<DirectoryUser> {
    requireStorable(change.after)
    await requireFreeName(tx, change.after.userName, change.before?.user_id)
    const { userIds, kept } = await this.store(tx, tenant, [change], actor)
    if (kept.length > 0) throw lastAdministrator('/active')
    return (await this.user(tx, userIds[0]!))!
  }

  async #update(tx: TenantTx, tenant: Tenant, changes: KnownChange[], actor: Actor, events: GovernanceEvent[]) {
    if (changes.length === 0) return { updated: 0, deactivated: 0, kept: [] }
    const { people } = this.#deps
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
    const kept = await people.deactivate(tx, tenant, leaving, actor, events)
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

  async #add(tx: TenantTx, tenant: Tenant, users: DirectoryUserWrite[], actor: Actor, events: GovernanceEvent[]) {
    if (users.length === 0) return { userIds: [], kept: [] }
    const { people } = this.#deps
    const wanted = users.map((user) => ({ ...personOf(user), active: user.active, externalId: user.externalId }))
    const userIds = await people.add(tx, wanted, actor, events)
    // Affects adopted people only: a person created as inactive is inactive already.
    const leaving = userIds.filter((_, index) => !users[index]!.active)
    const kept = await people.deactivate(tx, tenant, leaving, actor, events)
    const rows = users.map((user, index) => {
      const userId = userIds[index]!
      return { ...user, userId, active: user.active || kept.includes(userId) }
    })
    await insertUsers(tx, rows, now())
    return { userIds, kept }
  }
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
  return [...(before.user_name === after.userName ? [] : ['userName']), ...changedMembers(before, after)]
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
