import pg from 'pg'
import { type ConnectionTarget, clientConfig, serviceTimeouts } from './connection-settings.ts'
import type { Database, DatabaseLog, Listener, RegistryTx, TenantTx, TransactionMode } from './database.ts'
import { asServiceError } from './database-errors.ts'
import { openListener } from './listener.ts'
import { noContents, type RecordContents } from './record-contents.ts'
import type { RegistryTables, TenantTables } from './schema.ts'
import { kyselyOn } from './scoped-kysely.ts'
import { runIngest, runTransaction, type TransactionScope } from './transactions.ts'

export interface PoolOptions {
  readonly app: ConnectionTarget
  readonly ingest: ConnectionTarget
  /** Connections of the application role at most; the insert-only role gets half as many. */
  readonly size: number
  readonly log?: DatabaseLog | undefined
  /** Sees the text of every statement before it is sent. */
  readonly onQuery?: ((text: string) => void) | undefined
}

/** Opens the two pools. Connections are made when first needed. */
export function openPools(options: PoolOptions): Database {
  const app = openPool(options, options.app, 'hub-app', options.size)
  const ingest = openPool(options, options.ingest, 'hub-ingest', Math.ceil(options.size / 2))
  const listeners: Listener[] = []
  const used = { contents: noContents }
  return {
    withTenant: async (tenantId, work, mode = {}) =>
      runTransaction(app, openingFor(tenantId, mode), (scope) => work(tenantTx(tenantId, scope, used.contents))),
    withRegistry: (work) => runTransaction(app, 'begin', (scope) => work(registryTx(scope))),
    ingest: (tenantId, steps) => runIngest(ingest, tenantId, steps),
    listen: (channel, wake) => {
      const listener = openListener(options.app, channel, wake, options.log)
      listeners.push(listener)
      return listener
    },
    useContents: (contents) => {
      used.contents = contents
    },
    // `openDatabase` spreads this object, so a getter would be read once and for all.
    contents: contentsOf(used),
    ping: async () => {
      await app.query('select 1').catch((error: unknown) => {
        throw asServiceError(error)
      })
    },
    close: async () => {
      for (const listener of listeners) listener.close()
      await Promise.all([app.end(), ingest.end()])
    },
  }
}

function openPool(options: PoolOptions, target: ConnectionTarget, name: string, size: number): pg.Pool {
  const pool = new pg.Pool({
    ...clientConfig(target, name),
    ...serviceTimeouts,
    max: size,
    idleTimeoutMillis: 60_000,
  })
  // Without listeners, a connection that the server closes would end the process. The next statement reports it.
  pool.on('error', (error) => options.log?.warn({ err: error, pool: name }, 'idle database connection lost'))
  pool.on('connect', (client) => {
    client.on('error', () => {})
    if (options.onQuery) watchQueries(client, options.onQuery)
  })
  return pool
}

function beginOf({ readOnly = false, snapshot = false }: TransactionMode): string {
  return `begin${snapshot ? ' isolation level repeatable read' : ''}${readOnly ? ' read only' : ''}`
}

/** The check matters twice: the slug stands in the SQL, because BEGIN and a parameter do not fit one round trip. */
function openingFor(tenantId: string, mode: TransactionMode): string {
  if (!/^[a-z][a-z0-9-]{1,62}$/.test(tenantId)) throw new Error('not a tenant slug')
  const order = mode.inIndexOrder ? '; set local enable_sort = off; set local enable_seqscan = off' : ''
  return `${beginOf(mode)}; select hub.set_tenant('${tenantId}')${order}`
}

function tenantTx(tenantId: string, scope: TransactionScope, contents: RecordContents): TenantTx {
  let db: TenantTx['db'] | undefined
  return {
    tenantId,
    client: scope.client,
    contents,
    afterCommit: scope.afterCommit,
    // Made when first asked for: ingest never does.
    get db() {
      db ??= kyselyOn<TenantTables>(scope.client)
      return db
    },
  } as TenantTx
}

function registryTx(scope: TransactionScope): RegistryTx {
  return { client: scope.client, db: kyselyOn<RegistryTables>(scope.client) } as RegistryTx
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

/** Whatever is used at the time of each call. */
function contentsOf(used: { readonly contents: RecordContents }): RecordContents {
  return {
    open: (...given) => used.contents.open(...given),
    openJoined: (...given) => used.contents.openJoined(...given),
    destroyedKeyOf: (...given) => used.contents.destroyedKeyOf(...given),
    erasedBeginnings: (tenantId) => used.contents.erasedBeginnings(tenantId),
    destructions: (tx) => used.contents.destructions(tx),
    sealer: (tx) => used.contents.sealer(tx),
    outside: (...given) => used.contents.outside(...given),
  }
}
