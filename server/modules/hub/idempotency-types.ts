import type { JsonValue } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import type { IngestStep } from '../../db/ingest-script.ts'

/** One use of an `Idempotency-Key`: digests only, so that neither key nor payload is kept. */
export interface IdempotentRequest {
  tenantId: string
  keyDigest: Uint8Array
  /** Of path and canonical body: what must be the same for the first answer to be given again. */
  requestDigest: Uint8Array
}

/** The key of a request that is being done, to be claimed in the transaction that does the work. */
export interface Claim {
  /**
   * Claims it in a transaction of the application role, before anything is stored; waits for a duplicate in flight, and
   * throws when that one commits.
   */
  within(tx: TenantTx, answer: JsonValue): Promise<void>
  readonly request: IdempotentRequest
  /** What the work must throw when an ingest transaction was refused because the key is taken. */
  taken(): Error
}

/** Claims as the first steps of an ingest transaction. */
export interface ClaimSteps {
  steps: IngestStep[]
  /**
   * Which of the claims PostgreSQL refused, given the step it refused and why: its key is taken, or another transaction
   * that has not ended holds it. Undefined when it was something else.
   */
  refused(step: number, code: string | undefined): { index: number; inFlight: boolean } | undefined
}

/**
 * Answers a repeated request with its first answer (interface 4.3, rule 3; decisions section 2). What is kept is
 * what `answer` says: ids and the like, never content; the caller rebuilds the body from it.
 */
export interface Idempotency {
  /**
   * The request that a key stands for, or undefined without a key. `body` is the body as it was sent, before
   * anything is normalised; it has passed its bounds and cheap checks, for the digest costs more. Throws `validation-failed` when the key is not 1..255 visible ASCII characters.
   */
  requestOf(
    tenantId: string,
    key: string | undefined,
    path: string,
    body: JsonValue,
  ): Promise<IdempotentRequest | undefined>

  /**
   * Does the work once. `write` runs the transaction and must claim the key in it. `replay` makes the answer again from
   * what was claimed with. Without a request there is no claim, and the work is simply done.
   *
   * A first request costs nothing but its claim: only when that is refused, or the work fails for any reason, is the
   * key looked up. Throws `idempotency-conflict` when it was used for another request within 24 hours.
   */
  once<Result>(
    request: IdempotentRequest | undefined,
    write: (claim: Claim | undefined) => Promise<Result>,
    replay: (answer: JsonValue) => Promise<Result>,
  ): Promise<Result>

  /**
   * The claims of one ingest transaction, in the order of their keys, so that no two transactions wait for each other.
   * A claim that meets a transaction in flight is refused soon unless it is `patient`.
   */
  claimSteps(claims: readonly { request: IdempotentRequest; answer: JsonValue }[], patient: boolean): ClaimSteps

  /**
   * Deletes some of the tenant's keys that have expired, and answers whether there may be more. They count for nothing
   * already; this keeps the table small.
   */
  forgetExpired(tx: TenantTx): Promise<boolean>

  /** Deletes the keys whose answers name any of the records, which are being erased. */
  forgetRecords(tx: TenantTx, recordIds: readonly string[]): Promise<void>
}
