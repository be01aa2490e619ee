import pg from 'pg'
import { parseIntoClientConfig } from 'pg-connection-string'
import { StartupError } from '../startup-error.ts'
import { workLimits } from './work-classes.ts'

/** Locates a database and names the role that connects. */
export type ConnectionTarget = Pick<pg.ClientConfig, 'host' | 'port' | 'database' | 'ssl' | 'options'> & {
  readonly user: string
  readonly password: string
}

/** The settings that name an external database. */
export interface DatabaseUrls {
  readonly databaseUrl?: string | undefined
  readonly databaseDirectUrl?: string | undefined
  readonly databaseReadUrl?: string | undefined
}

/** Returns the external database as its owner, without a pooler between. */
export function ownerTarget({ databaseUrl = '', databaseDirectUrl }: DatabaseUrls): ConnectionTarget {
  return databaseDirectUrl === undefined
    ? parseDatabaseUrl(databaseUrl)
    : parseDatabaseUrl(databaseDirectUrl, 'HUB_DATABASE_DIRECT_URL')
}

/** Returns the pooler before the database; undefined if there is none. */
export function poolerTarget({ databaseUrl, databaseDirectUrl }: DatabaseUrls): ConnectionTarget | undefined {
  return databaseUrl === undefined || databaseDirectUrl === undefined ? undefined : parseDatabaseUrl(databaseUrl)
}

/** Returns the read replica as the owner; undefined if there is none. */
export function replicaTarget({ databaseReadUrl }: DatabaseUrls): ConnectionTarget | undefined {
  return databaseReadUrl === undefined ? undefined : parseDatabaseUrl(databaseReadUrl, 'HUB_DATABASE_READ_URL')
}

/** Reads the database and owner from the URL that this variable contains. */
export function parseDatabaseUrl(url: string, variable = 'HUB_DATABASE_URL'): ConnectionTarget {
  try {
    const { host, port, database, user, password, ssl, options } = parseIntoClientConfig(url)
    if (!user) throw new Error('it names no user')
    if (!database) throw new Error('it names no database')
    const given = typeof password === 'string' ? password : ''
    return { host, port: port ?? 5432, database, user, password: given, ssl: ssl ?? false, options }
  } catch (cause) {
    throw new StartupError(
      `${variable} cannot be used: ${(cause as Error).message}.`,
      'Write it as postgresql://OWNER:PASSWORD@HOST:PORT/DATABASE',
      { cause },
    )
  }
}

/** Returns the same database with another role. */
export function asRole(target: ConnectionTarget, role: { user: string; password: string }): ConnectionTarget {
  return { ...target, user: role.user, password: role.password }
}

/** Returns a URL for other programs; sockets go into the query, as in libpq. */
export function connectionUrl(target: ConnectionTarget): string {
  const credentials = `${encodeURIComponent(target.user)}:${encodeURIComponent(target.password)}`
  const database = encodeURIComponent(target.database ?? '')
  const host = target.host ?? 'localhost'
  if (host.startsWith('/')) {
    return `postgresql://${credentials}@/${database}?host=${encodeURIComponent(host)}&port=${target.port ?? 5432}`
  }
  return `postgresql://${credentials}@${host.includes(':') ? `[${host}]` : host}:${target.port ?? 5432}/${database}`
}

/** Timeouts of the service's own sessions; migrations and other work of the owner set none. */
export const serviceTimeouts = {
  statement_timeout: workLimits.write.statementMs,
  idle_in_transaction_session_timeout: 60_000,
}

/**
 * The settings of every session: UTC, so that timestamps have one form. Sessions compile no query (`jit`): on
 * partitioned tables that takes seconds, and no query of the Hub gains from it.
 */
export const sessionSettings = {
  timezone: 'UTC',
  datestyle: 'ISO,YMD',
  client_min_messages: 'warning',
  jit: 'off',
} as const

/** Returns the settings of a client: the target and {@link sessionSettings}. */
export function clientConfig(target: ConnectionTarget, applicationName: string): pg.ClientConfig {
  const session = Object.entries(sessionSettings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
  return {
    ...pooledConfig(target, applicationName),
    options: target.options ? `${target.options} ${session}` : session,
  }
}

/** Returns the settings of a client behind a pooler, which refuses settings of a session. */
export function pooledConfig(target: ConnectionTarget, applicationName: string): pg.ClientConfig {
  return {
    ...target,
    application_name: applicationName,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    // Reports an idle connection that is cut off, such as a listener's, within 20 seconds instead of two hours.
    keepAliveInitialDelayMillis: 10_000,
    types: valueParsers,
  }
}

const { builtins } = pg.types

/**
 * Parses a timestamptz to RFC 3339 in UTC with six fractional digits. A JavaScript Date would cut the microseconds, and
 * with them the order of records. It relies on the session's `timezone=UTC` and `datestyle=ISO`.
 * A time outside of the years 1 to 9999, such as `infinity`, becomes the nearest time of this form. The service stores
 * none, so somebody has edited it. A read must then neither fail nor return an invalid timestamp.
 */
function parseTimestamp(text: string): string {
  const found = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/.exec(text)
  if (found) return `${found[1]}T${found[2]}.${(found[3] ?? '').padEnd(6, '0')}Z`
  return text.startsWith('-') || text.endsWith(' BC') ? '0001-01-01T00:00:00.000000Z' : '9999-12-31T23:59:59.999999Z'
}

/** Parses a bigint to a number; throws rather than round. */
function parseSafeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new Error(`bigint beyond 2^53-1: ${text}`)
  return value
}

const asText = (text: string): string => text

const parsers = new Map<number, (text: string) => unknown>([
  [builtins.INT8, parseSafeInteger],
  [builtins.TIMESTAMPTZ, parseTimestamp],
  [builtins.TIMESTAMP, asText],
  [builtins.DATE, asText],
])

/** Parses column values to JavaScript values, on every connection. */
export const valueParsers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers.get(oid)) ||
    pg.types.getTypeParser(oid, format as 'text')) as pg.CustomTypesConfig['getTypeParser'],
}
