import type { SkillState } from '../../../contract/literals.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { Actor } from '../governance/governance-types.ts'

/** A version of a skill that a `skill_definition` record registers. */
export interface SkillRegistration {
  skillId: string
  skillVersion: string
  name: string
  recordId: string
  /** RFC 3339, UTC, six fractional digits. */
  registeredAt: string
}

/** Provides the skills of a tenant to other modules. */
export interface SkillRegistry {
  /**
   * Registers a version inside the transaction that writes its record. A new skill starts as `draft`; a further version
   * leaves the skill's state unchanged. Throws `concurrent-modification` if the version exists.
   */
  register(tx: TenantTx, skill: SkillRegistration): Promise<void>
  /** Returns the state of a skill, or undefined if it is not registered. */
  stateOf(tx: TenantTx, skillId: string): Promise<SkillState | undefined>
  /** Returns the states of all skills of the tenant. */
  allStates(tx: TenantTx): Promise<Map<string, SkillState>>
}

/** A skill, with the member names of the response. */
export interface Skill {
  skill_id: string
  state: SkillState
  /** Name of the most recently registered version. */
  name: string
  registered_at: string
  updated_at: string
  /** Versions in the order of registration. */
  versions: SkillVersion[]
}

export interface SkillVersion {
  skill_version: string
  state: SkillState
  name: string
  record_id: string
  registered_at: string
}

export interface SkillPage {
  items: Skill[]
  next_cursor: string | null
}

export interface Skills {
  /** Returns a skill. Throws `not-found`. */
  get(tenant: Tenant, skillId: string): Promise<Skill>
  list(tenant: Tenant, page: { limit: number; cursor?: string | undefined }): Promise<SkillPage>
  /**
   * Moves a skill to another state; its versions follow. `published` also publishes versions that are still drafts. A
   * call that changes nothing writes no event. Throws `not-found`, and `validation-failed` (pointer `/state`) for a
   * transition that is not allowed.
   */
  transition(caller: Caller, skillId: string, state: SkillState): Promise<Skill>
}

/** Called after a commit that changed which skills are published or whom they are granted to. */
export type SkillsChanged = (tenant: Pick<Tenant, 'slug'>) => void

/** Revokes the grants of archetypes that leave the bundle, inside the transaction that removes them, with one event. */
export type ArchetypesRemoved = (
  tx: TenantTx,
  tenant: Tenant,
  archetypeIds: readonly string[],
  actor: Actor,
) => Promise<void>
