import { tokenKeysLock } from '../../db/advisory-locks.ts'
import type { RegistryTx, TenantTx } from '../../db/database.ts'
import type { RegistryTables, TenantTables } from '../../db/schema.ts'

export type TokenKeyRow = RegistryTables['hub.token_keys']
export type PublishedKeyRow = RegistryTables['hub.published_keys']
export type ProvenanceKeyRow = TenantTables['hub.provenance_keys']

/** Serializes processes that start at once on an empty database, so that only one creates the first token key. */
export async function lockTokenKeys(tx: RegistryTx): Promise<void> {
  await tx.client.query('select pg_advisory_xact_lock($1::bigint)', [tokenKeysLock])
}

export function tokenKeys(tx: RegistryTx): Promise<TokenKeyRow[]> {
  return tx.db.selectFrom('hub.token_keys').selectAll().orderBy('created_at').orderBy('key_id').execute()
}

export async function insertTokenKey(tx: RegistryTx, row: TokenKeyRow): Promise<void> {
  await tx.db
    .insertInto('hub.token_keys')
    .values({ ...row, public_jwk: JSON.stringify(row.public_jwk) })
    .execute()
}

/** Retires token keys. `retiredAt` may be in the future; until then they sign. */
export async function retireTokenKeys(tx: RegistryTx, keyIds: readonly string[], retiredAt: string): Promise<void> {
  await tx.db.updateTable('hub.token_keys').set({ retired_at: retiredAt }).where('key_id', 'in', keyIds).execute()
}

export async function insertPublishedKey(tx: RegistryTx, row: PublishedKeyRow): Promise<void> {
  await tx.db
    .insertInto('hub.published_keys')
    .values(row)
    .onConflict((conflict) => conflict.column('key_id').doNothing())
    .execute()
}

export function publishedKeys(tx: RegistryTx): Promise<PublishedKeyRow[]> {
  return tx.db.selectFrom('hub.published_keys').selectAll().orderBy('created_at').orderBy('key_id').execute()
}

/** Returns all keys ever published for a log, oldest first. */
export function publishedKeysOf(tx: RegistryTx, logName: string): Promise<PublishedKeyRow[]> {
  return tx.db
    .selectFrom('hub.published_keys')
    .selectAll()
    .where('name', '=', logName)
    .orderBy('created_at')
    .orderBy('key_id')
    .execute()
}

/** Retires a published key of a log, and those that were created before a time. */
export async function retirePublishedKeys(
  tx: RegistryTx,
  keys: { logName: string; keyId: string; olderThan: string; retiredAt: string },
): Promise<void> {
  await tx.db
    .updateTable('hub.published_keys')
    .set({ retired_at: keys.retiredAt })
    .where('name', '=', keys.logName)
    .where((each) => each.or([each('key_id', '=', keys.keyId), each('created_at', '<', keys.olderThan)]))
    .where('retired_at', 'is', null)
    .execute()
}

export async function retirePublishedKey(tx: RegistryTx, keyId: string, retiredAt: string): Promise<void> {
  await tx.db
    .updateTable('hub.published_keys')
    .set({ retired_at: retiredAt })
    .where('key_id', '=', keyId)
    .where('retired_at', 'is', null)
    .execute()
}

/**
 * Returns a version of the key document. Keys are added and retired, never removed, so two counts detect every change.
 */
export async function publishedKeysVersion(tx: RegistryTx): Promise<string> {
  const counts = await tx.db
    .selectFrom('hub.published_keys')
    .select((select) => [select.fn.countAll<number>().as('made'), select.fn.count<number>('retired_at').as('retired')])
    .executeTakeFirstOrThrow()
  return `${counts.made}-${counts.retired}`
}

/** Returns the tenant's keys, oldest first. */
export function provenanceKeys(tx: TenantTx): Promise<ProvenanceKeyRow[]> {
  return tx.db
    .selectFrom('hub.provenance_keys')
    .selectAll()
    .where('tenant_id', '=', tx.tenantId)
    .orderBy('created_at')
    .orderBy('key_id')
    .execute()
}

export async function insertProvenanceKey(tx: TenantTx, row: Omit<ProvenanceKeyRow, 'tenant_id'>): Promise<void> {
  await tx.db
    .insertInto('hub.provenance_keys')
    .values({ ...row, tenant_id: tx.tenantId })
    .execute()
}

/** Retires a signing key. Returns false if it is already retired. A concurrent caller waits for the first one. */
export async function retireProvenanceKey(tx: TenantTx, keyId: string, retiredAt: string): Promise<boolean> {
  const retired = await tx.db
    .updateTable('hub.provenance_keys')
    .set({ retired_at: retiredAt })
    .where('tenant_id', '=', tx.tenantId)
    .where('key_id', '=', keyId)
    .where('retired_at', 'is', null)
    .executeTakeFirst()
  return retired.numUpdatedRows === 1n
}
