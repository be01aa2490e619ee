import { mailedLinkLockClass } from '../../db/advisory-locks.ts'
import type { TenantTx } from '../../db/database.ts'
import { linkRows } from '../../db/proven-rows.ts'
import type { TenantTables } from '../../db/schema.ts'
import { lockTenant } from '../../db/tenant-lock.ts'
import { updateRows } from '../../db/tenant-rows.ts'

export type LinkRow = TenantTables['hub.magic_links']

/** Inserts a link; an existing one stays unchanged. */
export async function insertLink(
  tx: TenantTx,
  row: Omit<LinkRow, 'tenant_id' | 'consumed_at' | 'proof'>,
): Promise<void> {
  const proof = tx.proofs.of(linkRows, tx.tenantId, { ...row, consumed_at: null })
  await tx.db
    .insertInto('hub.magic_links')
    .values({ ...row, tenant_id: tx.tenantId, consumed_at: null, proof })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'token_hash']).doNothing())
    .execute()
}

/**
 * Returns a link by its hash. A used link has no proof any more and opens nothing. An unused one with an invalid proof
 * counts as absent.
 */
export async function linkByHash(tx: TenantTx, tokenHash: Buffer): Promise<LinkRow | undefined> {
  const row = await tx.db
    .selectFrom('hub.magic_links')
    .selectAll()
    .where('tenant_id', '=', tx.tenantId)
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst()
  return row === undefined || row.consumed_at !== null ? row : tx.proofs.sound(linkRows, tx.tenantId, row)
}

/** Consumes a link and locks it, so that a concurrent second call waits and then finds nothing. */
export async function consumeLink(tx: TenantTx, tokenHash: Buffer, now: string): Promise<LinkRow | undefined> {
  const open = await tx.db
    .selectFrom('hub.magic_links')
    .selectAll()
    .where('tenant_id', '=', tx.tenantId)
    .where('token_hash', '=', tokenHash)
    .where('consumed_at', 'is', null)
    .where('expires_at', '>', now)
    .forUpdate()
    .executeTakeFirst()
  const link = tx.proofs.sound(linkRows, tx.tenantId, open)
  if (!link) return undefined
  await updateRows(tx, 'hub.magic_links', { token_hash: tokenHash }, { consumed_at: now, proof: null })
  return link
}

/** Consumes all unused links of a purpose; with an address, only its own. */
export async function consumeAll(
  tx: TenantTx,
  { purpose, email }: { purpose: string; email?: string | undefined },
  now: string,
): Promise<void> {
  await tx.db
    .updateTable('hub.magic_links')
    .set({ consumed_at: now, proof: null })
    .where('tenant_id', '=', tx.tenantId)
    .where('purpose', '=', purpose)
    .where('consumed_at', 'is', null)
    .$if(email !== undefined, (query) => query.where('email', '=', email!))
    .execute()
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

/** Serialises transactions that count and create the tenant's mailed links. */
export async function lockMailedLinks(tx: TenantTx): Promise<void> {
  await lockTenant(tx, mailedLinkLockClass)
}

/** Counts links created since a time, up to `max`; with an address, only its own. */
export async function countLinks(
  tx: TenantTx,
  { email, ...wanted }: { email?: string; purpose: string; since: string; max: number },
): Promise<number> {
  const rows = await tx.db
    .selectFrom('hub.magic_links')
    .select('created_at')
    .where('tenant_id', '=', tx.tenantId)
    .$if(email !== undefined, (query) => query.where('email', '=', email!))
    .where('purpose', '=', wanted.purpose)
    .where('created_at', '>', wanted.since)
    .limit(wanted.max)
    .execute()
  return rows.length
}

/** Deletes at most `count` links, which keeps the transaction short, and returns their number. */
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
