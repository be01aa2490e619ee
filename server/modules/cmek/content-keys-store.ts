import { contentKeysLockClass } from '../../db/advisory-locks.ts'
import type { TenantTx } from '../../db/database.ts'
import type { TenantTables } from '../../db/schema.ts'
import { lockTenant, lockTenantShared } from '../../db/tenant-lock.ts'
import { findRow, insertRow, updateRows } from '../../db/tenant-rows.ts'

export type ContentKeyRow = Omit<TenantTables['hub.content_keys'], 'tenant_id'>

/** Returns every content key that the tenant ever had, oldest first: one per rotation. */
export async function contentKeys(tx: TenantTx): Promise<ContentKeyRow[]> {
  return tx.db
    .selectFrom('hub.content_keys')
    .select(['key_id', 'provider', 'key_ref', 'wrapped', 'state', 'created_at', 'wrapped_at', 'retired_at'])
    .select(['destroyed_at', 'event_id'])
    .where('tenant_id', '=', tx.tenantId)
    .orderBy('created_at')
    .orderBy('key_id')
    .execute()
}

/** Keeps the keys unchanged until the transaction ends. */
export async function shareContentKeysLock(tx: TenantTx): Promise<void> {
  await lockTenantShared(tx, contentKeysLockClass)
}

/** Waits until no transaction writes under the keys. */
export async function takeContentKeysLock(tx: TenantTx): Promise<void> {
  await lockTenant(tx, contentKeysLockClass)
}

/** Returns the active key. The caller must hold one of the locks. */
export async function activeKeyId(tx: TenantTx): Promise<string | undefined> {
  const row = await findRow(tx, 'hub.content_keys', ['key_id'], { state: 'active' })
  return row?.key_id
}

export async function insertContentKey(tx: TenantTx, row: ContentKeyRow): Promise<void> {
  await insertRow(tx, 'hub.content_keys', row)
}

export async function putWrapped(
  tx: TenantTx,
  key: Pick<ContentKeyRow, 'key_id' | 'provider' | 'key_ref' | 'wrapped' | 'wrapped_at'>,
): Promise<void> {
  const { provider, key_ref, wrapped, wrapped_at } = key
  await updateRows(tx, 'hub.content_keys', { key_id: key.key_id }, { provider, key_ref, wrapped, wrapped_at })
}

export async function retireActiveKey(tx: TenantTx, now: string): Promise<void> {
  await updateRows(tx, 'hub.content_keys', { state: 'active' }, { state: 'retired', retired_at: now })
}

/** Deletes the wrapped forms of these keys. */
export async function deleteContentKeys(
  tx: TenantTx,
  keyIds: readonly string[],
  end: { now: string; eventId: string },
): Promise<void> {
  await tx.db
    .updateTable('hub.content_keys')
    .set({ state: 'destroyed', wrapped: null, destroyed_at: end.now, event_id: end.eventId })
    .where('tenant_id', '=', tx.tenantId)
    .where('key_id', 'in', keyIds)
    .execute()
}
