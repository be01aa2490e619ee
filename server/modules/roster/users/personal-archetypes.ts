import type { Static } from 'typebox'
import { DomainError, validationFailed } from '../../../../contract/domain-error.ts'
import { readTenant, type TenantTx } from '../../../db/database.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { GovernanceEvent } from '../../governance/governance-types.ts'
import { lockDirectory } from '../directory/directory-users-store.ts'
import type { GroupArchetypes } from '../directory/group-archetypes.ts'
import { archetypesOf, setByHand } from '../directory/user-archetypes-store.ts'
import type { UserArchetypesSchema } from './users-schemas.ts'
import { userById } from './users-store.ts'

type UserArchetypes = Static<typeof UserArchetypesSchema>

export type PersonalArchetypes = ReturnType<typeof createPersonalArchetypes>

/**
 * Manages the archetypes of single users. Every method throws `not-found` for an unknown user. Repeating a change does
 * nothing.
 */
export function createPersonalArchetypes(
  deps: Pick<ModuleParts, 'database' | 'governance'> & {
    assignment: GroupArchetypes
    bundleOf: (tx: TenantTx) => Promise<Set<string>>
  },
) {
  const { database, governance, assignment } = deps

  function change(caller: Caller, userId: string, work: (tx: TenantTx) => Promise<GovernanceEvent[]>) {
    return database.withTenant(caller.tenant.slug, async (tx) => {
      await lockDirectory(tx)
      await requireUser(tx, userId)
      await governance.appendAll(tx, caller.tenant, await work(tx))
      return toResponse(tx, userId)
    })
  }

  return {
    get: (tenant: Tenant, userId: string) =>
      readTenant(database, tenant.slug, async (tx) => {
        await requireUser(tx, userId)
        return toResponse(tx, userId)
      }),

    /**
     * Sets archetypes manually; groups no longer decide. Throws `validation-failed` with a pointer to each id outside
     * the bundle.
     */
    replace: (caller: Caller, userId: string, archetypeIds: readonly string[]) =>
      change(caller, userId, async (tx) => {
        const bundle = await deps.bundleOf(tx)
        const errors = archetypeIds.flatMap((id, index) =>
          bundle.has(id) ? [] : [{ pointer: `/archetype_ids/${index}`, detail: 'is not in archetype_bundle' }],
        )
        if (errors.length > 0) throw validationFailed(errors)
        return assignment.byHand(tx, userId, archetypeIds, caller)
      }),

    /** Lets groups decide again. */
    reset: (caller: Caller, userId: string) => change(caller, userId, (tx) => assignment.reset(tx, userId, caller)),
  }
}

async function requireUser(tx: TenantTx, userId: string): Promise<void> {
  if (!(await userById(tx, userId))) throw new DomainError('not-found', 'The tenant has no user with this id.')
}

async function toResponse(tx: TenantTx, userId: string): Promise<UserArchetypes> {
  const archetypes = await archetypesOf(tx, [userId])
  return {
    user_id: userId,
    archetype_ids: archetypes.map((row) => row.archetype_id),
    source: (await setByHand(tx, [userId])).has(userId) ? 'manual' : 'group',
  }
}
