import type { JsonValue } from '../../../provenance/json.ts'
import type { IngestTx, TenantTx } from '../../db/database.ts'
import type { IdempotentRequest } from './idempotency-types.ts'

export interface StoredAnswer {
  requestDigest: Uint8Array
  answer: JsonValue
}

/**
 * Takes the key for this transaction, or answers false when it is taken. While another transaction that took it is
 * open, the primary key makes this wait for its end. Needs no right but INSERT, so both roles can claim.
 */
export async function insertKey(
  tx: TenantTx | IngestTx,
  request: IdempotentRequest,
  answer: JsonValue,
  createdAt: string,
): Promise<boolean> {
  const inserted = await tx.client.query(
    `insert into hub.idempotency_keys (tenant_id, key_digest, request_digest, answer, created_at)
     values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [request.tenantId, request.keyDigest, request.requestDigest, JSON.stringify(answer), createdAt],
  )
  return inserted.rowCount === 1
}

/** What a key was used for, unless that was before `expiredBefore`. */
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

/** Forgets a key that has expired, so that it can be used again. */
export async function deleteExpiredKey(tx: TenantTx, request: IdempotentRequest, expiredBefore: string): Promise<void> {
  await tx.db
    .deleteFrom('hub.idempotency_keys')
    .where('tenant_id', '=', request.tenantId)
    .where('key_digest', '=', Buffer.from(request.keyDigest))
    .where('created_at', '<', expiredBefore)
    .execute()
}

/** Forgets up to `count` keys of the tenant that have expired, and answers how many those were. */
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
