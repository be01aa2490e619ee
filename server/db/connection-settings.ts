import type pg from 'pg'
import { parseIntoClientConfig } from 'pg-connection-string'
import { StartupError } from '../startup-error.ts'
import { valueParsers } from './value-parsers.ts'
import { workLimits } from './work-classes.ts'

/** Where a database is and who connects to it. */
export type ConnectionTarget = Pick<pg.ClientConfig, 'host' | 'port' | 'database' | 'ssl' | 'options'> & {
  readonly user: string
  readonly password: string
}

/** The owner that `HUB_DATABASE_URL` names. */
export function parseDatabaseUrl(url: string): ConnectionTarget {
  try {
    const { host, port, database, user, password, ssl, options } = parseIntoClientConfig(url)
    if (!user) throw new Error('it names no user')
    if (!database) throw new Error('it names no database')
    const given = typeof password === 'string' ? password : ''
    return { host, port: port ?? 5432, database, user, password: given, ssl: ssl ?? false, options }
  } catch (cause) {
    throw new StartupError(
      `HUB_DATABASE_URL cannot be used: ${(cause as Error).message}.`,
      'Write it as postgresql://OWNER:PASSWORD@HOST:PORT/DATABASE',
      { cause },
    )
  }
}

/** The same database for another role. */
export function asRole(target: ConnectionTarget, role: { user: string; password: string }): ConnectionTarget {
  return { ...target, user: role.user, password: role.password }
}

/** A URL for other programs; sockets go into the query, as libpq has it. */
export function connectionUrl(target: ConnectionTarget): string {
  const credentials = `${encodeURIComponent(target.user)}:${encodeURIComponent(target.password)}`
  const database = encodeURIComponent(target.database ?? '')
  const host = target.host ?? 'localhost'
  if (host.startsWith('/')) {
    return `postgresql://${credentials}@/${database}?host=${encodeURIComponent(host)}&port=${target.port ?? 5432}`
  }
  return `postgresql://${credentials}@${host.includes(':') ? `[${host}]` : host}:${target.port ?? 5432}/${database}`
}

/** How long the service's own sessions may take; migrations and other owner's work set none. */
export const serviceTimeouts = {
  statement_timeout: workLimits.write.statementMs,
  idle_in_transaction_session_timeout: 60_000,
}

/** Everything a client needs: the target, and sessions in UTC so that timestamps read alike everywhere. */
export function clientConfig(target: ConnectionTarget, applicationName: string): pg.ClientConfig {
  const session = '-c timezone=UTC -c datestyle=ISO,YMD -c client_min_messages=warning'
  return {
    ...target,
    options: target.options ? `${target.options} ${session}` : session,
    application_name: applicationName,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    types: valueParsers,
  }
}
