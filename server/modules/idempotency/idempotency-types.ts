import type { JsonValue } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import type { IngestStep } from '../../db/ingest-script.ts'

/** One use of an `Idempotency-Key`. Holds only digests, so that neither key nor payload is stored. */
export interface IdempotentRequest {
  tenantId: string
  keyDigest: Uint8Array
  /** The digest of path and canonical body, which must be equal for a replay of the first response. */
  requestDigest: Uint8Array
}

/** The keys of a request in progress. The transaction that does the work claims them all, or fails. */
export interface Claim {
  readonly requests: readonly IdempotentRequest[]
  /** Returns the error that the work must throw if an ingest transaction was refused because of a claimed key. */
  taken(): Error
}

/** The one key of a request in progress. */
export interface SingleClaim extends Claim {
  /**
   * Claims the key in a transaction of the application role, before anything is stored. Waits for a duplicate in
   * flight, and throws if that one commits.
   */
  within(tx: TenantTx, answer: JsonValue): Promise<void>
}

/** A claim in an ingest transaction, with the stored response to each of its requests. */
export interface AnsweredClaim {
  requests: readonly IdempotentRequest[]
  answers: readonly JsonValue[]
}

/** Claims as the first steps of an ingest transaction. */
export interface ClaimSteps {
  steps: IngestStep[]
  /**
   * Returns the claim that PostgreSQL refused, given the refused step and its error code: a key of it is claimed, or an
   * open transaction holds one. Undefined for any other cause.
   */
  refused(step: number, code: string | undefined): { index: number; inFlight: boolean } | undefined
}

/**
 * Answers a repeated request with its first response (interface 4.3, rule 3; decisions section 2). Stores only the
 * content of `answer`: ids and the like, never content of records. The caller rebuilds the body from it.
 */
export interface Idempotency {
  /**
   * Returns the request that a key identifies, or undefined without a key. `body` is the body as sent, before
   * normalization. It must have passed its bounds and cheap checks, because the digest costs more. Throws
   * `validation-failed` unless the key is 1..255 visible ASCII characters.
   */
  requestOf(
    tenantId: string,
    key: string | undefined,
    path: string,
    body: JsonValue,
  ): Promise<IdempotentRequest | undefined>

  /**
   * Does the work once. `write` runs the transaction and must claim the key in it. `replay` rebuilds the response from
   * the claimed answer. Without a request there is no claim, and the work runs directly.
   *
   * A first request costs only its claim: the key is looked up only if the claim is refused or the work fails. Throws
   * `idempotency-conflict` if the key was used for another request within 24 hours.
   */
  once<Result>(
    request: IdempotentRequest | undefined,
    write: (claim: SingleClaim | undefined) => Promise<Result>,
    replay: (answer: JsonValue) => Promise<Result>,
  ): Promise<Result>

  /**
   * Does the work for those of many things that were not done within 24 hours, each with a key of its own. `write` gets
   * their indexes and must store all of them with the claim, or none. Of equal keys, only the first counts. The first
   * attempt costs only its claim; after a refused one the used keys are looked up.
   *
   * @returns the indexes that were written
   */
  onceEach(
    tenantId: string,
    keys: readonly string[],
    write: (fresh: readonly number[], claim: Claim) => Promise<void>,
  ): Promise<readonly number[]>

  /**
   * Returns the claims of one ingest transaction in key order, so that no two transactions wait for each other for long.
   * A claim that meets a transaction in flight is refused soon unless it is `patient`.
   */
  claimSteps(claims: readonly AnsweredClaim[], patient: boolean): ClaimSteps

  /**
   * Deletes some of the tenant's expired keys. Returns whether there may be more. Expired keys have no effect; this
   * keeps the table small.
   */
  deleteExpired(tx: TenantTx): Promise<boolean>

  /** Deletes the keys whose responses name any of the records, which are being erased. */
  eraseRecordCopies(tx: TenantTx, recordIds: readonly string[]): Promise<void>
}
