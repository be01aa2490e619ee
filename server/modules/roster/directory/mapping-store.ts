import type { TenantTx } from '../../../db/database.ts'
import type { GroupMapping } from './directory-types.ts'

/** Returns the mapping of the tenant's SCIM configuration; empty without one. */
export async function mappingOf(tx: TenantTx): Promise<readonly GroupMapping[]> {
  const { rows } = await tx.client.query<{ group_archetype_map: GroupMapping[] }>(
    'select group_archetype_map from hub.scim_configurations where tenant_id = $1',
    [tx.tenantId],
  )
  return rows[0]?.group_archetype_map ?? []
}
