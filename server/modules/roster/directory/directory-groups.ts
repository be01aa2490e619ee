import { type DomainError, type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { scimAssignedInPlaceMax, scimPageMembersMax } from '../../../../contract/limits.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Actor, GovernanceEvent, GovernanceLog } from '../../governance/governance-types.ts'
import { now } from '../users/user-changes.ts'
import { nameTaken, requireRevision, requireStorable, unknownGroup } from './directory-errors.ts'
import {
  type DirectoryGroupRow,
  deleteGroups,
  groupsByIds,
  groupsKnownBy,
  insertGroups,
  updateGroups,
} from './directory-groups-store.ts'
import {
  deleteMembers,
  deleteOtherMembers,
  insertMembers,
  memberCounts,
  memberIdsOf,
  membersOf,
  type Pair,
  touchGroups,
} from './directory-members-store.ts'
import { changedMembers, makeGroupId, nameKey } from './directory-names.ts'
import type { Directory, DirectoryGroup, DirectoryGroupWrite } from './directory-types.ts'
import { knownUserIds, lockDirectory } from './directory-users-store.ts'
import type { GroupArchetypes } from './group-archetypes.ts'
import { countLimit } from './short-page.ts'

const assignedAtOnce = 200

type GroupOperations = Pick<Directory, 'createGroup' | 'changeGroup' | 'removeGroup' | 'group'>
type MemberChange = NonNullable<Parameters<Directory['changeGroup']>[3]['members']>

export function createDirectoryGroups(deps: {
  governance: GovernanceLog
  assignment: GroupArchetypes
  /** Reconciles everybody's archetypes in the background once the transaction commits. */
  settleLater: (tx: TenantTx) => Promise<void>
}): GroupOperations {
  const { governance, assignment } = deps

  async function existing(tx: TenantTx, groupId: string): Promise<DirectoryGroupRow> {
    const [row] = await groupsByIds(tx, [groupId])
    if (!row) throw unknownGroup()
    return row
  }

  /** Returns whether the current mapping names the group. */
  async function isMapped(tx: TenantTx, groupId: string): Promise<boolean> {
    return (await assignment.ofGroups(tx)).has(groupId)
  }

  /**
   * Assigns archetypes in batches: creating the events of thousands at once would block everybody else. Very many
   * people are left to the background, since the directory stays locked meanwhile.
   */
  async function assign(tx: TenantTx, tenant: Tenant, userIds: readonly string[], actor: Actor): Promise<void> {
    if (userIds.length > scimAssignedInPlaceMax) return deps.settleLater(tx)
    for (let at = 0; at < userIds.length; at += assignedAtOnce) {
      const events = await assignment.byGroups(tx, userIds.slice(at, at + assignedAtOnce), actor)
      await governance.appendAll(tx, tenant, events)
    }
  }

  async function group(tx: TenantTx, groupId: string, withMembers: boolean) {
    const rows = await groupsByIds(tx, [groupId])
    return (await groupResponses(tx, rows, withMembers))[0]
  }

  return {
    group,

    async createGroup(tx, tenant, write, memberIds, { actor }) {
      requireStorable(write)
      await lockDirectory(tx)
      await requireFreeName(tx, write.displayName)
      await requireUsers(tx, memberIds)
      const groupId = makeGroupId()
      await insertGroups(tx, [{ ...write, groupId }], now())
      const added = await insertMembers(tx, pairsOf(groupId, memberIds))
      const event = groupEvent(groupId, 'directory_group_created', { members: added.length }, actor)
      await governance.append(tx, tenant, event)
      if (await isMapped(tx, groupId)) await assign(tx, tenant, idsOf(added), actor)
      return (await group(tx, groupId, true))!
    },

    async changeGroup(tx, tenant, groupId, change, { actor, revision }) {
      if (change.group) requireStorable(change.group)
      await lockDirectory(tx)
      const before = await existing(tx, groupId)
      requireRevision(before.revision, revision)
      const isRenamed = change.group !== undefined && isOtherName(before, change.group)
      const attributes = change.group ? changedAttributes(before, change.group) : []
      const wasMapped = await isMapped(tx, groupId)
      if (change.group && attributes.length > 0) {
        await requireFreeName(tx, change.group.displayName, groupId)
        await updateGroups(tx, [{ ...change.group, groupId }])
      }
      const { added, removed } = await changeMembers(tx, groupId, change.members)
      if (attributes.length + added.length + removed.length === 0) return (await group(tx, groupId, true))!
      await touchGroups(tx, [groupId], now())
      // A new name may map everybody in the group to other archetypes.
      const stayed = isRenamed ? await memberIdsOf(tx, groupId) : []
      const touched = new Set([...idsOf(added), ...idsOf(removed), ...stayed])
      const counts = { added: added.length, removed: removed.length }
      const event = groupEvent(groupId, 'directory_group', { attributes, members: counts }, actor)
      await governance.append(tx, tenant, event)
      const decides = wasMapped || (isRenamed && (await isMapped(tx, groupId)))
      if (decides) await assign(tx, tenant, [...touched], actor)
      return (await group(tx, groupId, true))!
    },

    async removeGroup(tx, tenant, groupId, { actor, revision }) {
      await lockDirectory(tx)
      requireRevision((await existing(tx, groupId)).revision, revision)
      const members = await memberIdsOf(tx, groupId)
      const wasMapped = await isMapped(tx, groupId)
      await deleteGroups(tx, [groupId])
      const event = groupEvent(groupId, 'directory_group_removed', { members: members.length }, actor)
      await governance.append(tx, tenant, event)
      if (wasMapped) await assign(tx, tenant, members, actor)
    },
  }
}

async function changeMembers(
  tx: TenantTx,
  groupId: string,
  change: MemberChange | undefined,
): Promise<{ added: Pair[]; removed: Pair[] }> {
  if (!change) return { added: [], removed: [] }
  if ('all' in change) {
    await requireUsers(tx, change.all)
    const pairs = pairsOf(groupId, change.all)
    const removed = await deleteOtherMembers(tx, [groupId], pairs)
    return { added: await insertMembers(tx, pairs), removed }
  }
  await requireUsers(tx, change.add)
  const removed = await deleteMembers(tx, groupId, change.remove)
  return { added: await insertMembers(tx, pairsOf(groupId, change.add)), removed }
}

async function requireFreeName(tx: TenantTx, displayName: string, except?: string): Promise<void> {
  const owners = await groupsKnownBy(tx, { nameKeys: [nameKey(displayName)], externalIds: [] })
  if (owners.some(({ group_id: id }) => id !== except)) throw nameTaken('/displayName')
}

/** Maximum number of unknown members that an error lists: a hundred thousand would make a long response. */
const unknownNamedMax = 100

async function requireUsers(tx: TenantTx, userIds: readonly string[]): Promise<void> {
  if (userIds.length === 0) return
  const known = await knownUserIds(tx, userIds)
  const errors = userIds.flatMap((id, index) =>
    known.has(id) ? [] : [{ pointer: `/members/${index}/value`, detail: 'is not a user of the directory' }],
  )
  if (errors.length > 0) throw unknownMembers(errors)
}

function unknownMembers(errors: PointedError[]): DomainError {
  const named = errors.slice(0, unknownNamedMax)
  const others = errors.length - named.length
  const { message } = validationFailed(named)
  return validationFailed(named, others === 0 ? message : `${message}; and ${others} more`)
}

function pairsOf(groupId: string, userIds: readonly string[]): Pair[] {
  return [...new Set(userIds)].map((userId) => ({ group_id: groupId, user_id: userId }))
}

function idsOf(pairs: readonly Pair[]): string[] {
  return pairs.map((pair) => pair.user_id)
}

/** Returns whether a name changed that a mapping could use. */
export function isOtherName(before: DirectoryGroupRow, after: DirectoryGroupWrite): boolean {
  return before.display_name_key !== nameKey(after.displayName) || before.external_id !== after.externalId
}

/** Returns the names of the changed attributes, never their values. */
export function changedAttributes(before: DirectoryGroupRow, after: DirectoryGroupWrite): string[] {
  return [...(before.display_name === after.displayName ? [] : ['displayName']), ...changedMembers(before, after)]
}

export function groupEvent(
  groupId: string,
  change: string,
  details: NonNullable<GovernanceEvent['details']>,
  actor: Actor,
): GovernanceEvent {
  return { kind: 'tenant.config_changed', subject: `group:${groupId}`, details: { change, ...details }, actor }
}

/** Returns groups in the order of the rows; leaves out the members of groups that have too many for a response. */
export async function groupResponses(
  tx: TenantTx,
  rows: readonly DirectoryGroupRow[],
  withMembers: boolean,
): Promise<DirectoryGroup[]> {
  if (rows.length === 0) return []
  const counts = withMembers
    ? await memberCounts(
        tx,
        rows.map((row) => row.group_id),
        countLimit,
      )
    : undefined
  const groupIds = rows.map((row) => row.group_id).filter((id) => (counts?.get(id) ?? 0) <= scimPageMembersMax)
  const members = counts && Map.groupBy(await membersOf(tx, groupIds), (row) => row.group_id)
  const shown = new Set(groupIds)
  return rows.map((row) => ({
    groupId: row.group_id,
    displayName: row.display_name,
    externalId: row.external_id,
    attributes: row.attributes,
    ...(members &&
      shown.has(row.group_id) && {
        members: (members.get(row.group_id) ?? []).map((member) => ({
          userId: member.user_id,
          display: member.display_name ?? member.user_name,
        })),
      }),
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }))
}
