import { DomainError } from '../../../contract/domain-error.ts'
import type { CatalogueChanged } from '../tenants/tenants-types.ts'
import { ensureSkill, insertVersion, lockSkills, skillState, skillStates } from './entitlement-store.ts'
import type { SkillRegistry } from './entitlement-types.ts'

/** Creates the registry. It does not depend on governance, so the writer of governance events can depend on it. */
export function createSkillRegistry(deps: { catalogueChanged: CatalogueChanged }): SkillRegistry {
  return {
    async register(tx, skill) {
      await lockSkills(tx)
      await ensureSkill(tx, skill.skillId, skill.registeredAt)
      if (!(await insertVersion(tx, skill))) {
        throw new DomainError(
          'concurrent-modification',
          `Version ${skill.skillVersion} of the skill ${skill.skillId} is registered already. Give it a new version.`,
          { errors: [{ pointer: '/skill_version', detail: 'is registered already' }] },
        )
      }
      tx.afterCommit(() => deps.catalogueChanged(tx.tenantId))
    },
    stateOf: skillState,
    allStates: skillStates,
  }
}
