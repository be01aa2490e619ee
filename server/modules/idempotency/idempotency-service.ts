import { hash } from 'node:crypto'
import { DomainError, isUnavailable, validationFailed } from '../../../contract/domain-error.ts'
import { idempotencyKeyHours } from '../../../contract/limits.ts'
import { patterns, patternWords } from '../../../contract/literals.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { JsonValue } from '../../../provenance/index.ts'
import { type Database, readTenant, type TenantTx } from '../../db/database.ts'
import type { IngestStep } from '../../db/ingest-script.ts'
import { timeOfRecordId } from '../../records/record-clock.ts'
import { requestDigest } from './idempotency-digest.ts'
import {
  awaitStandby,
  claimStep,
  defaultLockTimeout,
  deleteExpiredKey,
  deleteExpiredKeys,
  deleteExpiredOf,
  deleteKeysNaming,
  findKey,
  findUsedKeys,
  insertKey,
  type KeyRow,
  keysPerClaim,
  shortLockTimeout,
} from './idempotency-store.ts'
import type {
  AnsweredClaim,
  Claim,
  ClaimSteps,
  Idempotency,
  IdempotentRequest,
  SingleClaim,
} from './idempotency-types.ts'

const keyPattern = new RegExp(patterns.idempotencyKey)

/** Maximum number of keys that one statement deletes, so that it ends well within its timeout. */
const forgottenAtOnce = 10_000

/**
 * Maximum attempts. Between two looks a key can be claimed, and expire or be rolled back; more often indicates a fault.
 */
const attemptsMax = 5

/**
 * Maximum difference in milliseconds between a key's claim and its record's time, which may come from another process's
 * clock.
 */
const clockMsMax = 24 * 3_600_000

// PostgreSQL, appendix A.
const uniqueViolation = '23505'
const lockNotAvailable = '55P03'

/** Rolls back the transaction that lost the race for a key. */
class KeyTaken extends Error {}

/** Keeps the keys of 24 hours in hub.idempotency_keys. */
export class IdempotencyKeys implements Idempotency {
  readonly #database: Database
  readonly #now: () => number
  /** Requests in progress in this process. A duplicate waits here and not in the database. */
  readonly #inFlight = new Map<string, Promise<unknown>>()

  constructor(deps: { database: Database; now?: () => number }) {
    this.#database = deps.database
    this.#now = deps.now ?? Date.now
  }

  async requestOf(tenantId: string, key: string | undefined, path: string, body: JsonValue) {
    if (key === undefined) return undefined
    if (!keyPattern.test(key)) {
      const detail = `must be ${patternWords[patterns.idempotencyKey]}`
      throw validationFailed([{ pointer: '/headers/idempotency-key', detail }])
    }
    return { tenantId, keyDigest: hash('sha256', key, 'buffer'), requestDigest: await requestDigest(path, body) }
  }

  async once<Result>(
    request: IdempotentRequest | undefined,
    write: (claim: SingleClaim | undefined) => Promise<Result>,
    replay: (answer: JsonValue) => Promise<Result>,
  ): Promise<Result> {
    if (request === undefined) return write(undefined)
    for (let attempts = 0; attempts < attemptsMax; attempts++) {
      for (;;) {
        const duplicate = this.#inFlight.get(nameOf(request))
        if (duplicate === undefined) break
        await duplicate.catch(() => undefined)
        const answer = await this.#find(request)
        if (answer !== undefined) return replay(answer)
      }
      const result = await this.#attempt(request, write, replay)
      if (result !== undefined) return result
    }
    throw contended()
  }

  async onceEach(
    tenantId: string,
    keys: readonly string[],
    write: (fresh: readonly number[], claim: Claim) => Promise<void>,
  ): Promise<readonly number[]> {
    const requestDigest = hash('sha256', eachPath, 'buffer')
    const byDigest = new Map<string, { index: number; request: IdempotentRequest }>()
    for (const [index, key] of keys.entries()) {
      // No Idempotency-Key has a line feed, so none of them equals such a key.
      const keyDigest = hash('sha256', `${eachPath}\n${key}`, 'buffer')
      const digest = keyDigest.toString('hex')
      if (!byDigest.has(digest)) byDigest.set(digest, { index, request: { tenantId, keyDigest, requestDigest } })
    }
    for (let attempts = 0; attempts < attemptsMax; attempts++) {
      const fresh = [...byDigest.values()]
      const requests = fresh.map(({ request }) => request)
      const indexes = fresh.map(({ index }) => index)
      if (fresh.length === 0) return []
      try {
        await write(indexes, { requests, taken: () => new KeyTaken() })
        return indexes
      } catch (error) {
        if (!(error instanceof KeyTaken)) throw error
      }
      const digests = requests.map(({ keyDigest }) => keyDigest)
      const used = await this.#database.withTenant(tenantId, async (tx) => {
        await awaitStandby(tx)
        await deleteExpiredOf(tx, digests, this.#expiredBefore())
        return findUsedKeys(tx, digests, this.#expiredBefore())
      })
      for (const digest of used) byDigest.delete(digest)
    }
    throw contended()
  }

  claimSteps(claims: readonly AnsweredClaim[], patient: boolean): ClaimSteps {
    const createdAt = formatTimestamp(this.#now())
    const order: number[] = []
    const steps: IngestStep[] = []
    for (const { index, rows } of inKeyOrder(claims)) {
      for (const some of partsOf(rows)) {
        steps.push(claimStep(some, createdAt))
        order.push(index)
      }
    }
    const first = patient ? 0 : 1
    return {
      steps: steps.length === 0 || patient ? steps : [shortLockTimeout, ...steps, defaultLockTimeout],
      refused(step, code) {
        const index = order[step - first]
        const inFlight = code === lockNotAvailable
        return index !== undefined && (inFlight || code === uniqueViolation) ? { index, inFlight } : undefined
      },
    }
  }

  async deleteExpired(tx: TenantTx): Promise<boolean> {
    return (await deleteExpiredKeys(tx, this.#expiredBefore(), forgottenAtOnce)) === forgottenAtOnce
  }

  async eraseRecordCopies(tx: TenantTx, recordIds: readonly string[]): Promise<void> {
    const times = recordIds.map(timeOfRecordId).sort()
    if (times.length === 0) return
    const around = (time: string, ms: number) => formatTimestamp(Date.parse(time) + ms)
    await deleteKeysNaming(tx, recordIds, around(times[0]!, -clockMsMax), around(times.at(-1)!, clockMsMax))
  }

  #expiredBefore(): string {
    return formatTimestamp(this.#now() - idempotencyKeyHours * 3_600_000)
  }

  /** Returns the first response, or undefined if the key is free. */
  async #find(request: IdempotentRequest): Promise<JsonValue | undefined> {
    const stored = await readTenant(this.#database, request.tenantId, async (tx) => {
      const found = await findKey(tx, request, this.#expiredBefore())
      if (found) await awaitStandby(tx)
      return found
    })
    if (stored === undefined) return undefined
    if (Buffer.compare(stored.request_digest, request.requestDigest) !== 0) {
      throw new DomainError(
        'idempotency-conflict',
        `This Idempotency-Key was used within the last ${idempotencyKeyHours} hours for another path or payload; ` +
          'send a new key with a new payload.',
        { errors: [{ pointer: '/headers/idempotency-key', detail: 'was used for another request' }] },
      )
    }
    return stored.answer as JsonValue
  }

  /** Returns the response, or undefined if another request held the key. The caller then retries. */
  async #attempt<Result>(
    request: IdempotentRequest,
    write: (claim: SingleClaim) => Promise<Result>,
    replay: (answer: JsonValue) => Promise<Result>,
  ): Promise<Result | undefined> {
    const name = nameOf(request)
    const work = write(this.#claimOf(request))
    this.#inFlight.set(name, work)
    try {
      return await work
    } catch (error) {
      // A key look-up would add load to an overloaded service.
      if (isUnavailable(error)) throw error
      // The first attempt may have succeeded despite any other error.
      const answer = await this.#find(request)
      if (answer !== undefined) return replay(answer)
      if (!(error instanceof KeyTaken)) throw error
      await this.#database.withTenant(request.tenantId, (tx) => deleteExpiredKey(tx, request, this.#expiredBefore()))
      return undefined
    } finally {
      this.#inFlight.delete(name)
    }
  }

  #claimOf(request: IdempotentRequest): SingleClaim {
    return {
      requests: [request],
      within: async (tx, answer) => {
        if (!(await insertKey(tx, request, answer, formatTimestamp(this.#now())))) throw new KeyTaken()
      },
      taken: () => new KeyTaken(),
    }
  }
}

/** Stands for the path in the digests of keys that events have themselves. */
const eachPath = 'event keys'

function contended(): DomainError {
  return new DomainError('hub-unavailable', 'The Idempotency-Key is contended; repeat the request.', {
    retryAfterSeconds: 1,
  })
}

/** Sorts the keys of each claim, and the claims by their first key. Two transactions then seldom meet in another order. */
function inKeyOrder(claims: readonly AnsweredClaim[]): { index: number; rows: KeyRow[] }[] {
  const compare = (a: KeyRow, b: KeyRow) => Buffer.compare(a.request.keyDigest, b.request.keyDigest)
  return claims
    .map(({ requests, answers }, index) => ({
      index,
      rows: requests.map((request, at) => ({ request, answer: answers[at]! })).sort(compare),
    }))
    .filter(({ rows }) => rows.length > 0)
    .sort((a, b) => compare(a.rows[0]!, b.rows[0]!))
}

/** Splits rows into parts of `keysPerClaim`, and the rest into single rows. */
function partsOf(rows: readonly KeyRow[]): KeyRow[][] {
  const whole = Math.floor(rows.length / keysPerClaim)
  const parts = Array.from({ length: whole }, (_, at) => rows.slice(at * keysPerClaim, (at + 1) * keysPerClaim))
  return [...parts, ...rows.slice(whole * keysPerClaim).map((row) => [row])]
}

function nameOf(request: IdempotentRequest): string {
  return `${request.tenantId} ${Buffer.from(request.keyDigest).toString('latin1')}`
}
