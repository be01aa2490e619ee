import type { RegistryTx, TenantTx } from '../../../db/database.ts'

/** What a token request is checked against. */
export interface ClientRecord {
  clientId: string
  scopes: string[]
  disabled: boolean
  lastUsedAt: string | null
  secrets: { hash: Buffer; expiresAt: string | null }[]
}

export async function tenantOfClient(tx: RegistryTx, clientId: string): Promise<string | undefined> {
  const row = await tx.db
    .selectFrom('hub.client_directory')
    .select('tenant_slug')
    .where('client_id', '=', clientId)
    .executeTakeFirst()
  return row?.tenant_slug
}

export async function listClient(tx: RegistryTx, clientId: string, tenantSlug: string): Promise<void> {
  await tx.db.insertInto('hub.client_directory').values({ client_id: clientId, tenant_slug: tenantSlug }).execute()
}

export async function unlistClient(tx: RegistryTx, clientId: string): Promise<void> {
  await tx.db.deleteFrom('hub.client_directory').where('client_id', '=', clientId).execute()
}

export async function readClient(tx: TenantTx, clientId: string): Promise<ClientRecord | undefined> {
  const account = await tx.db
    .selectFrom('hub.service_accounts')
    .selectAll()
    .where('tenant_id', '=', tx.tenantId)
    .where('client_id', '=', clientId)
    .executeTakeFirst()
  const secrets = await tx.db
    .selectFrom('hub.service_account_secrets')
    .select(['secret_hash', 'expires_at'])
    .where('tenant_id', '=', tx.tenantId)
    .where('client_id', '=', clientId)
    .execute()
  return (
    account && {
      clientId,
      scopes: account.scopes,
      disabled: account.disabled_at !== null,
      lastUsedAt: account.last_used_at,
      secrets: secrets.map((row) => ({ hash: row.secret_hash, expiresAt: row.expires_at })),
    }
  )
}

/** Whether the account exists and is not disabled. */
export async function isClientActive(tx: TenantTx, clientId: string): Promise<boolean> {
  const row = await tx.db
    .selectFrom('hub.service_accounts')
    .select('disabled_at')
    .where('tenant_id', '=', tx.tenantId)
    .where('client_id', '=', clientId)
    .executeTakeFirst()
  return row !== undefined && row.disabled_at === null
}

export async function insertAccount(
  tx: TenantTx,
  account: { clientId: string; name: string; scopes: string[]; now: string },
): Promise<void> {
  await tx.db
    .insertInto('hub.service_accounts')
    .values({
      tenant_id: tx.tenantId,
      client_id: account.clientId,
      name: account.name,
      scopes: account.scopes,
      created_at: account.now,
    })
    .execute()
}

export async function insertSecret(tx: TenantTx, clientId: string, hash: Buffer, now: string): Promise<void> {
  await tx.db
    .insertInto('hub.service_account_secrets')
    .values({ tenant_id: tx.tenantId, client_id: clientId, secret_hash: hash, created_at: now })
    .execute()
}

/** The oldest of the enabled accounts of that name. */
export async function accountNamed(
  tx: TenantTx,
  name: string,
): Promise<{ client_id: string; scopes: string[] } | undefined> {
  return tx.db
    .selectFrom('hub.service_accounts')
    .select(['client_id', 'scopes'])
    .where('tenant_id', '=', tx.tenantId)
    .where('name', '=', name)
    .where('disabled_at', 'is', null)
    .orderBy('created_at')
    .orderBy('client_id')
    .limit(1)
    .forUpdate()
    .executeTakeFirst()
}

/** Leaves the newest secret until `until`, or as long as it had anyway, and ends all older ones now. */
export async function outdateSecrets(tx: TenantTx, clientId: string, until: string): Promise<void> {
  const [newest, ...older] = await tx.db
    .selectFrom('hub.service_account_secrets')
    .select(['secret_hash', 'expires_at'])
    .where('tenant_id', '=', tx.tenantId)
    .where('client_id', '=', clientId)
    .orderBy('created_at', 'desc')
    .execute()
  for (const { secret_hash } of older) {
    await tx.db
      .deleteFrom('hub.service_account_secrets')
      .where('tenant_id', '=', tx.tenantId)
      .where('client_id', '=', clientId)
      .where('secret_hash', '=', secret_hash)
      .execute()
  }
  if (!newest || newest.expires_at !== null) return
  await tx.db
    .updateTable('hub.service_account_secrets')
    .set({ expires_at: until })
    .where('tenant_id', '=', tx.tenantId)
    .where('client_id', '=', clientId)
    .where('secret_hash', '=', newest.secret_hash)
    .execute()
}

export async function touchAccount(tx: TenantTx, clientId: string, now: string): Promise<void> {
  await tx.db
    .updateTable('hub.service_accounts')
    .set({ last_used_at: now })
    .where('tenant_id', '=', tx.tenantId)
    .where('client_id', '=', clientId)
    .execute()
}
