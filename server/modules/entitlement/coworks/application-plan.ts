import type { SkillState } from '../../../../contract/literals.ts'
import type { VersionRow } from '../entitlement-store.ts'
import { sortedPairs } from '../grants/grant-events.ts'
import type { GrantPair, GrantRow } from '../grants/grants-store.ts'
import type { CoworkSkill } from './coworks-types.ts'

/** What a tenant has before a pack is applied, as far as the pack concerns it. */
export interface ApplicationGround {
  coworkId: string
  skills: readonly CoworkSkill[]
  archetypeIds: readonly string[]
  /** Of the skills of the pack that are registered. */
  states: ReadonlyMap<string, SkillState>
  /** Every version of those skills. */
  versions: readonly Pick<VersionRow, 'skill_id' | 'skill_version' | 'state'>[]
  /** Those that the pack gave, and those of its archetypes for its skills, whoever gave them. */
  grants: readonly GrantRow[]
  /** What other packs give. */
  others: readonly { cowork_id: string; archetype_ids: readonly string[]; skill_ids: readonly string[] }[]
}

type VersionPair = Pick<VersionRow, 'skill_id' | 'skill_version'>

/** What applying the pack changes. */
export interface ApplicationPlan {
  register: CoworkSkill[]
  /** Registered versions that are published. */
  publish: VersionPair[]
  /** Skills whose state, or any of whose versions, comes to be `published`. */
  published: string[]
  granted: GrantPair[]
  revoked: GrantPair[]
  /** What it no longer gives, but another pack does: those are of that pack from now on. */
  passed: { coworkId: string; pairs: GrantPair[] }[]
}

/**
 * Versions of the pack are published, and where their skill was deprecated, its deprecated versions with it, as in any
 * publication; drafts that the pack does not name stay drafts. No skill of it may be retired.
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

/** Neither ids nor versions have a space. */
function keyOf({ skill_id, skill_version }: VersionPair): string {
  return `${skill_id} ${skill_version}`
}

function pairKey({ archetype_id, skill_id }: GrantPair): string {
  return `${archetype_id} ${skill_id}`
}
