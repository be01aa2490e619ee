import { statfsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { DomainError } from '../../contract/domain-error.ts'
import { idempotencyKeyHours } from '../../contract/limits.ts'
import { count, inTransaction } from './spool-database.ts'

/** Bytes of disk that stay free. Forwarding needs space too; a full disk would never empty. */
const diskReserveBytes = 32 * 1024 * 1024
/** Seconds until a producer may retry when the spool is full. */
const fullRetrySeconds = 10

/** A checked request of a producer. */
export interface Submission {
  /** JSON texts of the events to store. */
  events: readonly string[]
  /** Digests of a request with an Idempotency-Key. */
  request?: { keyDigest: Buffer; requestDigest: Buffer }
  /** Returns the response for the assigned sequence numbers. */
  answerOf: (sequences: readonly number[]) => object
}

export interface StoredSubmission {
  /** The response as JSON text. */
  answer: string
  /** True if the response is that of an earlier request with the same key. */
  replayed: boolean
}

export type SpoolIntake = ReturnType<typeof createSpoolIntake>

interface Waiting {
  submission: Submission
  resolve: (kept: StoredSubmission) => void
  reject: (error: unknown) => void
}

const groupEventsMax = 10_000
const expireEveryMs = 3_600_000

/** Creates the store of producers' events. Submissions that arrive together share one transaction and its fsync. */
export function createSpoolIntake(deps: {
  database: DatabaseSync
  directory: string
  bytesMax: number
  /** Called after events are on the disk. */
  arrived: () => void
}) {
  const { database, directory, bytesMax, arrived } = deps
  const insertEvent = database.prepare('insert into events (event, accepted_ms) values (?, ?)')
  const findKey = database.prepare(
    'select request_digest, answer from producer_keys where key_digest = ? and accepted_ms > ?',
  )
  const insertKey = database.prepare('insert or replace into producer_keys values (?, ?, ?, ?)')
  const expireKeys = database.prepare('delete from producer_keys where accepted_ms <= ?')
  const expiredMs = () => Date.now() - idempotencyKeyHours * 3_600_000
  const waiting: Waiting[] = []
  let expireAtMs = 0

  function keepOne({ events, request, answerOf }: Submission): StoredSubmission {
    const known = request && findKey.get(request.keyDigest, expiredMs())
    if (known) {
      if (request.requestDigest.equals(known.request_digest as Uint8Array)) {
        return { answer: String(known.answer), replayed: true }
      }
      throw new DomainError(
        'idempotency-conflict',
        `This Idempotency-Key was used within the last ${idempotencyKeyHours} hours for another path or payload; ` +
          'send a new key with a new payload.',
        { errors: [{ pointer: '/headers/idempotency-key', detail: 'was used for another request' }] },
      )
    }
    const sequences = events.map((event) => Number(insertEvent.run(event, Date.now()).lastInsertRowid))
    const answer = JSON.stringify(answerOf(sequences))
    if (request) insertKey.run(request.keyDigest, request.requestDigest, answer, Date.now())
    count(database, 'accepted', events.length)
    return { answer, replayed: false }
  }

  function keepGroup(group: readonly Waiting[]): void {
    const outcomes = inTransaction(database, () =>
      group.map(({ submission }) => {
        try {
          return keepOne(submission)
        } catch (error) {
          if (error instanceof DomainError) return error
          throw error
        }
      }),
    )
    for (const [at, outcome] of outcomes.entries()) {
      if (outcome instanceof DomainError) group[at]!.reject(outcome)
      else group[at]!.resolve(outcome)
    }
    arrived()
  }

  function flush(): void {
    while (waiting.length > 0) {
      const group = waiting.splice(0, groupSize(waiting))
      try {
        const obstacle = obstacleNow()
        if (obstacle !== undefined) throw unavailable(obstacle)
        if (Date.now() >= expireAtMs) {
          expireKeys.run(expiredMs())
          expireAtMs = Date.now() + expireEveryMs
        }
        keepGroup(group)
      } catch (error) {
        const rejection = error instanceof DomainError ? error : failedToKeep(error)
        for (const { reject } of group) reject(rejection)
      }
    }
  }

  function obstacleNow(): string | undefined {
    if (usedBytes(database) >= bytesMax) {
      return `The spool has reached its ${Math.round(bytesMax / 1024 / 1024)} MiB (--spool-max-mib).`
    }
    const disk = statfsSync(directory)
    if (disk.bavail * disk.bsize < diskReserveBytes) return 'The disk of the spool is full.'
    return undefined
  }

  return {
    /**
     * Resolves once the events are on the disk.
     *
     * @throws DomainError `hub-unavailable` if there is no space or the disk fails, `idempotency-conflict`
     */
    keep(submission: Submission): Promise<StoredSubmission> {
      return new Promise((resolve, reject) => {
        // Submissions that arrive until then share the transaction.
        if (waiting.length === 0) setImmediate(flush)
        waiting.push({ submission, resolve, reject })
      })
    },
    /** Returns the reason why no events are accepted at the moment, or undefined. */
    obstacle: obstacleNow,
  }
}

/** Returns the number of submissions, from the first, that go into one transaction. */
function groupSize(waiting: readonly Waiting[]): number {
  let events = 0
  let size = 0
  while (size < waiting.length && (size === 0 || events + waiting[size]!.submission.events.length <= groupEventsMax)) {
    events += waiting[size]!.submission.events.length
    size++
  }
  return size
}

/** Counts the bytes of pages in use: SQLite reuses the pages of forwarded events. */
export function usedBytes(database: DatabaseSync): number {
  const number = (pragma: string) => Number(Object.values(database.prepare(`pragma ${pragma}`).get()!)[0])
  return (number('page_count') - number('freelist_count')) * number('page_size')
}

function failedToKeep(cause: unknown): DomainError {
  return unavailable(`The spool could not be written: ${(cause as Error).message}.`, cause)
}

function unavailable(reason: string, cause?: unknown): DomainError {
  return new DomainError('hub-unavailable', `${reason} Nothing of the request was stored; send it again later.`, {
    retryAfterSeconds: fullRetrySeconds,
    cause,
  })
}
