import { randomUUID } from 'node:crypto'
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { count, inTransaction } from './spool-database.ts'

/** One request to the Hub, the same each time it is made. */
export interface SpooledBatch {
  id: number
  /** Its Idempotency-Key. */
  key: string
  /** JSON texts, in order. */
  events: string[]
  /** Times it was sent; answered or not. */
  attempts: number
  doubt: Doubt | undefined
}

/** It was sent without an answer that says whether it was taken. Times by the Hub's clock. */
export interface Doubt {
  /** Who sent it: the `created_by` of its records. */
  clientId: string
  sinceMs: number
  untilMs: number
}

/** Why the Hub does not take an event. */
export interface EventRefusal {
  slug: string
  status: number
  detail: string
}

/** The side of the spool that the forwarder works at. Every method is one transaction. */
export interface SpooledBatches {
  /** The oldest request that is to be made, or a new one of up to `eventsMax` events. */
  next(eventsMax: number): SpooledBatch | undefined
  /** Before it is sent: from now on it may have been taken. */
  sending(batch: SpooledBatch, clientId: string, hubNowMs: number): void
  /** It was not taken this time, for certain; so what was known before it was sent holds again. */
  notTaken(batch: SpooledBatch): void
  /** The Hub has taken it but for the events at these indexes. */
  settle(batch: SpooledBatch, refusals: ReadonlyMap<number, EventRefusal>): void
  /** Dissolves it, so that its events go into other requests. Only when it was not taken, for certain. */
  dissolve(batch: SpooledBatch): void
  /** Puts it aside until a person decides. */
  putAside(batch: SpooledBatch, reason: string): void
  /** What was put aside is looked at again. */
  reconsider(): void
}

export function createSpooledBatches(database: DatabaseSync, nowMs: () => number = Date.now): SpooledBatches {
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
    next(eventsMax) {
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

    sending(batch, clientId, hubNowMs) {
      markSending.run(clientId, hubNowMs, hubNowMs, batch.id)
    },

    notTaken(batch) {
      const { doubt } = batch
      restoreDoubt.run(doubt?.clientId ?? null, doubt?.sinceMs ?? null, doubt?.untilMs ?? null, batch.id)
    },

    settle(batch, refusals) {
      inTransaction(database, () => {
        for (const [index, { slug, status, detail }] of refusals) {
          refuseNth.run(nowMs(), slug, status, detail, batch.id, index)
        }
        deleteEvents.run(batch.id)
        deleteBatch.run(batch.id)
        count(database, 'forwarded', batch.events.length - refusals.size)
        count(database, 'refused', refusals.size)
      })
    },

    dissolve(batch) {
      inTransaction(database, () => {
        release.run(batch.id)
        deleteBatch.run(batch.id)
      })
    },

    putAside(batch, reason) {
      putAside.run(reason, batch.id)
    },

    reconsider() {
      database.exec('update batches set uncertain_because = null where uncertain_because is not null')
    },
  }
}
