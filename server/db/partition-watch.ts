import type { Database, DatabaseLog } from './database.ts'
import { hasNextPartition } from './record-partitions.ts'

const intervalMs = 3_600_000

/**
 * Checks hourly whether next month's partition exists. It warns early if housekeeping fails or no process runs it:
 * without the partition nothing can be written from the first of the month on.
 *
 * @returns a function that stops it
 */
export function watchPartitions(
  database: Pick<Database, 'withRegistry'>,
  log: DatabaseLog,
  everyMs = intervalMs,
): () => void {
  const look = async () => {
    // An unavailable database is reported elsewhere; the next check follows.
    const isThere = await database.withRegistry(hasNextPartition).catch(() => true)
    if (isThere) return
    log.error(
      {},
      "next month's partition of hub.records is missing, so from then on nothing can be written: " +
        'start a process with HUB_ROLE=worker or all and look why its housekeeping fails, or run `hub migrate`',
    )
  }
  const timer = setInterval(() => void look(), everyMs).unref()
  return () => clearInterval(timer)
}
