import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'

/** `[generation, milliseconds since 1970]`: the generation that was replaced, and the time of that. */
export type Rotation = [generation: number, atMs: number]

type Stored = Omit<TenantTables['hub.refresh_families'], 'tenant_id' | 'rotations'>
export type FamilyRow = Stored & { rotations: Rotation[] }

export async function insertFamily(tx: TenantTx, row: Omit<FamilyRow, 'rotations'>): Promise<void> {
  await tx.db
    .insertInto('hub.refresh_families')
    .values({ tenant_id: tx.tenantId, ...row, rotations: JSON.stringify([]) })
    .execute()
}

export async function lockFamily(tx: TenantTx, familyId: string): Promise<FamilyRow | undefined> {
  const row = await tx.db
    .selectFrom('hub.refresh_families')
    .selectAll()
    .where('tenant_id', '=', tx.tenantId)
    .where('family_id', '=', familyId)
    .forUpdate()
    .executeTakeFirst()
  return row && { ...row, rotations: row.rotations as Rotation[] }
}

export async function advanceFamily(
  tx: TenantTx,
  row: Pick<FamilyRow, 'family_id' | 'generation' | 'rotated_at' | 'rotations'>,
): Promise<void> {
  await tx.db
    .updateTable('hub.refresh_families')
    .set({ generation: row.generation, rotated_at: row.rotated_at, rotations: JSON.stringify(row.rotations) })
    .where('tenant_id', '=', tx.tenantId)
    .where('family_id', '=', row.family_id)
    .execute()
}

/** Deletes all refresh families of the session except the `keep` most recently used ones. */
export async function dropFamilies(tx: TenantTx, sessionId: string, keep: number): Promise<void> {
  await tx.db
    .deleteFrom('hub.refresh_families')
    .where('tenant_id', '=', tx.tenantId)
    .where('session_id', '=', sessionId)
    .where('family_id', 'in', (from) =>
      from
        .selectFrom('hub.refresh_families')
        .select('family_id')
        .where('tenant_id', '=', tx.tenantId)
        .where('session_id', '=', sessionId)
        .orderBy('rotated_at', 'desc')
        .orderBy('family_id')
        .offset(keep),
    )
    .execute()
}
