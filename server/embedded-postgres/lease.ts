import pg from 'pg'
import { ownerLock, serveLock } from '../db/advisory-locks.ts'
import { type ConnectionTarget, clientConfig } from '../db/connection-settings.ts'

const probeName = 'hub-probe'
const leaseName = (purpose: string) => `hub-${purpose} ${process.pid}`

/** Identifies the process that holds a running embedded server: a `hub serve`, or a command that started it briefly. */
export interface Holder {
  readonly kind: 'serve' | 'command'
  readonly pid: number
}

/**
 * Marks this process as the starter of the embedded server, with session-level locks on a connection of their own. The
 * locks end with the process, however it ends; a file would remain.
 *
 * @param superuser the server's own superuser in the database `postgres`
 */
export async function takeLease(superuser: ConnectionTarget, purpose: 'serve' | 'command'): Promise<pg.Client> {
  const client = new pg.Client(clientConfig(superuser, leaseName(purpose)))
  client.on('error', () => {})
  await client.connect()
  await client.query('select pg_advisory_lock($1::bigint)', [ownerLock])
  if (purpose === 'serve') await client.query('select pg_advisory_lock($1::bigint)', [serveLock])
  return client
}

/** Makes this process count as a client between its statements too, so that the starter of the server waits for it. */
export async function joinAsClient(superuser: ConnectionTarget): Promise<pg.Client> {
  const client = new pg.Client(clientConfig(superuser, `hub-visitor ${process.pid}`))
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Returns the process that holds the running server; undefined if its starter is gone. */
export async function findHolder(superuser: ConnectionTarget): Promise<Holder | undefined> {
  return withProbe(superuser, async (client) => {
    const { rows } = await client.query<{ lock: string; name: string }>(
      `select ((l.classid::bigint << 32) | l.objid::bigint)::text as lock, a.application_name as name
       from pg_locks l join pg_stat_activity a on a.pid = l.pid
       where l.locktype = 'advisory' and l.objsubid = 1 and l.granted`,
    )
    const holder = rows.find((row) => row.lock === serveLock) ?? rows.find((row) => row.lock === ownerLock)
    if (!holder) return undefined
    const pid = Number(holder.name.split(' ')[1])
    return { kind: holder.lock === serveLock ? 'serve' : 'command', pid }
  })
}

/** Counts the other connected clients, without probes. */
export async function countClients(superuser: ConnectionTarget): Promise<number> {
  return withProbe(superuser, async (client) => {
    const { rows } = await client.query<{ clients: number }>(
      `select count(*) as clients from pg_stat_activity
       where backend_type = 'client backend' and application_name <> all($1)`,
      [[probeName, leaseName('serve'), leaseName('command')]],
    )
    return rows[0]?.clients ?? 0
  })
}

async function withProbe<T>(superuser: ConnectionTarget, look: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(clientConfig(superuser, probeName))
  client.on('error', () => {})
  await client.connect()
  try {
    return await look(client)
  } finally {
    await client.end()
  }
}
