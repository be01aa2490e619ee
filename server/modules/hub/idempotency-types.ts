import type { JsonValue } from '../../../provenance/json.ts'
import type { IngestTx, TenantTx } from '../../db/database.ts'

/** One use of an `Idempotency-Key`: digests only, so that neither key nor payload is kept. */
export interface IdempotentRequest {
  tenantId: string
  keyDigest: Uint8Array
  /** Of path and canonical body: what must be the same for the first answer to be given again. */
  requestDigest: Uint8Array
}

/** Claims the key in the transaction that does the work; see {@link Idempotency.once}. */
export type ClaimKey = (tx: TenantTx | IngestTx, answer: JsonValue) => Promise<void>

/**
 * Answers a repeated request with its first answer (interface 4.3, rule 3; decisions section 2). What is kept is
 * what `answer` says: ids and the like, never content; the caller rebuilds the body from it.
 */
export interface Idempotency {
  /**
   * The request that a key stands for, or undefined without a key. `body` is the body as it was sent, before
   * anything is normalised. Throws `validation-failed` when the key is not 1..255 visible ASCII characters.
   */
  requestOf(tenantId: string, key: string | undefined, path: string, body: JsonValue): IdempotentRequest | undefined

  /**
   * Does the work once. `write` runs the transaction and must call its `claim` in it, before anything is stored; the
   * claim waits for a duplicate in flight, and if that one commits, rolls this one back. `replay` makes the answer
   * again from what was claimed with. Without a request the work is simply done.
   *
   * Throws `idempotency-conflict` when the key was used for another request within 24 hours.
   */
  once<Result>(
    request: IdempotentRequest | undefined,
    write: (claim: ClaimKey) => Promise<Result>,
    replay: (answer: JsonValue) => Promise<Result>,
  ): Promise<Result>

  /**
   * Deletes some of the tenant's keys that have expired, and answers whether there may be more. They count for nothing
   * already; this keeps the table small.
   */
  forgetExpired(tx: TenantTx): Promise<boolean>
}
