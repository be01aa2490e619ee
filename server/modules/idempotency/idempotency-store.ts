import type { JsonValue } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import type { IngestStep } from '../../db/ingest-script.ts'
import type { IdempotentRequest } from './idempotency-types.ts'

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

/** Number of keys that one statement claims if there are as many: a tenth of the time of single claims. */
export const keysPerClaim = 50
/** Lists rows, because a distributed database would convert INSERT … SELECT into a COPY. */
const claimMany = {
  name: 'hub_claim_keys',
  text: `insert into hub.idempotency_keys (tenant_id, created_at, key_digest, request_digest, answer) values
    ${Array.from({ length: keysPerClaim }, (_, row) => `($1, $2, $${3 * row + 3}, $${3 * row + 4}, $${3 * row + 5})`).join(', ')}`,
}

export interface KeyRow {
  request: IdempotentRequest
  answer: JsonValue
}

/**
 * Claims the keys of one tenant with the insert-only role, `keysPerClaim` or one. A claimed key ends the transaction
 * (unique_violation).
 */
export function claimStep(rows: readonly KeyRow[], createdAt: string): IngestStep {
  const [first] = rows
  if (rows.length === 1) return { statement: claim, values: rowOf(first!.request, first!.answer, createdAt) }
  const values = rows.flatMap(({ request: { keyDigest, requestDigest }, answer }) => [
    ...[bytesOf(keyDigest), bytesOf(requestDigest), JSON.stringify(answer)],
  ])
  return { statement: claimMany, values: [first!.request.tenantId, createdAt, ...values] }
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

/**
 * Makes the commit of this transaction wait for the synchronous standby, if there is one, though it changes nothing. A
 * key that it found may come from a commit whose own wait was cancelled.
 */
export async function awaitStandby(tx: TenantTx): Promise<void> {
  await tx.client.query(
    "select pg_logical_emit_message(true, 'hub', '') where current_setting('synchronous_standby_names') <> ''",
  )
}

/** Returns the stored use of a key, unless it is older than `expiredBefore`. */
export function findKey(tx: TenantTx, request: IdempotentRequest, expiredBefore: string) {
  return tx.db
    .selectFrom('hub.idempotency_keys')
    .select(['request_digest', 'answer'])
    .where('tenant_id', '=', request.tenantId)
    .where('key_digest', '=', Buffer.from(request.keyDigest))
    .where('created_at', '>=', expiredBefore)
    .executeTakeFirst()
}

/** Returns the digests, in hexadecimal digits, of those keys that were used and not before `expiredBefore`. */
export async function findUsedKeys(
  tx: TenantTx,
  keyDigests: readonly Uint8Array[],
  expiredBefore: string,
): Promise<Set<string>> {
  const { rows } = await tx.client.query<{ digest: string }>(
    `select encode(key_digest, 'hex') as digest from hub.idempotency_keys
     where tenant_id = $1 and key_digest = any($2::bytea[]) and created_at >= $3`,
    [tx.tenantId, keyDigests.map(bytesOf), expiredBefore],
  )
  return new Set(rows.map(({ digest }) => digest))
}

/** Deletes those keys that have expired, so that they can be used again. */
export async function deleteExpiredOf(
  tx: TenantTx,
  keyDigests: readonly Uint8Array[],
  expiredBefore: string,
): Promise<void> {
  await tx.client.query(
    `delete from hub.idempotency_keys
     where tenant_id = $1 and key_digest = any($2::bytea[]) and created_at < $3`,
    [tx.tenantId, keyDigests.map(bytesOf), expiredBefore],
  )
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
