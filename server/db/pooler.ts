import { randomInt } from 'node:crypto'
import pg from 'pg'
import { StartupError } from '../startup-error.ts'
import { sameDatabaseLockClass } from './advisory-locks.ts'
import { asRole, type ConnectionTarget, pooledConfig, sessionSettings } from './connection-settings.ts'
import type { ServiceLogins } from './roles.ts'

/**
 * A pooler in transaction mode, such as PgBouncer, gives each transaction any connection of the server. So nothing may
 * stay in a session: settings are those of a transaction, and statements are prepared without a name.
 */

/** Returns the statement that gives a transaction the settings of a session of the service. */
export function localSettings(timeouts: Readonly<Record<string, number>>): string {
  const settings = Object.entries({ ...sessionSettings, ...timeouts })
  return `select ${settings.map(([name, value]) => `set_config('${name}', '${value}', true)`).join(', ')}`
}

/** Lets the connection prepare every statement without a name. */
export function withoutStatementNames(client: pg.ClientBase): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  const unnamed = (first: unknown, ...rest: unknown[]) => {
    const isNamed = typeof first === 'object' && first !== null && 'text' in first && 'name' in first
    return query(isNamed ? { ...first, name: undefined } : first, ...rest)
  }
  client.query = unnamed as typeof client.query
}

/**
 * Requires that the pooler lets both roles of the service in, and leads to the database of the owner. That database has a
 * lock which the pooler's must have too: a clone of a database has the same name and system identifier, but not its locks.
 *
 * @param owner connected without the pooler
 * @throws StartupError that states what to configure
 */
export async function requirePooler(
  pooler: ConnectionTarget,
  { app, ingest }: ServiceLogins,
  owner: pg.Client,
  direct: ConnectionTarget,
): Promise<void> {
  const lock = [sameDatabaseLockClass, randomInt(2 ** 31)]
  await owner.query('select pg_advisory_lock($1, $2)', lock)
  for (const login of [app, ingest]) {
    if (await throughPooler(pooler, login, (client) => hasLock(client, lock))) continue
    throw new StartupError(
      `HUB_DATABASE_URL and HUB_DATABASE_DIRECT_URL lead to two databases: ${placeOf(pooler)} is not ${placeOf(direct)}.`,
      'Correct HUB_DATABASE_DIRECT_URL, or the database or server that the pooler names: both addresses must lead to one ' +
        'database on one primary server. The service changed no table.',
    )
  }
  await owner.query('select pg_advisory_unlock($1, $2)', lock)
}

/** Returns whether another session of the database holds the lock. */
async function hasLock(client: pg.Client, lock: readonly number[]): Promise<boolean> {
  const { rows } = await client.query<{ free: boolean }>('select pg_try_advisory_xact_lock($1, $2) as free', [...lock])
  return rows[0]?.free === false
}

async function throughPooler<T>(
  pooler: ConnectionTarget,
  login: ServiceLogins['app' | 'ingest'],
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(pooledConfig(asRole(pooler, login), 'hub-start'))
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } catch (cause) {
    const { message, code } = cause as pg.DatabaseError
    throw new StartupError(
      `The pooler of HUB_DATABASE_URL, ${placeOf(pooler)}, does not serve the role ${login.user}: ${message || code}.`,
      'Start it, and let it authenticate the roles of the Hub by `auth_query`; docs/scaling.md has an example. ' +
        'Without a pooler, unset HUB_DATABASE_DIRECT_URL.',
      { cause },
    )
  } finally {
    await client.end().catch(() => {})
  }
}

const placeOf = ({ database, host, port }: ConnectionTarget) => `${database} on ${host || 'localhost'}:${port}`
