import type { Static } from 'typebox'
import type { SkillState } from '../../../../contract/literals.ts'
import { type Database, readTenant, type TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ResolvedUser, UserReferences } from '../../roster/roster-types.ts'
import { statesOf } from '../entitlement-store.ts'
import { grantsBetween } from '../grants/grants-store.ts'
import type { CheckQuery, EntitlementSchema } from './checks-schemas.ts'

/** A user and a skill to check. */
type EntitlementQuestion = Static<typeof CheckQuery>
type Entitlement = Static<typeof EntitlementSchema>

/**
 * Checks entitlements and returns the results in the order of the questions. Takes a few statements for any number.
 */
export function checkEntitlements(
  { database, references }: { database: Database; references: UserReferences },
  { slug }: Tenant,
  questions: readonly EntitlementQuestion[],
): Promise<Entitlement[]> {
  return readTenant(database, slug, (tx) => answer(tx, references, questions), { snapshot: true })
}

async function answer(
  tx: TenantTx,
  references: UserReferences,
  questions: readonly EntitlementQuestion[],
): Promise<Entitlement[]> {
  const skillIds = [...new Set(questions.map((question) => question.skill_id))]
  const users = await references.resolveUsers(tx, [...new Set(questions.map((question) => question.user_id))])
  const archetypeIds = [...new Set([...users.values()].flatMap((user) => user.archetypeIds))]
  const states = await statesOf(tx, skillIds)
  const grants = await grantsBetween(tx, archetypeIds, skillIds)
  const granted = new Set(grants.map((grant) => `${grant.archetype_id} ${grant.skill_id}`))
  return questions.map((question) => {
    const user = users.get(question.user_id)
    const state = states.get(question.skill_id)
    const by = (user?.archetypeIds ?? []).filter((id) => granted.has(`${id} ${question.skill_id}`)).sort()
    const reason = rejection(user, state, by)
    return {
      ...question,
      allowed: reason === undefined,
      ...(reason ? { reason } : state === 'deprecated' && { deprecated: true }),
      archetype_ids: by,
    }
  })
}

/** Returns the reason of a rejection. A deprecated skill still works for everybody it is granted to. */
function rejection(
  user: ResolvedUser | undefined,
  state: SkillState | undefined,
  grantedTo: readonly string[],
): Entitlement['reason'] {
  if (!user) return 'user_unknown'
  if (!user.active) return 'user_deactivated'
  if (state === undefined) return 'skill_unknown'
  if (state === 'draft') return 'skill_not_published'
  if (state === 'retired') return 'skill_retired'
  if (user.archetypeIds.length === 0) return 'no_archetype'
  return grantedTo.length === 0 ? 'not_granted' : undefined
}
