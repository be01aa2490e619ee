import pg from 'pg'
import type { Config } from '../../../server/config.ts'
import { clientConfig, replicaTarget } from '../../../server/db/connection-settings.ts'
import { openReadReplica, WrongReplica } from '../../../server/db/read-replica.ts'
import type { ExaminedDatabase } from '../examined-database.ts'
import { type Finding, ok, problem, warning } from '../finding.ts'

const check = 'replica'
const answerMsMax = 5_000

/** Checks that `HUB_DATABASE_READ_URL`, if set, leads to a standby of this database that keeps up. */
export async function checkReplica(config: Config, database: ExaminedDatabase): Promise<Finding[]> {
  const target = replicaTarget(config)
  if (target === undefined) return []
  const session = clientConfig(target, 'hub-doctor')
  const pool = new pg.Pool({ ...session, max: 1, connectionTimeoutMillis: answerMsMax, query_timeout: answerMsMax })
  pool.on('error', () => {})
  const primary = (text: string) => database.read((client) => client.query(text))
  const replica = openReadReplica({ pool, primary, log: undefined })
  try {
    const client = await replica.connect()
    client.release()
    return [ok(check, 'HUB_DATABASE_READ_URL is a standby of this database, and has replayed every commit.')]
  } catch (error) {
    const reason = `HUB_DATABASE_READ_URL is not used: ${(error as Error).message}`
    if (error instanceof WrongReplica) {
      return [problem(check, `${reason}.`, 'Let it name a standby of HUB_DATABASE_URL: no Hub starts with this one.')]
    }
    const behind = await lagOf(pool, database).catch(() => undefined)
    const lag = behind === undefined ? '' : ` It is ${behind.toLocaleString('en')} bytes of WAL behind.`
    const action =
      behind === undefined
        ? 'Reads go to the primary. Check the address, and that a standby of the primary answers there.'
        : 'Reads go to the primary until it keeps up. See pg_stat_replication there, and whether replay is paused.'
    return [warning(check, `${reason}.${lag}`, action)]
  } finally {
    await replica.close()
  }
}

/** Returns the bytes of WAL that the standby has not replayed; undefined if the server is no standby. */
async function lagOf(pool: pg.Pool, database: ExaminedDatabase): Promise<number | undefined> {
  const position = 'select pg_current_wal_flush_lsn()::text as lsn'
  const { rows } = await database.read((client) => client.query<{ lsn: string }>(position))
  const lag = await pool.query<{ bytes: number | null }>(
    `select pg_wal_lsn_diff($1::pg_lsn, pg_last_wal_replay_lsn())::float8 as bytes where pg_is_in_recovery()`,
    [rows[0]!.lsn],
  )
  return lag.rows[0]?.bytes ?? undefined
}
