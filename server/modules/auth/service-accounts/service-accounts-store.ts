import type { Selectable } from 'kysely'
import type { RegistryTx, TenantTx } from '../../../db/database.ts'
import { type AccountFields, accountRows, type SecretFields, secretsOfAccount } from '../../../db/proven-rows.ts'
import type { Proven } from '../../../db/row-proofs.ts'
import type { TenantTables } from '../../../db/schema.ts'

export type AccountRow = Omit<Selectable<TenantTables['hub.service_accounts']>, 'tenant_id' | 'updated_at' | 'proof'>

/** A verified account with its secrets. */
export type LockedAccount = AccountRow & Pick<AccountFields, 'secrets' | 'disabled'>

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

export async function insertClientEntry(tx: RegistryTx, clientId: string, tenantSlug: string): Promise<void> {
  await tx.db.insertInto('hub.client_directory').values({ client_id: clientId, tenant_slug: tenantSlug }).execute()
}

export async function deleteClientEntry(tx: RegistryTx, clientId: string): Promise<void> {
  await tx.db.deleteFrom('hub.client_directory').where('client_id', '=', clientId).execute()
}

/** The stored values that a token request is checked against. */
export interface CredentialRow extends Proven<AccountFields> {
  is_known: boolean
  last_used_at: string | null
}

const noSecrets: SecretFields[] = [{ hash: '00'.repeat(32), until: null }]

/**
 * Reads the credentials of an account. An unknown account yields a row of the same shape, so reading it takes as long
 * here and in the database, and the time of a rejection does not reveal which client ids exist.
 */
export async function credentialsOf(tx: TenantTx, clientId: string): Promise<CredentialRow> {
  const { rows } = await tx.client.query<CredentialRow>(
    `select t.client_id is not null as is_known,
            $2::text as client_id,
            coalesce(t.scopes, '{hub:read}') as scopes,
            t.disabled_at is not null as disabled,
            t.expires_at,
            t.allowed_addresses,
            coalesce(t.epoch, 0) as epoch,
            t.last_used_at,
            coalesce(t.proof, decode(repeat('00', 32), 'hex')) as proof,
            ${secretsOfAccount()} as secrets
     from (select 1) as one
     left join hub.service_accounts t on t.tenant_id = $1 and t.client_id = $2`,
    [tx.tenantId, clientId],
  )
  const row = rows[0]!
  return row.is_known ? row : { ...row, secrets: noSecrets }
}

export function readAccount(tx: TenantTx, clientId: string): Promise<AccountRow | undefined> {
  return tx.db
    .selectFrom('hub.service_accounts')
    .select(columns)
    .where('tenant_id', '=', tx.tenantId)
    .where('client_id', '=', clientId)
    .executeTakeFirst()
}

/**
 * Reads and locks an account, so that its changes run one after another. Returns undefined also for an account whose
 * proof does not verify: a change must not legitimise an edit in the database.
 */
export async function readAccountToChange(tx: TenantTx, clientId: string): Promise<LockedAccount | undefined> {
  // A single statement that waits for the lock would read the new row with the old secrets.
  await tx.client.query('select from hub.service_accounts where tenant_id = $1 and client_id = $2 for update', [
    tx.tenantId,
    clientId,
  ])
  const { rows } = await tx.client.query<AccountRow & Proven<AccountFields>>(
    `select ${columns.map((name) => `t.${name}`).join(', ')}, t.disabled_at is not null as disabled, t.proof,
       ${secretsOfAccount()} as secrets
     from hub.service_accounts t where t.tenant_id = $1 and t.client_id = $2`,
    [tx.tenantId, clientId],
  )
  return tx.proofs.sound(accountRows, tx.tenantId, rows[0])
}

/**
 * Proves an account that this transaction changed or created.
 *
 * @param secrets its current secrets, each known to belong to it
 * @returns the proven fields
 */
export async function proveAccount(tx: TenantTx, clientId: string, secrets: SecretFields[]): Promise<AccountFields> {
  const row = await readAccount(tx, clientId)
  const fields = { ...row!, disabled: row!.disabled_at !== null, secrets }
  await tx.db
    .updateTable('hub.service_accounts')
    .set({ proof: tx.proofs.of(accountRows, tx.tenantId, fields) })
    .where('tenant_id', '=', tx.tenantId)
    .where('client_id', '=', clientId)
    .execute()
  return fields
}

/** Returns the client id of the oldest enabled account with that name. */
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

/** Returns a page of accounts, oldest first. `after` is the last account of the previous page. */
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
