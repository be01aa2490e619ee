import type { JsonValue } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import type { IngestStep } from '../../db/ingest-script.ts'
import type { IdempotentRequest } from './idempotency-types.ts'

export interface StoredAnswer {
  requestDigest: Uint8Array
  answer: JsonValue
}

const insertColumns = '(tenant_id, key_digest, request_digest, answer, created_at) values ($1, $2, $3, $4, $5)'

/**
 * Claims the key for this transaction. Returns false if it is already claimed. While another transaction that claimed
 * it is open, the primary key makes this call wait for its end.
 */
export async function insertKey(
  tx: TenantTx,
  request: IdempotentRequest,
  answer: JsonValue,
  createdAt: string,
): Promise<boolean> {
  const inserted = await tx.client.query(
    `insert into hub.idempotency_keys ${insertColumns} on conflict do nothing`,
    rowOf(request, answer, createdAt),
  )
  return inserted.rowCount === 1
}

const claim = { name: 'hub_claim_key', text: `insert into hub.idempotency_keys ${insertColumns}` }

/** Claims the key with the insert-only role. A claimed key ends the transaction (unique_violation). */
export function claimStep(request: IdempotentRequest, answer: JsonValue, createdAt: string): IngestStep {
  return { statement: claim, values: rowOf(request, answer, createdAt) }
}

/**
 * Sets a lock timeout of 50 ms, until `defaultLockTimeout`. A longer wait ends the transaction (lock_not_available).
 */
export const shortLockTimeout: IngestStep = {
  statement: { name: 'hub_be_impatient', text: "select set_config('lock_timeout', '50ms', true)" },
  values: [],
}
export const defaultLockTimeout: IngestStep = {
  statement: { name: 'hub_be_patient', text: "select set_config('lock_timeout', '0', true)" },
  values: [],
}

function rowOf(request: IdempotentRequest, answer: JsonValue, createdAt: string) {
  const { tenantId, keyDigest, requestDigest } = request
  return [tenantId, bytesOf(keyDigest), bytesOf(requestDigest), JSON.stringify(answer), createdAt]
}

function bytesOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Returns the stored use of a key, unless it is older than `expiredBefore`. */
export async function findKey(
  tx: TenantTx,
  request: IdempotentRequest,
  expiredBefore: string,
): Promise<StoredAnswer | undefined> {
  const row = await tx.db
    .selectFrom('hub.idempotency_keys')
    .select(['request_digest', 'answer'])
    .where('tenant_id', '=', request.tenantId)
    .where('key_digest', '=', Buffer.from(request.keyDigest))
    .where('created_at', '>=', expiredBefore)
    .executeTakeFirst()
  return row && { requestDigest: row.request_digest, answer: row.answer as JsonValue }
}

/** Deletes an expired key, so that it can be used again. */
export async function deleteExpiredKey(tx: TenantTx, request: IdempotentRequest, expiredBefore: string): Promise<void> {
  await tx.db
    .deleteFrom('hub.idempotency_keys')
    .where('tenant_id', '=', request.tenantId)
    .where('key_digest', '=', Buffer.from(request.keyDigest))
    .where('created_at', '<', expiredBefore)
    .execute()
}

/** Deletes up to `count` expired keys of the tenant. Returns their number. */
export async function deleteExpiredKeys(tx: TenantTx, expiredBefore: string, count: number): Promise<number> {
  const deleted = await tx.db
    .deleteFrom('hub.idempotency_keys')
    .where('tenant_id', '=', tx.tenantId)
    .where('key_digest', 'in', (from) =>
      from
        .selectFrom('hub.idempotency_keys')
        .select('key_digest')
        .where('tenant_id', '=', tx.tenantId)
        .where('created_at', '<', expiredBefore)
        .limit(count),
    )
    .executeTakeFirst()
  return Number(deleted.numDeletedRows)
}

/**
 * Deletes keys that were claimed between two times and whose response names any of the records, by `record_id` or, for
 * a batch, by `record_ids`.
 */
export async function deleteKeysNaming(
  tx: TenantTx,
  recordIds: readonly string[],
  from: string,
  to: string,
): Promise<void> {
  await tx.client.query(
    `delete from hub.idempotency_keys where tenant_id = $1 and created_at between $3 and $4
       and (answer ->> 'record_id' = any($2::text[]) or answer -> 'record_ids' ?| $2::text[])`,
    [tx.tenantId, recordIds, from, to],
  )
}
