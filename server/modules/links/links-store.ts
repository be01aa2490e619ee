import type { TenantTx } from '../../db/database.ts'
import type { TenantTables } from '../../db/schema.ts'

export type LinkRow = TenantTables['hub.magic_links']

export async function insertLink(tx: TenantTx, row: Omit<LinkRow, 'tenant_id' | 'consumed_at'>): Promise<void> {
  await tx.db
    .insertInto('hub.magic_links')
    .values({ ...row, tenant_id: tx.tenantId, consumed_at: null })
    .execute()
}

export function linkByHash(tx: TenantTx, tokenHash: Buffer): Promise<LinkRow | undefined> {
  return tx.db
    .selectFrom('hub.magic_links')
    .selectAll()
    .where('tenant_id', '=', tx.tenantId)
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst()
}

export async function hasLink(tx: TenantTx, purpose: string): Promise<boolean> {
  const row = await tx.db
    .selectFrom('hub.magic_links')
    .select('purpose')
    .where('tenant_id', '=', tx.tenantId)
    .where('purpose', '=', purpose)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** At most `count` at once, so that no transaction is long. Answers how many. */
export async function deleteLinks(tx: TenantTx, expiredBefore: string, count: number): Promise<number> {
  const deleted = await tx.db
    .deleteFrom('hub.magic_links')
    .where('tenant_id', '=', tx.tenantId)
    .where('token_hash', 'in', (from) =>
      from
        .selectFrom('hub.magic_links')
        .select('token_hash')
        .where('tenant_id', '=', tx.tenantId)
        .where('expires_at', '<', expiredBefore)
        .limit(count),
    )
    .executeTakeFirst()
  return Number(deleted.numDeletedRows)
}
