import type { RateClass } from '../../../contract/limits.ts'
import type { RegistryTx, TenantTx } from '../../db/database.ts'
import type { RegistryTables, TenantTables } from '../../db/schema.ts'
import type { RateLimit } from './tenants-types.ts'

export type TenantRow = RegistryTables['hub.tenants']
export type SettingsRow = TenantTables['hub.tenant_settings']

export function tenantBySlug(tx: RegistryTx, slug: string): Promise<TenantRow | undefined> {
  return tx.db.selectFrom('hub.tenants').selectAll().where('slug', '=', slug).executeTakeFirst()
}

export function tenantByBaseUrl(tx: RegistryTx, baseUrl: string): Promise<TenantRow | undefined> {
  return tx.db.selectFrom('hub.tenants').selectAll().where('base_url', '=', baseUrl).executeTakeFirst()
}

/** The tenants with an address of their own. */
export function tenantsWithAddress(tx: RegistryTx): Promise<TenantRow[]> {
  return tx.db.selectFrom('hub.tenants').selectAll().where('base_url', 'is not', null).execute()
}

export async function allSlugs(tx: RegistryTx): Promise<string[]> {
  const rows = await tx.db.selectFrom('hub.tenants').select('slug').orderBy('slug').execute()
  return rows.map((row) => row.slug)
}

export async function hasTenants(tx: RegistryTx): Promise<boolean> {
  return (await tx.db.selectFrom('hub.tenants').select('slug').limit(1).executeTakeFirst()) !== undefined
}

/** Answers false when the slug, the address or the log name is taken. */
export async function insertTenant(tx: RegistryTx, row: TenantRow): Promise<boolean> {
  const inserted = await tx.db
    .insertInto('hub.tenants')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returning('slug')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Locks the row until the transaction ends, so that two changes do not both see the state before. */
export function lockSettings(tx: TenantTx): Promise<SettingsRow | undefined> {
  return tx.db
    .selectFrom('hub.tenant_settings')
    .selectAll()
    .where('tenant_id', '=', tx.tenantId)
    .forUpdate()
    .executeTakeFirst()
}

export function settings(tx: TenantTx): Promise<SettingsRow | undefined> {
  return tx.db.selectFrom('hub.tenant_settings').selectAll().where('tenant_id', '=', tx.tenantId).executeTakeFirst()
}

/** Writes the settings of a tenant that is being made; a crashed attempt may have left some. */
export async function putSettings(tx: TenantTx, values: { adminEmail: string; now: string }): Promise<void> {
  await tx.db
    .insertInto('hub.tenant_settings')
    .values({
      tenant_id: tx.tenantId,
      display_name: tx.tenantId,
      admin_email: values.adminEmail,
      updated_at: values.now,
    })
    .onConflict((conflict) =>
      conflict.column('tenant_id').doUpdateSet((excluded) => ({
        admin_email: excluded.ref('excluded.admin_email'),
        updated_at: excluded.ref('excluded.updated_at'),
      })),
    )
    .execute()
}

export async function setProvision(
  tx: TenantTx,
  values: { provisionedAt: string; retentionDays: number | null; now: string },
): Promise<void> {
  await tx.db
    .updateTable('hub.tenant_settings')
    .set({ provisioned_at: values.provisionedAt, retention_days: values.retentionDays, updated_at: values.now })
    .where('tenant_id', '=', tx.tenantId)
    .execute()
}

/** Only the classes that were set. A class of an earlier version that is no more is the reader's to skip. */
export async function limits(tx: TenantTx): Promise<Record<string, RateLimit>> {
  const rows = await tx.db.selectFrom('hub.tenant_limits').selectAll().where('tenant_id', '=', tx.tenantId).execute()
  return Object.fromEntries(rows.map((row) => [row.class, { perToken: row.per_token, perTenant: row.per_tenant }]))
}

export async function putLimit(tx: TenantTx, rateClass: RateClass, limit: RateLimit): Promise<void> {
  await tx.db
    .insertInto('hub.tenant_limits')
    .values({
      tenant_id: tx.tenantId,
      class: rateClass,
      per_token: limit.perToken,
      per_tenant: limit.perTenant,
    })
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'class']).doUpdateSet((excluded) => ({
        per_token: excluded.ref('excluded.per_token'),
        per_tenant: excluded.ref('excluded.per_tenant'),
      })),
    )
    .execute()
}
