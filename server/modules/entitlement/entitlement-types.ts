import type { SkillState } from '../../../contract/literals.ts'
import type { TenantTx } from '../../db/database.ts'

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
