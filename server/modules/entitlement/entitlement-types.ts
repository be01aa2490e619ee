import type { SkillState } from '../../../contract/literals.ts'
import type { TenantTx } from '../../db/database.ts'

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
  allStates(tx: TenantTx): Promise<Map<string, SkillState>>
}

/** A published skill in the form that connectors distribute. */
export interface EntitledSkill {
  skillId: string
  /** The most recently registered published version. */
  skillVersion: string
  name: string
  description?: string
  /** Id of the skill_definition record. */
  recordId: string
  /** `sha256:…` of that record. */
  provenanceHash: string
  /** Content of the skill from its record; never in Mode C. */
  manifest?: unknown
  /** The archetypes it is granted to, sorted. */
  archetypeIds: readonly string[]
}

export interface SkillGrants {
  /** Returns every published skill with its grants, sorted by id. */
  published(tx: TenantTx): Promise<EntitledSkill[]>
  counts(tx: TenantTx): Promise<{ published: number; granted: number; grants: number }>
}
