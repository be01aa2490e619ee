import pg from 'pg'
import { StartupError } from '../startup-error.ts'
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
 * Requires that the pooler lets both roles of the service in.
 *
 * @throws StartupError that states what to configure
 */
export async function requirePooler(pooler: ConnectionTarget, { app, ingest }: ServiceLogins): Promise<void> {
  for (const login of [app, ingest]) {
    const client = new pg.Client(pooledConfig(asRole(pooler, login), 'hub-start'))
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query('select 1')
    } catch (cause) {
      const { message, code } = cause as pg.DatabaseError
      const where = `${pooler.database} on ${pooler.host || 'localhost'}:${pooler.port}`
      throw new StartupError(
        `The pooler of HUB_DATABASE_URL, ${where}, does not serve the role ${login.user}: ${message || code}.`,
        'Start it, and let it authenticate the roles of the Hub by `auth_query`; docs/scaling.md has an example. ' +
          'Without a pooler, unset HUB_DATABASE_DIRECT_URL.',
        { cause },
      )
    } finally {
      await client.end().catch(() => {})
    }
  }
}
