import type { DatabaseSync } from 'node:sqlite'
import { formatTimestamp } from '../../contract/timestamp.ts'
import { count, inTransaction } from './spool-database.ts'

export type SpoolDecisions = ReturnType<typeof createSpoolDecisions>

/** Creates the operator's interface to the spool, also usable while a connector runs. */
export function createSpoolDecisions(database: DatabaseSync) {
  const events = database.prepare('select count(*) as n from events where batch_id = ?')
  const uncertainByKey = database.prepare('select id from batches where key = ? and uncertain_because is not null')

  /** Ends a batch that was set aside. Fails if it was decided meanwhile. */
  function decide(key: string, work: (batchId: number) => void): number {
    return inTransaction(database, () => {
      const id = uncertainByKey.get(key)?.id as number | undefined
      if (id === undefined) return 0
      const affected = Number(events.get(id)?.n)
      work(id)
      database.prepare('delete from batches where id = ?').run(id)
      return affected
    })
  }

  return {
    refused: (limit: number) =>
      database
        .prepare('select * from refused order by sequence limit ?')
        .all(limit)
        .map((row) => ({
          sequence: Number(row.sequence),
          accepted_at: formatTimestamp(Number(row.accepted_ms)),
          refused_at: formatTimestamp(Number(row.refused_ms)),
          slug: String(row.slug),
          status: Number(row.status),
          detail: String(row.detail),
          event: JSON.parse(String(row.event)) as unknown,
        })),

    /** Sends all refused events once more. Returns their number. */
    retryRefused: () =>
      inTransaction(database, () => {
        const moved = database
          .prepare('insert into events (event, accepted_ms) select event, accepted_ms from refused order by sequence')
          .run()
        database.exec('delete from refused')
        return Number(moved.changes)
      }),

    /** Deletes all refused events. Returns their number. */
    dropRefused: () =>
      inTransaction(database, () => {
        const dropped = Number(database.prepare('delete from refused').run().changes)
        count(database, 'dropped', dropped)
        return dropped
      }),

    /** Returns batches whose delivery is unknown. `sent_at` is the first attempt, by the Hub's clock. */
    uncertain: () =>
      database
        .prepare('select * from batches where uncertain_because is not null order by id')
        .all()
        .map((row) => ({
          key: String(row.key),
          events: Number(events.get(row.id as number)?.n),
          sent_at: formatTimestamp(Number(row.doubtful_since_ms)),
          reason: String(row.uncertain_because),
        })),

    /** Sends the events again under a new key. Correct if the Hub lacks them. Returns their number. */
    resendUncertain: (key: string) =>
      decide(key, (id) => database.prepare('update events set batch_id = null where batch_id = ?').run(id)),

    /** Deletes the events. Correct if the Hub has them. Returns their number. */
    dropUncertain: (key: string) =>
      decide(key, (id) => {
        const dropped = database.prepare('delete from events where batch_id = ?').run(id)
        count(database, 'dropped', Number(dropped.changes))
      }),
  }
}
