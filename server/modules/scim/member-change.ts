import type { JsonValue } from '../../../provenance/json.ts'
import type { DirectoryFilter } from '../roster/directory/directory-types.ts'
import type { PatchStep } from './patch-operations.ts'
import { PatchWork } from './patch-work.ts'
import { memberIds } from './resource-body.ts'
import { scimProblem } from './scim-problems.ts'
import { matchesValue } from './value-matching.ts'

type Members = readonly { userId: string; display: string }[]

export type MembersChanged = { all: readonly string[] } | { add: readonly string[]; remove: readonly string[] }

export function isOfMembers({ path }: PatchStep): boolean {
  return path.attribute.name === 'members'
}

/** Returns whether the steps depend on the current members, of which a large group has many. */
export function asksForMembers(steps: readonly PatchStep[]): boolean {
  return steps.some((step) => isOfMembers(step) && step.path.filter && idsOf(step.path.filter) === undefined)
}

/**
 * Returns the changes that steps make to the members of a group, without reading its members. Removing somebody who is
 * not a member is no error: a directory that repeats itself would never succeed.
 *
 * @param members of the group, if {@link asksForMembers} returns true
 * @throws DomainError 400 with scimType `invalidValue`, `mutability` or `tooMany`
 */
export function membersChanged(steps: readonly PatchStep[], members: Members = []): MembersChanged | undefined {
  const ofMembers = steps.filter(isOfMembers)
  if (ofMembers.length === 0) return undefined
  let all: Set<string> | undefined
  const add = new Set<string>()
  const remove = new Set<string>()
  const work = new PatchWork()
  for (const { op, path, value = null } of ofMembers) {
    if (op === 'remove') {
      const ids = path.filter ? chosen(path.filter, path.attribute, members, work) : idsIn(value)
      if (ids === undefined) all = new Set()
      for (const id of ids ?? []) {
        all?.delete(id)
        add.delete(id)
        remove.add(id)
      }
    } else {
      if (path.filter) throw scimProblem('mutability', 'Members can be added and removed; a member cannot be changed.')
      if (op === 'replace') all = new Set()
      for (const id of memberIds(value)) {
        all?.add(id)
        remove.delete(id)
        add.add(id)
      }
    }
  }
  return all ? { all: [...all] } : { add: [...add], remove: [...remove] }
}

/** Returns the listed ids; undefined means all members. */
function idsIn(value: JsonValue): string[] | undefined {
  return value === null ? undefined : memberIds(value)
}

function chosen(
  filter: DirectoryFilter,
  attribute: PatchStep['path']['attribute'],
  members: Members,
  work: PatchWork,
): string[] {
  const named = idsOf(filter)
  if (named) return named
  const values = members.map(({ userId, display }) => ({ value: userId, display, type: 'User' }))
  work.spendFilter(filter, values)
  return values.filter((value) => matchesValue(attribute, filter, value)).map(({ value }) => value)
}

/** Returns the ids of a filter that lists them: `value eq "…"`, or several of these joined by `or`. */
function idsOf(filter: DirectoryFilter): string[] | undefined {
  if (filter.kind === 'compare' && filter.operator === 'eq' && filter.path[0] === 'value') {
    return typeof filter.value === 'string' ? [filter.value] : []
  }
  if (filter.kind !== 'or') return undefined
  const parts = filter.terms.map(idsOf)
  return parts.includes(undefined) ? undefined : parts.flatMap((part) => part ?? [])
}
