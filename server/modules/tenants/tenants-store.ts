import { type RateClass, rateClasses } from '../../../contract/limits.ts'
import type { RegistryTx, TenantTx } from '../../db/database.ts'
import { settingsRows, tenantRows } from '../../db/proven-rows.ts'
import type { RegistryTables, TenantTables } from '../../db/schema.ts'
import { deleteRows, updateRows } from '../../db/tenant-rows.ts'

export type TenantRow = RegistryTables['hub.tenants']
export type SettingsRow = TenantTables['hub.tenant_settings']
type RateLimit = Pick<TenantTables['hub.tenant_limits'], 'per_token' | 'per_tenant'>

const noEntry = { mode: 'A', base_url: null, log_name: '', suspended_at: null, proof: Buffer.alloc(32) }

export function tenantBySlug(tx: RegistryTx, slug: string): Promise<TenantRow | undefined> {
  return tx.db.selectFrom('hub.tenants').selectAll().where('slug', '=', slug).executeTakeFirst()
}

export function tenantByBaseUrl(tx: RegistryTx, baseUrl: string): Promise<TenantRow | undefined> {
  return tx.db.selectFrom('hub.tenants').selectAll().where('base_url', '=', baseUrl).executeTakeFirst()
}

/** Returns the entry if the Hub wrote it with these values; reports one that was edited or inserted in the database. */
export function provenEntry(tx: Pick<RegistryTx, 'proofs'>, row: TenantRow | undefined): TenantRow | undefined {
  return row && tx.proofs.sound(tenantRows, row.slug, row)
}

/**
 * Reads and verifies the entry of a slug; see {@link provenEntry}. An unknown slug takes the same work, so that the
 * response time does not reveal which tenants exist.
 */
export async function readEntry(
  tx: RegistryTx,
  slug: string,
): Promise<{ row: TenantRow | undefined; isProven: boolean }> {
  const row = await tenantBySlug(tx, slug)
  if (row) return { row, isProven: provenEntry(tx, row) !== undefined }
  tx.proofs.holds(tenantRows, slug, { ...noEntry, slug })
  return { row, isProven: false }
}

/** Returns the tenants with an address of their own. */
export async function tenantsWithAddress(tx: RegistryTx): Promise<TenantRow[]> {
  const rows = await tx.db.selectFrom('hub.tenants').selectAll().where('base_url', 'is not', null).execute()
  return rows.filter((row) => provenEntry(tx, row))
}

/** Returns the tenants after a slug, in slug order. */
export function tenantsAfter(tx: RegistryTx, slug: string, limit: number): Promise<TenantRow[]> {
  return tx.db.selectFrom('hub.tenants').selectAll().where('slug', '>', slug).orderBy('slug').limit(limit).execute()
}

/** Returns the entry of the transaction's tenant. Code that changes it must first lock the settings. */
export async function ownEntry(tx: TenantTx): Promise<TenantRow | undefined> {
  const { rows } = await tx.client.query<TenantRow>('select * from hub.tenants where slug = $1', [tx.tenantId])
  return rows[0]
}

/** Stores the entry of the transaction's tenant. Returns false if another tenant has the address. */
export async function setOwnEntry(tx: TenantTx, entry: TenantRow): Promise<boolean> {
  const taken = await tx.client.query('select slug from hub.tenants where base_url = $1 and slug <> $2', [
    entry.base_url,
    tx.tenantId,
  ])
  if (taken.rows.length > 0) return false
  await tx.client.query('update hub.tenants set base_url = $2, suspended_at = $3, proof = $4 where slug = $1', [
    tx.tenantId,
    entry.base_url,
    entry.suspended_at,
    tx.proofs.of(tenantRows, tx.tenantId, entry),
  ])
  return true
}

export async function allSlugs(tx: RegistryTx): Promise<string[]> {
  const rows = await tx.db.selectFrom('hub.tenants').select('slug').orderBy('slug').execute()
  return rows.map((row) => row.slug)
}

/** Returns the log names of all tenants whose log has a published key. An entry without one may be a forgery or a remnant. */
export async function allLogNames(tx: RegistryTx): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('hub.tenants')
    .select('log_name')
    .where('log_name', 'in', (from) => from.selectFrom('hub.published_keys').select('name'))
    .execute()
  return rows.map((row) => row.log_name)
}

export async function hasTenants(tx: RegistryTx): Promise<boolean> {
  return (await tx.db.selectFrom('hub.tenants').select('slug').limit(1).executeTakeFirst()) !== undefined
}

/** Inserts a tenant. Returns false if the slug, the address or the log name is already in use. */
export async function insertTenant(tx: RegistryTx, row: Omit<TenantRow, 'proof'>): Promise<boolean> {
  const inserted = await tx.db
    .insertInto('hub.tenants')
    .values({ ...row, proof: tx.proofs.of(tenantRows, row.slug, row) })
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

/** Returns the address of the first administrator; undefined unless the Hub wrote it with this value. */
export async function adminEmailOf(tx: TenantTx): Promise<string | undefined> {
  return tx.proofs.sound(settingsRows, tx.tenantId, await settings(tx))?.admin_email
}

/** Writes the settings of a new tenant, over those of a crashed attempt. */
export async function putSettings(
  tx: TenantTx,
  values: { adminEmail: string; displayName: string; now: string },
): Promise<void> {
  await tx.db
    .insertInto('hub.tenant_settings')
    .values({
      tenant_id: tx.tenantId,
      display_name: values.displayName,
      search_language: 'simple',
      admin_email: values.adminEmail,
      updated_at: values.now,
      proof: tx.proofs.of(settingsRows, tx.tenantId, { admin_email: values.adminEmail }),
    })
    .onConflict((conflict) =>
      conflict.column('tenant_id').doUpdateSet((excluded) => ({
        display_name: excluded.ref('excluded.display_name'),
        admin_email: excluded.ref('excluded.admin_email'),
        updated_at: excluded.ref('excluded.updated_at'),
        proof: excluded.ref('excluded.proof'),
      })),
    )
    .execute()
}

/** Writes those values that differ from the locked row. Returns whether any does. */
export async function changeSettings(
  tx: TenantTx,
  before: SettingsRow,
  values: Partial<Omit<SettingsRow, 'tenant_id' | 'updated_at' | 'proof'>>,
  now: string,
): Promise<boolean> {
  const differing = Object.entries(values).filter(([name, value]) => before[name as keyof SettingsRow] !== value)
  if (differing.length === 0) return false
  const changes: Partial<SettingsRow> = Object.fromEntries(differing)
  const { admin_email } = changes
  // An unchanged address is not proven again: it may have been edited in the database.
  if (admin_email !== undefined) changes.proof = tx.proofs.of(settingsRows, tx.tenantId, { admin_email })
  await updateRows(tx, 'hub.tenant_settings', {}, { ...changes, updated_at: now })
  return true
}

/** Returns the classes that were set, without obsolete classes of an earlier version. */
export async function limits(tx: TenantTx): Promise<Partial<Record<RateClass, RateLimit>>> {
  const rows = await tx.db
    .selectFrom('hub.tenant_limits')
    .selectAll()
    .where('tenant_id', '=', tx.tenantId)
    .where('class', 'in', rateClasses)
    .orderBy('class')
    .execute()
  return Object.fromEntries(rows.map(({ class: name, per_token, per_tenant }) => [name, { per_token, per_tenant }]))
}

export async function putLimit(tx: TenantTx, rateClass: RateClass, limit: RateLimit): Promise<void> {
  await tx.db
    .insertInto('hub.tenant_limits')
    .values({ tenant_id: tx.tenantId, class: rateClass, ...limit })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'class']).doUpdateSet(limit))
    .execute()
}

export async function removeLimit(tx: TenantTx, rateClass: RateClass): Promise<void> {
  await deleteRows(tx, 'hub.tenant_limits', { class: rateClass })
}
