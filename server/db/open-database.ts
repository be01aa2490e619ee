import pg from 'pg'
import type { Config } from '../config.ts'
import { prepareLayout, removeInstanceFile, writeInstanceFile } from '../embedded-postgres/data-directory.ts'
import { type EmbeddedServer, startEmbedded } from '../embedded-postgres/server.ts'
import { StartupError } from '../startup-error.ts'
import {
  asRole,
  type ConnectionTarget,
  clientConfig,
  ownerTarget,
  poolerTarget,
  replicaTarget,
} from './connection-settings.ts'
import type { Database, DatabaseLog } from './database.ts'
import { isUnavailable } from './database-errors.ts'
import { loadMasterKey } from './master-key.ts'
import { migrate } from './migrate.ts'
import { openPools } from './pooled-database.ts'
import { requirePooler } from './pooler.ts'
import { watchPartitions } from './record-partitions.ts'
import { ensureRoles, ensureSchemaAccess, serviceLogins } from './roles.ts'
import { createRowProofs } from './row-proofs.ts'

const serverVersionMin = 150_000

export interface OpenOptions {
  /** `serve` takes an embedded data directory for itself; a command works beside a running service. */
  readonly purpose: 'serve' | 'command'
  readonly log?: DatabaseLog | undefined
  /** Further settings of the embedded server. */
  readonly postgresSettings?: Readonly<Record<string, string>> | undefined
  /** Receives the text of every statement of the service's roles before it is sent. */
  readonly onQuery?: ((text: string) => void) | undefined
}

/** The database as modules need it. The opener gets more from `openDatabase`. */
export interface JoinedDatabase extends Database {
  /** The key from which every other key derives (`deriveKey`). */
  readonly masterKey: Buffer
  readonly connection: { readonly app: ConnectionTarget }
}

export interface OpenedDatabase extends JoinedDatabase {
  /** The names of the migrations that this start applied. */
  readonly migrationsApplied: readonly string[]
  readonly connection: {
    readonly embedded: boolean
    readonly owner: ConnectionTarget
    readonly app: ConnectionTarget
    readonly ingest: ConnectionTarget
  }
  /** Stores the address in the data directory, for commands beside the service and the error of a second start. */
  announce(url: string): Promise<void>
  /** Closes every connection, then stops the embedded server if this process started it. */
  stop(): Promise<void>
}

/**
 * Opens the configured database: master key, embedded or external server, roles, migrations, pools.
 *
 * @throws StartupError that states the fix, for every problem that an operator can solve
 */
export async function openDatabase(config: Config, options: OpenOptions): Promise<OpenedDatabase> {
  const layout = config.databaseUrl === undefined ? await prepareLayout(config.dataDir) : undefined
  const masterKey = await loadMasterKey(config)
  const server = layout
    ? await startEmbedded({ ...options, layout, masterKey, settings: options.postgresSettings })
    : undefined
  try {
    return await openOn(server, masterKey, config, options)
  } catch (error) {
    await server?.stop()
    throw error
  }
}

async function openOn(
  server: EmbeddedServer | undefined,
  masterKey: Buffer,
  config: Config,
  options: OpenOptions,
): Promise<OpenedDatabase> {
  const owner = server?.owner ?? ownerTarget(config)
  const { applied, proven } = await prepare(owner, masterKey, poolerTarget(config), options.log)
  if (applied.length > 0) options.log?.info({ migrations: applied }, 'migrations applied')
  if (Object.keys(proven).length > 0) {
    options.log?.warn(
      { rows: proven },
      'this upgrade trusted existing rows that grant access, and added their proofs once',
    )
  }
  const pools = connect(owner, masterKey, config, options)
  try {
    await pools.checkReplica()
  } catch (cause) {
    await pools.close()
    throw new StartupError(
      'HUB_DATABASE_READ_URL leads to another database than HUB_DATABASE_URL.',
      'Name a streaming standby of the primary, and the same database, or unset HUB_DATABASE_READ_URL.',
      { cause },
    )
  }
  const stopWatching = options.purpose === 'serve' && options.log ? watchPartitions(pools, options.log) : () => {}
  return {
    ...pools,
    migrationsApplied: applied,
    connection: { ...pools.connection, embedded: server !== undefined, owner },
    announce: (url) => writeInstanceFile(config.dataDir, url),
    stop: async () => {
      stopWatching()
      await pools.close()
      await removeInstanceFile(config.dataDir)
      await server?.stop()
    },
  }
}

type PoolSettings = Pick<
  Config,
  'databaseUrl' | 'databaseDirectUrl' | 'databaseReadUrl' | 'databasePoolSize' | 'slowQueryMs'
>

/**
 * Connects to a database that another process opened and keeps open: the configured one, or the embedded one of this
 * owner. Nothing is checked; connections open when first needed.
 */
export function joinDatabase(
  config: PoolSettings,
  at: { masterKey: Buffer; embeddedOwner?: ConnectionTarget | undefined; log?: DatabaseLog | undefined },
): JoinedDatabase {
  return connect(at.embeddedOwner ?? ownerTarget(config), at.masterKey, config, at)
}

function connect(
  owner: ConnectionTarget,
  masterKey: Buffer,
  config: PoolSettings,
  { log, onQuery }: Pick<OpenOptions, 'log' | 'onQuery'>,
) {
  const logins = serviceLogins(masterKey)
  const [app, ingest] = [asRole(owner, logins.app), asRole(owner, logins.ingest)]
  const pooler = poolerTarget(config)
  const read = replicaTarget(config)
  const { databasePoolSize: size, slowQueryMs } = config
  return {
    ...openPools({ app, ingest, pooler, replica: read && asRole(read, logins.app), size, slowQueryMs, log, onQuery }),
    masterKey,
    connection: { app, ingest },
  }
}

/** Creates roles and schema as the owner, on a connection that it closes again. */
async function prepare(
  target: ConnectionTarget,
  masterKey: Buffer,
  pooler: ConnectionTarget | undefined,
  log: DatabaseLog | undefined,
): ReturnType<typeof migrate> {
  const logins = serviceLogins(masterKey)
  const owner = new pg.Client(clientConfig(target, 'hub-owner'))
  owner.on('error', () => {})
  try {
    await owner.connect()
    await checkServer(owner)
    await ensureRoles(owner, target, logins)
    // Before migrations, which would create a schema in a wrong database.
    if (pooler) await requirePooler(pooler, logins, owner, target)
    const migrated = await migrate(owner, { proofs: createRowProofs(masterKey) })
    await ensureSchemaAccess(owner, target, logins, log)
    return migrated
  } catch (cause) {
    throw explainConnection(cause, target)
  } finally {
    await owner.end().catch(() => {})
  }
}

async function checkServer(owner: pg.Client): Promise<void> {
  const { rows } = await owner.query<{ version: number; name: string; encoding: string }>(
    `select current_setting('server_version_num')::int as version, current_setting('server_version') as name,
            current_setting('server_encoding') as encoding`,
  )
  const [server] = rows
  if (server && server.version < serverVersionMin) {
    throw new StartupError(
      `The database server is PostgreSQL ${server.name}, which is too old.`,
      'Use PostgreSQL 15 or later.',
    )
  }
  if (server && server.encoding !== 'UTF8') {
    throw new StartupError(
      `The database stores text as ${server.encoding}.`,
      "Use a database created with: create database hub encoding 'UTF8' template template0;",
    )
  }
}

/** Explains a failed connection to an operator. It never names the URL, which contains a password. */
export function explainConnection(cause: unknown, target: ConnectionTarget): unknown {
  if (cause instanceof StartupError) return cause
  const { code, message } = cause as pg.DatabaseError
  const where = `${target.database} on ${target.host || 'localhost'}:${target.port}`
  if (/unsupported startup parameter/.test(message)) {
    return new StartupError(
      `A pooler answers for the database ${where}: ${message}.`,
      'Set HUB_DATABASE_DIRECT_URL to the same database without the pooler; HUB_DATABASE_URL then names the pooler.',
      { cause },
    )
  }
  if (/^28/.test(code ?? '')) {
    return new StartupError(
      `The database ${where} rejects the user ${target.user}: ${message}.`,
      'Check user and password in HUB_DATABASE_URL (HUB_DATABASE_DIRECT_URL, if it is set).',
      { cause },
    )
  }
  if (code === '3D000') {
    return new StartupError(
      `The database ${where} does not exist.`,
      `As an administrator, run: create database ${pg.escapeIdentifier(target.database ?? '')} owner ${pg.escapeIdentifier(target.user)};`,
      { cause },
    )
  }
  if (code?.startsWith('53')) {
    return new StartupError(
      `The database ${where} is out of resources: ${message}.`,
      'Give the server more disk space, memory or connections, as stated.',
      { cause },
    )
  }
  if (!isUnavailable(cause)) return cause
  return new StartupError(
    `The database ${where} cannot be reached: ${message || code}.`,
    'Start it, or correct HUB_DATABASE_URL (HUB_DATABASE_DIRECT_URL, if it is set).',
    { cause },
  )
}
