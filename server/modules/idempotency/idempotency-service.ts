import { hash } from 'node:crypto'
import { DomainError, isUnavailable, validationFailed } from '../../../contract/domain-error.ts'
import { idempotencyKeyHours } from '../../../contract/limits.ts'
import { patterns, patternWords } from '../../../contract/literals.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { JsonValue } from '../../../provenance/index.ts'
import type { Database } from '../../db/database.ts'
import type { IngestStep } from '../../db/ingest-script.ts'
import { timeOfRecordId } from '../../records/record-clock.ts'
import { requestDigest } from './idempotency-digest.ts'
import {
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
import type { AnsweredClaim, Idempotency, IdempotentRequest, SingleClaim } from './idempotency-types.ts'

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

export function createIdempotency(deps: { database: Database; now?: () => number }): Idempotency {
  const { database, now = Date.now } = deps
  const expiredBefore = () => formatTimestamp(now() - idempotencyKeyHours * 3_600_000)

  /** Returns the first response, or undefined if the key is free. */
  async function find(request: IdempotentRequest): Promise<JsonValue | undefined> {
    const stored = await database.withTenant(request.tenantId, async (tx) => findKey(tx, request, expiredBefore()), {
      readOnly: true,
    })
    if (stored === undefined) return undefined
    if (Buffer.compare(stored.requestDigest, request.requestDigest) !== 0) {
      throw new DomainError(
        'idempotency-conflict',
        `This Idempotency-Key was used within the last ${idempotencyKeyHours} hours for another path or payload; ` +
          'send a new key with a new payload.',
        { errors: [{ pointer: '/headers/idempotency-key', detail: 'was used for another request' }] },
      )
    }
    return stored.answer
  }

  /** Requests in progress in this process. A duplicate waits here and not in the database. */
  const inFlight = new Map<string, Promise<unknown>>()

  const claimOf = (request: IdempotentRequest): SingleClaim => ({
    requests: [request],
    within: async (tx, answer) => {
      if (!(await insertKey(tx, request, answer, formatTimestamp(now())))) throw new KeyTaken()
    },
    taken: () => new KeyTaken(),
  })

  /** Returns the response, or undefined if another request held the key. The caller then retries. */
  async function attempt<Result>(
    request: IdempotentRequest,
    write: (claim: SingleClaim) => Promise<Result>,
    replay: (answer: JsonValue) => Promise<Result>,
  ): Promise<Result | undefined> {
    const name = nameOf(request)
    const work = write(claimOf(request))
    inFlight.set(name, work)
    try {
      return await work
    } catch (error) {
      // A key look-up would add load to an overloaded service.
      if (isUnavailable(error)) throw error
      // The first attempt may have succeeded despite any other error.
      const answer = await find(request)
      if (answer !== undefined) return replay(answer)
      if (!(error instanceof KeyTaken)) throw error
      await database.withTenant(request.tenantId, (tx) => deleteExpiredKey(tx, request, expiredBefore()))
      return undefined
    } finally {
      inFlight.delete(name)
    }
  }

  return {
    async requestOf(tenantId, key, path, body) {
      if (key === undefined) return undefined
      if (!keyPattern.test(key)) {
        throw validationFailed([
          { pointer: '/headers/idempotency-key', detail: `must be ${patternWords[patterns.idempotencyKey]}` },
        ])
      }
      return {
        tenantId,
        keyDigest: hash('sha256', key, 'buffer'),
        requestDigest: await requestDigest(path, body),
      }
    },

    forgetExpired: async (tx) => (await deleteExpiredKeys(tx, expiredBefore(), forgottenAtOnce)) === forgottenAtOnce,

    async forgetRecords(tx, recordIds) {
      const times = recordIds.map(timeOfRecordId).sort()
      if (times.length === 0) return
      const around = (time: string, ms: number) => formatTimestamp(Date.parse(time) + ms)
      await deleteKeysNaming(tx, recordIds, around(times[0]!, -clockMsMax), around(times.at(-1)!, clockMsMax))
    },

    async onceEach(tenantId, keys, write) {
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
        const used = await database.withTenant(tenantId, async (tx) => {
          await deleteExpiredOf(tx, digests, expiredBefore())
          return findUsedKeys(tx, digests, expiredBefore())
        })
        for (const digest of used) byDigest.delete(digest)
      }
      throw contended()
    },

    claimSteps(claims, patient) {
      const createdAt = formatTimestamp(now())
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
    },

    async once(request, write, replay) {
      if (request === undefined) return write(undefined)
      for (let attempts = 0; attempts < attemptsMax; attempts++) {
        for (;;) {
          const duplicate = inFlight.get(nameOf(request))
          if (duplicate === undefined) break
          await duplicate.catch(() => undefined)
          const answer = await find(request)
          if (answer !== undefined) return replay(answer)
        }
        const result = await attempt(request, write, replay)
        if (result !== undefined) return result
      }
      throw contended()
    },
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
