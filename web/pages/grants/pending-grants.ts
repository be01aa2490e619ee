import type { Grant } from '../../components/full-lists.ts'

/** Grants by archetype, then skill. */
export type GivenGrants = ReadonlyMap<string, ReadonlyMap<string, Grant>>

/**
 * Unsaved changes by archetype, then skill: true gives, false takes. Each states the target, not a toggle, so that
 * concurrent changes do not invert it.
 */
export type PendingGrants = ReadonlyMap<string, ReadonlyMap<string, boolean>>

export function byArchetype(grants: readonly Grant[]): GivenGrants {
  const found = new Map<string, Map<string, Grant>>()
  for (const grant of grants) {
    const skills = found.get(grant.archetype_id) ?? new Map<string, Grant>()
    found.set(grant.archetype_id, skills.set(grant.skill_id, grant))
  }
  return found
}

/** Requests the opposite of the cell's state. A second toggle of the same cell cancels the change. */
export function toggled(
  wishes: PendingGrants,
  given: GivenGrants,
  archetypeId: string,
  skillId: string,
): PendingGrants {
  const isGiven = given.get(archetypeId)?.has(skillId) ?? false
  const ofArchetype = new Map(wishes.get(archetypeId))
  const wanted = !(ofArchetype.get(skillId) ?? isGiven)
  if (wanted === isGiven) ofArchetype.delete(skillId)
  else ofArchetype.set(skillId, wanted)
  return replaced(wishes, archetypeId, ofArchetype)
}

/** Returns the changes that are still needed: another user may have made the same. */
export function unfulfilled(wishes: PendingGrants, given: GivenGrants): PendingGrants {
  let open: PendingGrants = new Map()
  for (const [archetypeId, skills] of wishes) {
    const has = (skillId: string) => given.get(archetypeId)?.has(skillId) ?? false
    open = replaced(open, archetypeId, new Map([...skills].filter(([skillId, wanted]) => wanted !== has(skillId))))
  }
  return open
}

/** @returns the skills of an archetype once its changes are made, the others unchanged */
export function fulfilled(skillIds: Iterable<string>, wishes: ReadonlyMap<string, boolean>): string[] {
  const next = new Set(skillIds)
  for (const [skillId, wanted] of wishes) {
    if (wanted) next.add(skillId)
    else next.delete(skillId)
  }
  return [...next]
}

function replaced(wishes: PendingGrants, archetypeId: string, skills: ReadonlyMap<string, boolean>): PendingGrants {
  const next = new Map(wishes)
  if (skills.size > 0) next.set(archetypeId, skills)
  else next.delete(archetypeId)
  return next
}
