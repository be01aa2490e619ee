import type { SkillState } from '../../../contract/literals.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { Actor } from '../governance/governance-types.ts'

/** A version of a skill, as a `skill_definition` record registers it. */
export interface SkillRegistration {
  skillId: string
  skillVersion: string
  name: string
  recordId: string
  /** RFC 3339, UTC, six fractional digits. */
  registeredAt: string
}

/** The skills of a tenant as other modules see them. */
export interface SkillRegistry {
  /**
   * Registers a version inside the transaction that writes its record. A new skill starts as `draft`; a further
   * version leaves the skill's state alone. Throws `concurrent-modification` when the version exists.
   */
  register(tx: TenantTx, skill: SkillRegistration): Promise<void>
  /** The state of a skill, or undefined when it is not registered. */
  stateOf(tx: TenantTx, skillId: string): Promise<SkillState | undefined>
  /** The states of all skills of the tenant. */
  allStates(tx: TenantTx): Promise<Map<string, SkillState>>
}

/** In the names of the answer. */
export interface Skill {
  skill_id: string
  state: SkillState
  /** Of the version registered last. */
  name: string
  registered_at: string
  updated_at: string
  /** In the order of registration. */
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
  /** Throws `not-found`. */
  get(tenant: Tenant, skillId: string): Promise<Skill>
  list(tenant: Tenant, page: { limit: number; cursor?: string | undefined }): Promise<SkillPage>
  /**
   * Moves a skill to another state; its versions follow. `published` also publishes versions that are still drafts.
   * Where nothing changes, no event is written. Throws `not-found`, and `validation-failed` (pointer `/state`) for
   * a step that the states do not allow.
   */
  transition(caller: Caller, skillId: string, state: SkillState): Promise<Skill>
}

/** Told after a commit that changed which skills are published, or to whom they are granted. */
export type SkillsChanged = (tenant: Pick<Tenant, 'slug'>) => void

/** Takes the grants of archetypes that leave the bundle, inside the transaction that removes them, with one event. */
export type ArchetypesRemoved = (
  tx: TenantTx,
  tenant: Tenant,
  archetypeIds: readonly string[],
  actor: Actor,
) => Promise<void>
