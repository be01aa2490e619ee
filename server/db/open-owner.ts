import pg from 'pg'
import type { Config } from '../config.ts'
import { prepareLayout } from '../embedded-postgres/data-directory.ts'
import { startEmbedded } from '../embedded-postgres/server.ts'
import { StartupError } from '../startup-error.ts'
import { type ConnectionTarget, clientConfig, ownerTarget } from './connection-settings.ts'
import type { DatabaseLog } from './database.ts'
import { explainConnection } from './open-database.ts'
import { ensureRoles, serviceLogins } from './roles.ts'

/**
 * Runs `work` with a connection of the database's owner, and the address of it, while no Hub uses the database, regardless of its contents: for
 * work that replaces all of it. Roles exist; the schema is unchanged.
 *
 * @throws StartupError if a Hub is connected, and for every other problem that an operator can solve
 */
export async function withOwnerAlone<T>(
  config: Config,
  masterKey: Buffer,
  log: DatabaseLog,
  work: (owner: pg.Client, target: ConnectionTarget) => Promise<T>,
): Promise<T> {
  const layout = config.databaseUrl === undefined ? await prepareLayout(config.dataDir) : undefined
  // The purpose `serve` takes the data directory exclusively.
  const server = layout && (await startEmbedded({ layout, masterKey, purpose: 'serve', log }))
  const target = server?.owner ?? ownerTarget(config)
  const owner = new pg.Client(clientConfig(target, 'hub-owner'))
  owner.on('error', () => {})
  try {
    await owner.connect().catch((cause: unknown) => {
      throw explainConnection(cause, target)
    })
    const logins = serviceLogins(masterKey)
    await ensureRoles(owner, target, logins)
    await requireNobody(owner, [logins.app.user, logins.ingest.user])
    return await work(owner, target)
  } finally {
    await owner.end().catch(() => {})
    await server?.stop()
  }
}

async function requireNobody(owner: pg.Client, users: readonly string[]): Promise<void> {
  const { rows } = await owner.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and usename = any ($1)`,
    [users],
  )
  const count = rows[0]?.count ?? 0
  if (count === 0) return
  throw new StartupError(`A Hub is using this database, with ${count} connections.`, 'Stop all its processes first.')
}
