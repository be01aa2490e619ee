import type { Socket } from 'node:net'
import pg from 'pg'
import type { DatabaseLog } from './database.ts'

/** Milliseconds without a byte from the server after which it is asked about the statement. */
const silenceMsMax = 10_000
const lookMs = 2_500
const probeMsMax = 5_000

/** A client of a pool, with the members that its type lacks. */
type Client = pg.PoolClient & {
  readonly processID: number
  /** False while a statement is in progress. */
  readonly readyForQuery: boolean
  readonly connection: { readonly stream: Socket }
}

/**
 * Closes half-open connections of a pool, whose other end is gone without a FIN or RST. TCP needs a quarter of an hour to report that, and
 * until then each holds a place of the pool. A living server may be silent too, for instance in a commit that waits for
 * its standby. So the server is asked, on another connection, which of the silent statements it still runs.
 *
 * @param config opens a connection of the same role to the same server
 */
export function closeSilentConnections(pool: pg.Pool, config: pg.ClientConfig, log: DatabaseLog | undefined): void {
  const heard = new Map<Client, { bytes: number; atMs: number }>()
  pool.on('connect', (client) => heard.set(client as Client, { bytes: 0, atMs: 0 }))
  pool.on('remove', (client) => heard.delete(client as Client))
  let isLooking = false

  /** Returns the clients whose statement has had no byte of an answer for too long. */
  function silentClients(): Client[] {
    const nowMs = performance.now()
    return [...heard].flatMap(([client, last]) => {
      const { bytesRead: bytes, destroyed } = client.connection.stream
      if (destroyed) return []
      if (client.readyForQuery || bytes !== last.bytes) heard.set(client, { bytes, atMs: nowMs })
      else if (nowMs - last.atMs > silenceMsMax) return [client]
      return []
    })
  }

  async function look(): Promise<void> {
    const silent = silentClients()
    if (silent.length === 0 || isLooking) return
    isLooking = true
    const running = await runningAt(
      config,
      silent.map(({ processID }) => processID),
    ).finally(() => {
      isLooking = false
    })
    const stillSilent = new Set(silentClients())
    for (const client of silent) {
      if (!stillSilent.has(client) || running.has(client.processID)) continue
      log?.warn({ silent_ms: silenceMsMax }, 'the database does not answer on a connection; closing it')
      const error = new Error('the database did not answer, and does not run the statement')
      client.connection.stream.destroy(Object.assign(error, { code: 'ETIMEDOUT' }))
    }
  }

  const timer = setInterval(() => {
    if (pool.ended) clearInterval(timer)
    else void look()
  }, lookMs).unref()
}

/** Codes of errors of a server that cannot be reached. Others, such as a lack of file handles, are of this process. */
const unreachable = new Set([
  'ETIMEDOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'EPIPE',
])

/** Returns the processes that are at work, as their server says; all of them if it cannot be asked. */
async function runningAt(config: pg.ClientConfig, pids: readonly number[]): Promise<Set<number>> {
  const client = new pg.Client({ ...config, connectionTimeoutMillis: probeMsMax, query_timeout: probeMsMax })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ pid: number }>(
      "select pid from pg_stat_activity where pid = any($1) and state !~ '^idle'",
      [pids],
    )
    return new Set(rows.map(({ pid }) => pid))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // `pg` reports its own limits of time, and a connection that ended, by message alone.
    const isAway = code === undefined ? /timeout|terminated/i.test(message) : unreachable.has(code)
    return new Set(isAway ? [] : pids)
  } finally {
    client.end().catch(() => {})
  }
}
