import { hash } from 'node:crypto'
import { DomainError, validationFailed } from '../../../contract/domain-error.ts'
import { idempotencyKeyHours } from '../../../contract/limits.ts'
import { patterns, patternWords } from '../../../contract/literals.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import { canonicalize, type JsonValue } from '../../../provenance/index.ts'
import type { Database } from '../../db/database.ts'
import { deleteExpiredKey, deleteExpiredKeys, findKey, insertKey } from './idempotency-store.ts'
import type { Idempotency, IdempotentRequest } from './idempotency-types.ts'

const keyPattern = new RegExp(patterns.idempotencyKey)

/** Few enough for one statement to end well within its timeout. */
const forgottenAtOnce = 10_000

/** A key can be taken, and expire or be rolled back, between two looks; more often than this is a fault. */
const attemptsMax = 5

/** Rolls back the transaction that lost the race for a key. */
class KeyTaken extends Error {}

export function createIdempotency(deps: { database: Database; now?: () => number }): Idempotency {
  const { database, now = Date.now } = deps
  const expiredBefore = () => formatTimestamp(now() - idempotencyKeyHours * 3_600_000)

  /** The first answer, or undefined when the key is free to be claimed. */
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

  return {
    requestOf(tenantId, key, path, body) {
      if (key === undefined) return undefined
      if (!keyPattern.test(key)) {
        throw validationFailed([
          { pointer: '/headers/idempotency-key', detail: `must be ${patternWords[patterns.idempotencyKey]}` },
        ])
      }
      return {
        tenantId,
        keyDigest: hash('sha256', key, 'buffer'),
        requestDigest: hash('sha256', `${path}\n${canonicalize(body)}`, 'buffer'),
      }
    },

    forgetExpired: async (tx) => (await deleteExpiredKeys(tx, expiredBefore(), forgottenAtOnce)) === forgottenAtOnce,

    async once(request, write, replay) {
      if (request === undefined) return write(async () => undefined)
      for (let attempt = 0; attempt < attemptsMax; attempt++) {
        const answer = await find(request)
        if (answer !== undefined) return replay(answer)
        try {
          return await write(async (tx, answer) => {
            if (!(await insertKey(tx, request, answer, formatTimestamp(now())))) throw new KeyTaken()
          })
        } catch (error) {
          if (!(error instanceof KeyTaken)) throw error
        }
        await database.withTenant(request.tenantId, (tx) => deleteExpiredKey(tx, request, expiredBefore()))
      }
      throw new DomainError('hub-unavailable', 'The Idempotency-Key is contended; repeat the request.', {
        retryAfterSeconds: 1,
      })
    },
  }
}
