import { randomUUID } from 'node:crypto'
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { count, inTransaction } from './spool-database.ts'

/** One request to the Hub, identical in each attempt. */
export interface SpooledBatch {
  id: number
  /** The request's Idempotency-Key. */
  key: string
  /** JSON texts of the events, in order. */
  events: string[]
  /** Number of times it was sent, with or without a response. */
  attempts: number
  doubt: Doubt | undefined
}

/** The state of a batch that was sent without a conclusive response. Times by the Hub's clock. */
interface Doubt {
  /** The sender's client id: the `created_by` of the batch's records. */
  clientId: string
  sinceMs: number
  untilMs: number
}

/** The reason why the Hub refuses an event. */
export interface EventRejection {
  slug: string
  status: number
  detail: string
}

export type SpooledBatches = ReturnType<typeof createSpooledBatches>

/** Creates the forwarder's interface to the spool. Every method is one transaction. */
export function createSpooledBatches(database: DatabaseSync) {
  const oldest = database.prepare('select * from batches where uncertain_because is null order by id limit 1')
  const waiting = database.prepare('select sequence from events where batch_id is null order by sequence limit ?')
  const eventsOf = database.prepare('select event from events where batch_id = ? order by sequence')
  const insertBatch = database.prepare('insert into batches (key) values (?) returning *')
  const assign = database.prepare('update events set batch_id = ? where batch_id is null and sequence between ? and ?')
  const markSending = database.prepare(
    `update batches set attempts = attempts + 1, client_id = coalesce(client_id, ?),
       doubtful_since_ms = coalesce(doubtful_since_ms, ?), doubtful_until_ms = ?
     where id = ?`,
  )
  const restoreDoubt = database.prepare(
    'update batches set client_id = ?, doubtful_since_ms = ?, doubtful_until_ms = ? where id = ?',
  )
  const refuseNth = database.prepare(
    `insert into refused (sequence, event, accepted_ms, refused_ms, slug, status, detail)
     select sequence, event, accepted_ms, ?, ?, ?, ? from events where batch_id = ? order by sequence limit 1 offset ?`,
  )
  const deleteEvents = database.prepare('delete from events where batch_id = ?')
  const deleteBatch = database.prepare('delete from batches where id = ?')
  const release = database.prepare('update events set batch_id = null where batch_id = ?')
  const putAside = database.prepare('update batches set uncertain_because = ? where id = ?')

  const withEvents = (row: Record<string, SQLOutputValue>): SpooledBatch => ({
    id: Number(row.id),
    key: String(row.key),
    attempts: Number(row.attempts),
    doubt:
      row.doubtful_since_ms === null
        ? undefined
        : {
            clientId: String(row.client_id),
            sinceMs: Number(row.doubtful_since_ms),
            untilMs: Number(row.doubtful_until_ms),
          },
    events: eventsOf.all(row.id as number).map(({ event }) => String(event)),
  })

  return {
    /** Returns the oldest pending request, or a new one of up to `eventsMax` events. */
    next(eventsMax: number): SpooledBatch | undefined {
      const known = oldest.get()
      if (known !== undefined) return withEvents(known)
      if (waiting.get(1) === undefined) return undefined
      return inTransaction(database, () => {
        const sequences = waiting.all(eventsMax)
        const made = insertBatch.get(randomUUID())!
        assign.run(made.id as number, sequences[0]!.sequence as number, sequences.at(-1)!.sequence as number)
        return withEvents(made)
      })
    },

    /** Marks the batch before it is sent: from now on the Hub may have stored it. */
    sending(batch: SpooledBatch, clientId: string, hubNowMs: number): void {
      markSending.run(clientId, hubNowMs, hubNowMs, batch.id)
    },

    /** Marks the batch as certainly not stored in this attempt; restores the state before it was sent. */
    notTaken({ id, doubt }: SpooledBatch): void {
      restoreDoubt.run(doubt?.clientId ?? null, doubt?.sinceMs ?? null, doubt?.untilMs ?? null, id)
    },

    /** Settles the batch: the Hub has stored it, except for the events at these indexes. */
    settle(batch: SpooledBatch, rejections: ReadonlyMap<number, EventRejection>): void {
      inTransaction(database, () => {
        for (const [index, { slug, status, detail }] of rejections) {
          refuseNth.run(Date.now(), slug, status, detail, batch.id, index)
        }
        deleteEvents.run(batch.id)
        deleteBatch.run(batch.id)
        count(database, 'forwarded', batch.events.length - rejections.size)
        count(database, 'refused', rejections.size)
      })
    },

    /** Dissolves the batch, so that its events join other requests. Allowed only if it was certainly not stored. */
    dissolve(batch: SpooledBatch): void {
      inTransaction(database, () => {
        release.run(batch.id)
        deleteBatch.run(batch.id)
      })
    },

    /** Sets the batch aside until a person decides. */
    putAside(batch: SpooledBatch, reason: string): void {
      putAside.run(reason, batch.id)
    },

    /** Makes batches that were set aside subject to another search. */
    reconsider(): void {
      database.exec('update batches set uncertain_because = null where uncertain_because is not null')
    },
  }
}
