import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { isStorageFull, storageFull } from '../../contract/domain-error.ts'
import { tracer } from '../tracing/current-work.ts'
import { watchStatements } from '../tracing/watched-statements.ts'
import { asRole, type ConnectionTarget, clientConfig, pooledConfig, serviceTimeouts } from './connection-settings.ts'
import type {
  Database,
  DatabaseLog,
  Listener,
  PoolConnections,
  RecordContents,
  RegistryTx,
  TenantTx,
  TransactionMode,
} from './database.ts'
import { FairQueue, sumOfCounts } from './fair-queue.ts'
import { openListener } from './listener.ts'
import { localSettings, withoutStatementNames } from './pooler.ts'
import { openReadReplica, WrongReplica } from './read-replica.ts'
import { noContents } from './record-encryption.ts'
import { noRowProofs, type RowProofs } from './row-proofs.ts'
import type { RegistryTables, TenantTables } from './schema.ts'
import { closeSilentConnections } from './silent-connections.ts'
import { runIngest, runTransaction, type TransactionScope, type Turn } from './transactions.ts'
import { shareRules, type WorkClass, workClassOf, workLimits } from './work-classes.ts'

export interface PoolOptions {
  readonly app: ConnectionTarget
  readonly ingest: ConnectionTarget
  /** The pooler in transaction mode through which transactions go; undefined if there is none. */
  readonly pooler?: ConnectionTarget | undefined
  /** The read replica as the application role; undefined if there is none. */
  readonly replica?: ConnectionTarget | undefined
  /**
   * Maximum number of connections of the application role, and as many to the replica; the insert-only role gets half as
   * many.
   */
  readonly size: number
  readonly log?: DatabaseLog | undefined
  /** Receives the text of every statement before it is sent. */
  readonly onQuery?: ((text: string) => void) | undefined
  /** Milliseconds from which a statement is logged. Default 0: none. */
  readonly slowQueryMs?: number | undefined
}

/** The name under which transactions without a tenant wait for their turn. No slug is empty. */
const registry = ''

/** Milliseconds for which a disk that was full counts as full: successful reads do not prove that it has room again. */
const fullMs = 60_000
const notifyFullMs = 1_000

const ingestTimeouts = { ...serviceTimeouts, statement_timeout: workLimits.ingest.statementMs }

/** Takes no turn, for the connection that only checks whether the database answers. */
const ownTurn: Turn = { workClass: 'write', enter: () => undefined, leave: () => {} }

/** Opens the pools. Connections open when first needed. */
export function openPools(options: PoolOptions): Database {
  const ingestSize = Math.ceil(options.size / 2)
  const settings = options.pooler && `${localSettings(serviceTimeouts)}; `
  const plainOpening = settings === undefined ? 'begin' : `begin; ${settings}`
  const ingestSettings = options.pooler && localSettings(ingestTimeouts)
  const app = openPool(options, options.app, 'hub-app', options.size)
  const ingest = openPool(options, options.ingest, 'hub-ingest', ingestSize)
  const health = openPool(options, options.app, 'hub-health', 1)
  const transactions = new FairQueue(shareRules(options.size))
  const ingestions = new FairQueue(shareRules(ingestSize))
  const replicaPool =
    options.replica && openPool({ ...options, pooler: undefined }, options.replica, 'hub-replica', options.size)
  const replica =
    replicaPool && openReadReplica({ pool: replicaPool, primary: (text) => health.query(text), log: options.log })
  const replicaQueue = new FairQueue(shareRules(options.size))
  const listeners: Listener[] = []
  const used = { contents: noContents, proofs: noRowProofs }
  let fullAt = Number.NEGATIVE_INFINITY
  let notifyFull = () => {}
  let notifiedFullAt = Number.NEGATIVE_INFINITY
  /** Records that a transaction met a full disk. */
  const watched = <Result>(work: Promise<Result>): Promise<Result> =>
    work.catch((error: unknown) => {
      if (isStorageFull(error) && error.extensions.full === 'database') {
        fullAt = performance.now()
        if (fullAt - notifiedFullAt > notifyFullMs) {
          notifiedFullAt = fullAt
          notifyFull()
        }
      }
      throw error
    })
  return {
    withTenant: async (tenantId, work, mode = {}) => {
      const workClass = workClassOf(mode)
      const run = (scope: TransactionScope) => work(tenantTx(tenantId, scope, used))
      const onPrimary = () =>
        runTransaction(
          app,
          turnOf(transactions, tenantId, workClass),
          openingFor(tenantId, mode, workClass, settings),
          run,
        )
      if (!replica || !mode.onReplica) return watched(onPrimary())
      const turn = turnOf(replicaQueue, tenantId, workClass)
      const opening = openingFor(tenantId, mode, workClass)
      return watched(replica.read(() => runTransaction(replica, turn, opening, run, 1), onPrimary))
    },
    withRegistry: (work) =>
      watched(
        runTransaction(app, turnOf(transactions, registry, 'write'), plainOpening, (scope) =>
          work(registryTx(scope, used)),
        ),
      ),
    ingest: (tenantId, steps) =>
      watched(runIngest(ingest, turnOf(ingestions, tenantId, 'ingest'), tenantId, steps, ingestSettings)),
    listen: (channel, wake) => {
      const listener = openListener(options.app, channel, wake, options.log)
      listeners.push(listener)
      return listener
    },
    useContents: (contents) => {
      used.contents = contents
    },
    useProofs: (proofs) => {
      used.proofs = proofs
    },
    // `openDatabase` spreads this object, so a getter would be read only once.
    contents: contentsOf(used),
    ping: () =>
      runTransaction(health, ownTurn, plainOpening, async ({ client }) => {
        await client.query('select 1')
        if (performance.now() - fullAt < fullMs) throw storageFull('database')
      }),
    onFull: (tell) => {
      notifyFull = tell
    },
    noteFull: () => {
      fullAt = performance.now()
    },
    waits: () => ({ ...sumOfCounts(transactions.counts, replicaQueue.counts), ingest: ingestions.counts.ingest }),
    replicaReads: () => replica?.reads ?? { replica: 0, primary: 0 },
    checkReplica: async () => {
      const client = await replica?.connect().catch((error: unknown) => {
        if (error instanceof WrongReplica) throw error
        return undefined
      })
      client?.release()
    },
    connections: () => ({
      ...{ app: connectionsOf(app), ingest: connectionsOf(ingest), health: connectionsOf(health) },
      ...(replicaPool && { replica: connectionsOf(replicaPool) }),
    }),
    close: async () => {
      for (const listener of listeners) listener.close()
      await Promise.all([app.end(), ingest.end(), replica?.close()])
      await health.end()
    },
  }
}

function turnOf(queue: FairQueue<WorkClass>, tenant: string, workClass: WorkClass): Turn {
  return {
    workClass,
    enter: () => queue.enter(tenant, workClass),
    leave: () => queue.leave(tenant, workClass),
  }
}

/** Milliseconds until a query of the replica without an answer fails: its server ends it a little earlier. */
const replicaQueryMs = serviceTimeouts.statement_timeout + 2_000

function openPool(options: PoolOptions, target: ConnectionTarget, name: string, size: number): pg.Pool {
  const { pooler } = options
  const session = pooler
    ? pooledConfig(asRole(pooler, target), name)
    : { ...clientConfig(target, name), ...(name === 'hub-ingest' ? ingestTimeouts : serviceTimeouts) }
  const pool = new pg.Pool({
    ...session,
    max: size,
    // Reads wait for a replica that is away only for a moment, and then go to the primary.
    ...(name === 'hub-replica' && { connectionTimeoutMillis: 1_000, query_timeout: replicaQueryMs }),
    idleTimeoutMillis: 60_000,
  })
  // Without a listener, a connection that the server closes would end the process. The next statement reports the
  // error.
  pool.on('error', (error) => options.log?.warn({ err: error, pool: name }, 'idle database connection lost'))
  pool.on('connect', (client) => {
    client.on('error', () => {})
    if (pooler) withoutStatementNames(client)
    if (options.onQuery) watchQueries(client, options.onQuery)
    const slowMs = options.slowQueryMs ?? 0
    if (slowMs > 0 || tracer()) watchStatements(client, { log: options.log, slowMs })
  })
  // A pooler hides the processes of the server, and reads at a replica have a limit of their own.
  if (!pooler && name !== 'hub-replica') closeSilentConnections(pool, clientConfig(target, 'hub-probe'), options.log)
  return pool
}

function connectionsOf({ totalCount, idleCount, options }: pg.Pool): PoolConnections {
  return { active: totalCount - idleCount, idle: idleCount, max: options.max ?? 0 }
}

function beginOf({ readOnly = false, snapshot = false }: TransactionMode): string {
  return `begin${snapshot ? ' isolation level repeatable read' : ''}${readOnly ? ' read only' : ''}`
}

/**
 * Returns the SQL that opens a transaction. The check of the slug is essential: the slug is part of the SQL, because
 * BEGIN and a parameter do not fit into one round trip.
 *
 * @param settings those of the transaction behind a pooler, which end in a semicolon
 */
function openingFor(tenantId: string, mode: TransactionMode, workClass: WorkClass, settings = ''): string {
  if (!/^[a-z][a-z0-9-]{1,62}$/.test(tenantId)) throw new Error('not a tenant slug')
  const order = mode.inIndexOrder ? '; set local enable_sort = off; set local enable_seqscan = off' : ''
  const { statementMs } = workLimits[workClass]
  const limit =
    statementMs === serviceTimeouts.statement_timeout ? '' : `; set local statement_timeout = ${statementMs}`
  return `${beginOf(mode)}; ${settings}select hub.set_tenant('${tenantId}')${order}${limit}`
}

function tenantTx(
  tenantId: string,
  scope: TransactionScope,
  { contents, proofs }: { contents: RecordContents; proofs: RowProofs },
): TenantTx {
  let db: TenantTx['db'] | undefined
  return {
    tenantId,
    client: scope.client,
    contents,
    proofs,
    afterCommit: scope.afterCommit,
    // Created on first use: ingest never uses it.
    get db() {
      db ??= kyselyOn<TenantTables>(scope.client)
      return db
    },
  } as TenantTx
}

function registryTx({ client }: TransactionScope, { proofs }: { proofs: RowProofs }): RegistryTx {
  return { client, db: kyselyOn<RegistryTables>(client), proofs } as RegistryTx
}

function watchQueries(client: pg.ClientBase, onQuery: (text: string) => void): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  const watched = (...args: unknown[]) => {
    const [first] = args as [string | { text?: string; texts?: readonly string[] } | undefined]
    const texts = typeof first === 'string' ? [first] : (first?.texts ?? [first?.text])
    for (const text of texts) if (text) onQuery(text)
    return query(...args)
  }
  client.query = watched as typeof client.query
}

/** Delegates each call to the contents that are current then. */
function contentsOf(used: { readonly contents: RecordContents }): RecordContents {
  return {
    decrypt: (...given) => used.contents.decrypt(...given),
    openJoined: (...given) => used.contents.openJoined(...given),
    destroyedKeyOf: (...given) => used.contents.destroyedKeyOf(...given),
    erasedBeginnings: (tenantId) => used.contents.erasedBeginnings(tenantId),
    destructions: (tx) => used.contents.destructions(tx),
    encryptor: (tx) => used.contents.encryptor(tx),
    outside: (...given) => used.contents.outside(...given),
  }
}

/**
 * Returns a query builder whose every statement runs on this client, and so inside its transaction. Kysely's own
 * transactions are not used, because they do not set the tenant.
 */
export function kyselyOn<Tables>(client: pg.ClientBase): Kysely<Tables> {
  const borrowed = {
    query: client.query.bind(client),
    release() {},
  }
  const pool = { connect: async () => borrowed, end: async () => {}, options: {} }
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: pool as never }) })
}
