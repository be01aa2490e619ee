import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { Actor } from '../governance/governance-types.ts'

/** The archetypes of a tenant as other modules see them. */
export interface ArchetypeBundle {
  allIds(tx: TenantTx): Promise<Set<string>>
}

/** In the names of the answer. */
export interface Archetype {
  archetype_id: string
  name?: string
}

export interface Archetypes {
  /**
   * Replaces the bundle and answers what is stored. Repeating it changes nothing and writes no event. Throws
   * `validation-failed` with a pointer to each id that is malformed or occurs twice.
   */
  replace(tenant: Tenant, archetypes: readonly Archetype[], actor: Actor): Promise<Archetype[]>
  list(tenant: Tenant, page: { limit: number; cursor?: string | undefined }): Promise<ArchetypePage>
}

export interface ArchetypePage {
  items: Archetype[]
  next_cursor: string | null
}
