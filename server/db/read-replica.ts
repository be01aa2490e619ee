import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { DomainError } from '../../contract/domain-error.ts'
import type { DatabaseLog, ReplicaReads } from './database.ts'
import { isRetryable, isUnavailable } from './database-errors.ts'

/** Milliseconds that a read waits until the replica has replayed what was committed before the read. */
const catchUpMsMax = 100
/** Milliseconds between attempts to use a replica again. */
const probeMs = 1_000
/** Milliseconds until a server that does not answer a question counts as away. */
const answerMsMax = 1_000

/** Identifies the database; a standby has the same as its primary. */
const identity = `(select system_identifier from pg_control_system()) || '/' ||
  (select oid from pg_database where datname = current_database())`
/** Positions compare within one timeline: a standby may be ahead on one that the primary has left, by a recovery. */
const primaryPosition = `select pg_current_wal_flush_lsn()::text as lsn, ${identity} as identity,
  ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::integer as timeline`
const replicaPosition = {
  name: 'hub_replica_position',
  text: `select pg_is_in_recovery() as standby, ${identity} as identity,
    greatest((select timeline_id from pg_control_checkpoint()),
      (select min_recovery_end_timeline from pg_control_recovery())) as timeline,
    coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) as fresh`,
  query_timeout: answerMsMax,
}

/** Signals that the replica cannot answer a read now. */
class ReplicaUnusable extends Error {}

/** Signals that the address leads to a standby of another database. */
export class WrongReplica extends ReplicaUnusable {}

interface Position {
  lsn: string
  identity: string
  timeline: number
}

export interface ReadReplica {
  readonly reads: ReplicaReads
  /** Returns a connection that sees everything that was committed before the call. Throws {@link ReplicaUnusable}. */
  connect(): Promise<pg.PoolClient>
  /**
   * Runs a read on the replica, and on the primary while the replica is away or behind. Errors of the read itself are
   * thrown unchanged.
   */
  read<T>(onReplica: () => Promise<T>, onPrimary: () => Promise<T>): Promise<T>
  close(): Promise<void>
}

/**
 * Uses a pool of connections to a streaming standby for reads.
 *
 * @param primary asks the primary one query
 */
export function openReadReplica({
  pool,
  primary,
  log,
}: {
  pool: pg.Pool
  primary: (text: string) => Promise<pg.QueryResult<Position>>
  log: DatabaseLog | undefined
}): ReadReplica {
  const reads: ReplicaReads = { replica: 0, primary: 0 }
  const position = shared(async () => (await primary(primaryPosition)).rows[0]!)
  let probes: NodeJS.Timeout | undefined

  async function connect(): Promise<pg.PoolClient> {
    let client: pg.PoolClient | undefined
    try {
      const wanted = await inTime(position(), 'the primary did not tell its position in time')
      client = await pool.connect()
      await requireReplayed(client, wanted)
      return client
    } catch (error) {
      client?.release(!(error instanceof ReplicaUnusable))
      if (error instanceof ReplicaUnusable) throw error
      throw new ReplicaUnusable((error as Error).message, { cause: error })
    }
  }

  function leave(reason: unknown): void {
    if (probes) return
    log?.warn({ err: reason }, 'the read replica is not used; reads go to the primary')
    probes = setInterval(async () => {
      const client = await connect().catch(() => undefined)
      client?.release()
      if (!client || !probes) return
      clearInterval(probes)
      probes = undefined
      log?.info({}, 'the read replica is used again')
    }, probeMs).unref()
  }

  return {
    reads,
    connect,
    async read(onReplica, onPrimary) {
      if (!probes) {
        try {
          const result = await onReplica()
          reads.replica += 1
          return result
        } catch (error) {
          const cause = error instanceof DomainError ? error.cause : error
          const isGone = cause instanceof ReplicaUnusable || isUnavailable(cause) || isFaultOfServer(cause)
          // Replay cancels a query that needs a row which it must remove. The next query may succeed.
          if (!isGone && !isRetryable(cause) && !isQueueFull(error)) throw error
          if (isGone) leave(cause)
        }
      }
      reads.primary += 1
      return onPrimary()
    },
    async close() {
      clearInterval(probes)
      probes = undefined
      await pool.end()
    },
  }
}

/** Waits until the server of the connection has replayed the position. */
async function requireReplayed(client: pg.PoolClient, wanted: Position): Promise<void> {
  const endMs = performance.now() + catchUpMsMax
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, 16)) {
    const { rows } = await client.query<{ standby: boolean; identity: string; timeline: number; fresh: boolean }>({
      ...replicaPosition,
      values: [wanted.lsn],
    })
    const { standby, identity, timeline, fresh } = rows[0]!
    if (identity !== wanted.identity) throw new WrongReplica('it has another database than the primary')
    if (!standby) throw new ReplicaUnusable('it is not a standby')
    if (timeline !== wanted.timeline)
      throw new ReplicaUnusable(`it follows timeline ${timeline}, and the primary writes timeline ${wanted.timeline}`)
    if (fresh) return
    if (performance.now() >= endMs)
      throw new ReplicaUnusable(`it did not replay ${wanted.lsn} within ${catchUpMsMax} ms`)
    await delay(pauseMs)
  }
}

/** Rejects if the answer is late. */
async function inTime<T>(answer: Promise<T>, message: string): Promise<T> {
  const stop = new AbortController()
  const late = delay(answerMsMax, undefined, { signal: stop.signal, ref: false }).then(() => {
    throw new ReplicaUnusable(message)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    stop.abort()
    late.catch(() => undefined)
  }
}

/** Returns whether the standby alone is at fault: damaged or missing files, or a statement that only a primary runs. */
function isFaultOfServer(error: unknown): boolean {
  return error instanceof Error && /^(XX|58)...$/.test((error as { code?: string }).code ?? '')
}

/** Returns whether a read found no connection to the replica in time; only the wait in a queue has no cause. */
function isQueueFull(error: unknown): boolean {
  return error instanceof DomainError && error.slug === 'hub-unavailable' && error.cause === undefined
}

/** Returns a function whose calls share one read with all calls since the last one began. */
function shared<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | undefined
  return () => {
    next ??= running.then(
      () => begin(),
      () => begin(),
    )
    return next
  }

  function begin(): Promise<T> {
    next = undefined
    const begun = read()
    running = begun
    return begun
  }
}
