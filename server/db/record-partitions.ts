import type { Database, DatabaseLog, RegistryTx } from './database.ts'

/** Months of partitions kept ready: a service can run this long without a restart and still write. */
export const partitionMonthsAhead = 3

/** Creates the missing partitions from last month to some months ahead. Safe to run at any time. */
export async function ensureRecordPartitions(tx: RegistryTx): Promise<void> {
  await tx.client.query('select hub.ensure_record_partitions($1)', [partitionMonthsAhead])
}

/** Returns whether the partition of next month exists. */
export async function hasNextPartition(tx: RegistryTx): Promise<boolean> {
  const { rows } = await tx.client.query<{ found: boolean }>(
    `select to_regclass('hub.records_' || to_char((now() at time zone 'UTC') + interval '1 month', '"y"YYYY"m"MM'))
       is not null as found`,
  )
  return rows[0]?.found === true
}

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
      "next month's partition of hub.records is missing, and writes will fail without it: start a process with " +
        'HUB_ROLE=worker or all and check why its housekeeping fails, or run `hub migrate`',
    )
  }
  const timer = setInterval(() => void look(), everyMs).unref()
  return () => clearInterval(timer)
}
