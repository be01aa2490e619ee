import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Config } from '../../server/config.ts'
import { type ConnectionTarget, clientConfig, ownerTarget } from '../../server/db/connection-settings.ts'
import { explainConnection } from '../../server/db/open-database.ts'
import { serviceLogins } from '../../server/db/roles.ts'
import { prepareLayout } from '../../server/embedded-postgres/data-directory.ts'
import { findPostmaster } from '../../server/embedded-postgres/postmaster.ts'
import { startEmbedded } from '../../server/embedded-postgres/server.ts'
import { findStarter } from '../../server/embedded-postgres/superuser.ts'

/** The database as its owner sees it. */
export interface ExaminedDatabase {
  /** Runs queries in one read-only transaction, which is rolled back. */
  read<T>(work: (client: pg.Client) => Promise<T>): Promise<T>
  /** Runs statements that may change the database, without a transaction. Checks do not. */
  change<T>(work: (client: pg.Client) => Promise<T>): Promise<T>
  readonly embedded: boolean
  /** Whether this command started the embedded server for the checks, because no Hub runs. */
  readonly startedHere: boolean
  /** Whether a Hub uses the database now. */
  readonly hubRuns: boolean
  readonly logins: { readonly app: string; readonly ingest: string } | undefined
}

/** Returns whether the configured embedded database was created already. */
export function hasCluster({ dataDir }: Pick<Config, 'dataDir'>): boolean {
  return existsSync(join(dataDir, 'pg', 'PG_VERSION'))
}

/** Returns whether the embedded server of the data directory runs. */
export async function isServerRunning({ dataDir }: Pick<Config, 'dataDir'>): Promise<boolean> {
  return (await findPostmaster(join(dataDir, 'pg'))) !== undefined
}

/**
 * Connects to the database, and changes nothing in it. Starts the server of an existing embedded database for the
 * time of `work` if no Hub runs.
 *
 * @param masterKey required for an embedded database, whose passwords derive from it
 * @throws StartupError if the database cannot be reached or the key is wrong
 */
export async function withExaminedDatabase<T>(
  config: Config,
  masterKey: Buffer | undefined,
  work: (database: ExaminedDatabase) => Promise<T>,
): Promise<T> {
  const embedded = config.databaseUrl === undefined
  const startedHere = embedded && !(await isServerRunning(config))
  const server =
    embedded && masterKey
      ? await startEmbedded({ layout: await prepareLayout(config.dataDir), masterKey, purpose: 'command' })
      : undefined
  const target: ConnectionTarget = server?.owner ?? ownerTarget(config)
  const client = new pg.Client(clientConfig(target, 'hub-doctor'))
  client.on('error', () => {})
  try {
    await client.connect().catch((cause: unknown) => {
      throw explainConnection(cause, target)
    })
    const logins = masterKey && serviceLogins(masterKey)
    const read = readerOf(client)
    const users = logins && { app: logins.app.user, ingest: logins.ingest.user }
    const hubRuns = server
      ? (await findStarter(server.superuser))?.purpose === 'serve'
      : await read((reader) => hasSessions(reader, users))
    const change: ExaminedDatabase['change'] = (changes) => changes(client)
    return await work({ read, change, embedded, startedHere, hubRuns, logins: users })
  } finally {
    await client.end().catch(() => {})
    await server?.stop()
  }
}

function readerOf(client: pg.Client): ExaminedDatabase['read'] {
  return async (work) => {
    await client.query('begin read only')
    try {
      return await work(client)
    } finally {
      await client.query('rollback').catch(() => {})
    }
  }
}

async function hasSessions(client: pg.Client, logins: ExaminedDatabase['logins']): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    'select exists (select from pg_stat_activity where datname = current_database() and usename = any ($1)) as found',
    [logins ? [logins.app, logins.ingest] : []],
  )
  return rows[0]?.found === true
}
