import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'

export type SecretRow = Omit<TenantTables['hub.service_account_secrets'], 'tenant_id'>

/** Returns the secrets of the accounts, oldest first. */
export function secretsOf(tx: TenantTx, clientIds: readonly string[]): Promise<SecretRow[]> {
  return (
    tx.db
      .selectFrom('hub.service_account_secrets')
      .select(['client_id', 'secret_hash', 'created_at', 'expires_at'])
      .where('tenant_id', '=', tx.tenantId)
      .where('client_id', 'in', clientIds)
      .orderBy('created_at')
      // The newest secret has no expiry, so it sorts last among secrets created at the same time.
      .orderBy('expires_at')
      .execute()
  )
}

export async function insertSecret(tx: TenantTx, clientId: string, hash: Buffer, now: string): Promise<void> {
  await tx.db
    .insertInto('hub.service_account_secrets')
    .values({ tenant_id: tx.tenantId, client_id: clientId, secret_hash: hash, created_at: now })
    .execute()
}

/**
 * Expires the newest secret at `until`, or earlier if it ends earlier, and all older ones now. Returns the expiry and
 * the hash of the newest. The account is locked, so no other call does so at the same time.
 */
export async function outdateSecrets(
  tx: TenantTx,
  clientId: string,
  until: string,
): Promise<{ ends: string; hash: string | undefined }> {
  // Only the newest secret has no expiry, which separates two secrets made in one millisecond.
  const { rows } = await tx.client.query<Pick<SecretRow, 'secret_hash' | 'expires_at'>>(
    `select secret_hash, expires_at from hub.service_account_secrets
     where tenant_id = $1 and client_id = $2
     order by expires_at is null desc, created_at desc`,
    [tx.tenantId, clientId],
  )
  const [newest, ...older] = rows
  for (const { secret_hash } of older) {
    await tx.db
      .deleteFrom('hub.service_account_secrets')
      .where('tenant_id', '=', tx.tenantId)
      .where('client_id', '=', clientId)
      .where('secret_hash', '=', secret_hash)
      .execute()
  }
  const hash = newest?.secret_hash.toString('hex')
  if (!newest || newest.expires_at !== null) return { ends: newest?.expires_at ?? until, hash }
  await tx.db
    .updateTable('hub.service_account_secrets')
    .set({ expires_at: until })
    .where('tenant_id', '=', tx.tenantId)
    .where('client_id', '=', clientId)
    .where('secret_hash', '=', newest.secret_hash)
    .execute()
  return { ends: until, hash }
}
