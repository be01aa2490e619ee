import type { TenantTx } from '../../db/database.ts'

/** The archetypes of a tenant as other modules see them. */
export interface ArchetypeBundle {
  allIds(tx: TenantTx): Promise<Set<string>>
}
