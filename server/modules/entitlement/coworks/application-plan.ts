import type { SkillState } from '../../../../contract/literals.ts'
import type { VersionRow } from '../entitlement-store.ts'
import { sortedPairs } from '../grants/grant-events.ts'
import type { GrantPair, GrantRow } from '../grants/grants-store.ts'
import type { CoworkSkill } from './coworks-types.ts'

/** The state of a tenant before a pack is applied, limited to what the pack concerns. */
export interface ApplicationGround {
  coworkId: string
  skills: readonly CoworkSkill[]
  archetypeIds: readonly string[]
  /** States of the pack's registered skills. */
  states: ReadonlyMap<string, SkillState>
  versions: readonly Pick<VersionRow, 'skill_id' | 'skill_version' | 'state'>[]
  /** The grants from the pack, and those between its archetypes and skills from any source. */
  grants: readonly GrantRow[]
  /** The contents of other applied packs. */
  others: readonly { cowork_id: string; archetype_ids: readonly string[]; skill_ids: readonly string[] }[]
}

type VersionPair = Pick<VersionRow, 'skill_id' | 'skill_version'>

/** The changes of applying a pack. */
export interface ApplicationPlan {
  register: CoworkSkill[]
  /** Registered versions to publish. */
  publish: VersionPair[]
  /** Skills that become `published`, or get a newly published version. */
  published: string[]
  granted: GrantPair[]
  revoked: GrantPair[]
  /** Grants that this pack drops and another pack contains. They move to that pack. */
  passed: { coworkId: string; pairs: GrantPair[] }[]
}

/**
 * Plans the application of a pack. Publishes its versions; if their skill was deprecated, also the skill's deprecated
 * versions, as any publication does. Drafts that the pack does not name stay drafts. None of its skills may be retired.
 */
export function planApplication(ground: ApplicationGround): ApplicationPlan {
  const { skills, states } = ground
  const known = new Map(ground.versions.map((version) => [keyOf(version), version]))
  const register = skills.filter((skill) => !known.has(keyOf(skill)))
  const named = new Set(skills.map(keyOf))
  const publish = ground.versions.filter(
    (version) =>
      (named.has(keyOf(version)) && version.state !== 'published') ||
      (version.state === 'deprecated' && states.get(version.skill_id) === 'deprecated'),
  )
  const published = new Set([...register, ...publish].map((version) => version.skill_id))
  for (const { skill_id } of skills) if (states.get(skill_id) !== 'published') published.add(skill_id)
  return { register, publish, published: [...published].sort(), ...planGrants(ground) }
}

function planGrants({ coworkId, skills, archetypeIds, grants, others }: ApplicationGround) {
  const wanted = archetypeIds.flatMap((archetype_id) => skills.map(({ skill_id }) => ({ archetype_id, skill_id })))
  const wantedKeys = new Set(wanted.map(pairKey))
  const there = new Set(grants.map(pairKey))
  const given = others.map((other) => ({
    coworkId: other.cowork_id,
    archetypes: new Set(other.archetype_ids),
    skills: new Set(other.skill_ids),
  }))
  const revoked: GrantPair[] = []
  const passed = new Map<string, GrantPair[]>()
  for (const grant of grants) {
    if (grant.cowork_id !== coworkId || wantedKeys.has(pairKey(grant))) continue
    const heir = given.find(
      ({ archetypes, skills }) => archetypes.has(grant.archetype_id) && skills.has(grant.skill_id),
    )
    if (heir === undefined) revoked.push(grant)
    else passed.getOrInsert(heir.coworkId, []).push(grant)
  }
  return {
    granted: sortedPairs(wanted.filter((pair) => !there.has(pairKey(pair)))),
    revoked: sortedPairs(revoked),
    passed: [...passed].map(([heir, pairs]) => ({ coworkId: heir, pairs: sortedPairs(pairs) })),
  }
}

/** Joins id and version, which contain no spaces. */
function keyOf({ skill_id, skill_version }: VersionPair): string {
  return `${skill_id} ${skill_version}`
}

function pairKey({ archetype_id, skill_id }: GrantPair): string {
  return `${archetype_id} ${skill_id}`
}
