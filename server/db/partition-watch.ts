import type { Database, DatabaseLog } from './database.ts'
import { hasNextPartition } from './record-partitions.ts'

const intervalMs = 3_600_000

/**
 * Looks, hourly, whether next month's partition is there: an early warning for a service whose housekeeping fails or
 * that has no process to do it. Without the partition nothing could be written from the first of the month on.
 *
 * @returns stops it
 */
export function watchPartitions(
  database: Pick<Database, 'withRegistry'>,
  log: DatabaseLog,
  everyMs = intervalMs,
): () => void {
  const look = async () => {
    // A database that is away is not what this is about; the next look comes.
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
