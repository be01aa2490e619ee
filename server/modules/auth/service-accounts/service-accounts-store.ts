import type { Selectable } from 'kysely'
import type { RegistryTx, TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'

export type AccountRow = Omit<Selectable<TenantTables['hub.service_accounts']>, 'tenant_id' | 'updated_at'>

const columns = [
  'client_id',
  'name',
  'scopes',
  'created_at',
  'disabled_at',
  'last_used_at',
  'epoch',
  'expires_at',
  'allowed_addresses',
] as const

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

/** What a token request is checked against: a row for each secret. */
export interface CredentialRow {
  is_known: boolean
  scopes: string[]
  disabled: boolean
  expires_at: string | null
  allowed_addresses: string[] | null
  epoch: number
  last_used_at: string | null
  secret_hash: Buffer
  secret_expires_at: string | null
}

/**
 * An account that there is not has a row of the same shape as one that there is: to read it takes as long, here and in
 * the database, so that the time of a refusal does not tell which client ids there are.
 */
export async function credentialsOf(tx: TenantTx, clientId: string): Promise<CredentialRow[]> {
  const { rows } = await tx.client.query<CredentialRow>(
    `select a.client_id is not null as is_known,
            coalesce(a.scopes, '{hub:read}') as scopes,
            a.disabled_at is not null as disabled,
            a.expires_at,
            a.allowed_addresses,
            coalesce(a.epoch, 0) as epoch,
            a.last_used_at,
            coalesce(s.secret_hash, decode(repeat('00', 32), 'hex')) as secret_hash,
            s.expires_at as secret_expires_at
     from (select 1) as one
     left join hub.service_accounts a on a.tenant_id = $1 and a.client_id = $2
     left join hub.service_account_secrets s on s.tenant_id = $1 and s.client_id = $2`,
    [tx.tenantId, clientId],
  )
  return rows
}

export function readAccount(tx: TenantTx, clientId: string): Promise<AccountRow | undefined> {
  return tx.db
    .selectFrom('hub.service_accounts')
    .select(columns)
    .where('tenant_id', '=', tx.tenantId)
    .where('client_id', '=', clientId)
    .executeTakeFirst()
}

/** Locked, so that changes of one account come one after the other. */
export function readAccountToChange(tx: TenantTx, clientId: string): Promise<AccountRow | undefined> {
  return tx.db
    .selectFrom('hub.service_accounts')
    .select(columns)
    .where('tenant_id', '=', tx.tenantId)
    .where('client_id', '=', clientId)
    .forUpdate()
    .executeTakeFirst()
}

/** The oldest of the enabled accounts of that name. */
export async function accountNamed(tx: TenantTx, name: string): Promise<string | undefined> {
  const row = await tx.db
    .selectFrom('hub.service_accounts')
    .select('client_id')
    .where('tenant_id', '=', tx.tenantId)
    .where('name', '=', name)
    .where('disabled_at', 'is', null)
    .orderBy('created_at')
    .orderBy('client_id')
    .limit(1)
    .executeTakeFirst()
  return row?.client_id
}

/** Oldest first. `after` is the last one of the page before. */
export async function accountsAfter(
  tx: TenantTx,
  after: { createdAt: string; clientId: string } | undefined,
  count: number,
): Promise<AccountRow[]> {
  const { rows } = await tx.client.query<AccountRow>(
    `select ${columns.join(', ')} from hub.service_accounts
     where tenant_id = $1 and (created_at, client_id) > ($2::timestamptz, $3::text)
     order by created_at, client_id limit $4`,
    [tx.tenantId, after?.createdAt ?? '-infinity', after?.clientId ?? '', count],
  )
  return rows
}

export async function insertAccount(
  tx: TenantTx,
  account: Pick<AccountRow, 'client_id' | 'name' | 'scopes' | 'created_at' | 'expires_at' | 'allowed_addresses'>,
): Promise<void> {
  await tx.db
    .insertInto('hub.service_accounts')
    .values({ tenant_id: tx.tenantId, ...account })
    .execute()
}

export async function updateAccount(
  tx: TenantTx,
  clientId: string,
  changes: Partial<Pick<AccountRow, 'name' | 'scopes' | 'expires_at' | 'allowed_addresses' | 'disabled_at' | 'epoch'>>,
  now: string,
): Promise<void> {
  await tx.db
    .updateTable('hub.service_accounts')
    .set({ ...changes, updated_at: now })
    .where('tenant_id', '=', tx.tenantId)
    .where('client_id', '=', clientId)
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
