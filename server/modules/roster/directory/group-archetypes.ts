import type { TenantTx } from '../../../db/database.ts'
import type { Actor, GovernanceEvent } from '../../governance/governance-types.ts'
import { now } from '../users/user-changes.ts'
import { nameKey } from './directory-names.ts'
import type { GroupMapping } from './directory-types.ts'
import {
  archetypesOf,
  deleteArchetypesOf,
  groupsNamed,
  insertArchetypes,
  markByHand,
  membershipsIn,
  setByHand,
} from './user-archetypes-store.ts'

type Source = 'group' | 'manual' | 'bundle'
type Wanted = (userId: string, before: readonly string[]) => readonly string[]

export type GroupArchetypes = ReturnType<typeof createGroupArchetypes>

/**
 * Decides which people have which archetypes. Every method returns one `rbac.archetype_assigned` for each person whose
 * archetypes changed; the caller writes them. The directory must be locked.
 */
export function createGroupArchetypes(deps: {
  mappingOf: (tx: TenantTx) => Promise<readonly GroupMapping[]>
  bundleOf: (tx: TenantTx) => Promise<Set<string>>
}) {
  /** Assigns archetypes by groups, except to people whose archetypes are set manually. */
  async function byGroups(tx: TenantTx, userIds: readonly string[], actor: Actor): Promise<GovernanceEvent[]> {
    if (userIds.length === 0) return []
    const manual = await setByHand(tx, userIds)
    const people = userIds.filter((id) => !manual.has(id))
    const archetypesOfGroup = await mappedGroups(tx)
    const memberships = await membershipsIn(tx, people, [...archetypesOfGroup.keys()])
    const groupsOf = Map.groupBy(memberships, ({ user_id: id }) => id)
    const wanted: Wanted = (userId) =>
      (groupsOf.get(userId) ?? []).flatMap(({ group_id: id }) => archetypesOfGroup.get(id)!)
    return assign(tx, people, wanted, 'group', actor)
  }

  /** Returns the archetypes of each mapped group, limited to those in the bundle. */
  async function mappedGroups(tx: TenantTx): Promise<Map<string, string[]>> {
    const bundle = await deps.bundleOf(tx)
    const mapping = (await deps.mappingOf(tx)).filter(({ archetype_id: id }) => bundle.has(id))
    if (mapping.length === 0) return new Map()
    const ofName = Map.groupBy(mapping, ({ group }) => group)
    const ofKey = Map.groupBy(mapping, ({ group }) => nameKey(group))
    const groups = await groupsNamed(tx, [...ofName.keys()], [...ofKey.keys()])
    return new Map(
      groups.map((group) => [
        group.group_id,
        [
          ...(ofKey.get(group.display_name_key) ?? []),
          ...(ofName.get(group.external_id ?? '') ?? []),
          ...(ofName.get(group.group_id) ?? []),
        ].map(({ archetype_id: id }) => id),
      ]),
    )
  }

  async function assign(
    tx: TenantTx,
    userIds: readonly string[],
    wanted: Wanted,
    source: Source,
    actor: Actor,
  ): Promise<GovernanceEvent[]> {
    const current = Map.groupBy(await archetypesOf(tx, userIds), ({ user_id: id }) => id)
    const events: GovernanceEvent[] = []
    const given: { user_id: string; archetype_id: string }[] = []
    const taken: typeof given = []
    for (const userId of userIds) {
      const before = (current.get(userId) ?? []).map(({ archetype_id: id }) => id)
      const after = [...new Set(wanted(userId, before))].sort()
      const more = after.filter((id) => !before.includes(id))
      const less = before.filter((id) => !after.includes(id))
      if (more.length + less.length === 0) continue
      given.push(...more.map((id) => ({ user_id: userId, archetype_id: id })))
      taken.push(...less.map((id) => ({ user_id: userId, archetype_id: id })))
      events.push({
        kind: 'rbac.archetype_assigned',
        subject: `user:${userId}`,
        details: { before, after, source },
        actor,
      })
    }
    await deleteArchetypesOf(tx, taken)
    await insertArchetypes(tx, given, now())
    return events
  }

  return {
    byGroups,
    ofGroups: mappedGroups,
    /** Sets archetypes manually; groups no longer decide. */
    async byHand(tx: TenantTx, userId: string, archetypeIds: readonly string[], actor: Actor) {
      const isNew = await markByHand(tx, userId, true)
      const events = await assign(tx, [userId], () => archetypeIds, 'manual', actor)
      return isNew && events.length === 0 ? [sourceEvent(userId, ['group', 'manual'], actor)] : events
    },
    /** Lets groups decide again. */
    async reset(tx: TenantTx, userId: string, actor: Actor) {
      const isNew = await markByHand(tx, userId, false)
      if (!isNew) return []
      const events = await byGroups(tx, [userId], actor)
      return events.length === 0 ? [sourceEvent(userId, ['manual', 'group'], actor)] : events
    },
    /** Removes deleted archetypes from everyone who has them. */
    withdraw(tx: TenantTx, userIds: readonly string[], archetypeIds: readonly string[], actor: Actor) {
      const gone = new Set(archetypeIds)
      return assign(tx, userIds, (_, before) => before.filter((id) => !gone.has(id)), 'bundle', actor)
    },
    /** Removes all archetypes of a person whom the directory removed. */
    async clear(tx: TenantTx, userId: string, actor: Actor) {
      await markByHand(tx, userId, false)
      return assign(tx, [userId], () => [], 'group', actor)
    },
  }
}

/** Returns the event for a change of source alone, where the archetypes stay the same. */
function sourceEvent(userId: string, [before, after]: [Source, Source], actor: Actor): GovernanceEvent {
  const details = { change: 'user_archetypes_source', before, after }
  return { kind: 'tenant.config_changed', subject: `user:${userId}`, details, actor }
}
