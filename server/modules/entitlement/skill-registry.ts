import { DomainError } from '../../../contract/domain-error.ts'
import type { EventBus } from '../../events.ts'
import { ensureSkill, insertVersion, lockSkills, skillState, skillStates } from './entitlement-store.ts'
import type { SkillRegistry } from './entitlement-types.ts'

/** Creates the registry. It does not depend on governance, so the writer of governance events can depend on it. */
export function createSkillRegistry(deps: { events: EventBus }): SkillRegistry {
  return {
    async register(tx, skill) {
      await lockSkills(tx)
      await ensureSkill(tx, skill.skillId, skill.registeredAt)
      if (!(await insertVersion(tx, skill))) {
        throw new DomainError(
          'concurrent-modification',
          `Version ${skill.skillVersion} of the skill ${skill.skillId} is already registered. Use a new version.`,
          { errors: [{ pointer: '/skill_version', detail: 'is already registered' }] },
        )
      }
      tx.afterCommit(() => deps.events.publish('catalogueChanged', { tenantId: tx.tenantId }))
    },
    stateOf: skillState,
    allStates: skillStates,
  }
}
