import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { asRole, type ConnectionTarget, clientConfig, connectionUrl } from '../../server/db/connection-settings.ts'
import type { Database, DatabaseLog } from '../../server/db/database.ts'
import { openPools } from '../../server/db/pooled-database.ts'
import { proveEveryRow } from '../../server/db/prove-rows.ts'
import { allProvenRows } from '../../server/db/proven-rows.ts'
import { serviceLogins } from '../../server/db/roles.ts'
import { createRowProofs } from '../../server/db/row-proofs.ts'
import type { TestCluster } from './cluster.ts'

export interface TestDatabase {
  /** As the service sees it. */
  readonly database: Database
  /** Of the owner; fits `HUB_DATABASE_URL` together with `masterKey` in `HUB_MASTER_KEY`. */
  readonly url: string
  readonly masterKey: Buffer
  /** The roles of the service, for connections of one's own. */
  readonly targets: { owner: ConnectionTarget; app: ConnectionTarget; ingest: ConnectionTarget }
  /** A connected client that row-level security does not bind: for tampering, and to see everything. */
  superuserClient(): Promise<pg.Client>
  /**
   * Proves rows that a test wrote by SQL in the place of the Hub: those of one table, or of all. Nothing may write to
   * the table meanwhile, because a proof of the former state would replace the new one.
   */
  proveRows(table?: string): Promise<void>
  /** Closes all of it and drops the database. */
  drop(): Promise<void>
}

export interface TestDatabaseOptions {
  readonly onQuery?: (text: string) => void
  /** Connections of the application role; keep it small, because files run at the same time. */
  readonly poolSize?: number
  /** Names the pooler for the transactions of the service; none by default. */
  readonly pooler?: { readonly port: number }
  /** Milliseconds from which a statement is logged; with `log`. */
  readonly slowQueryMs?: number
  readonly log?: DatabaseLog
  /** Of the run of tests, if absent. */
  readonly cluster?: TestCluster
}

/** A database of one's own, migrated and empty: a copy of the template, made in some tens of milliseconds. */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const cluster = options.cluster ?? inject('testCluster')
  const masterKey = Buffer.from(cluster.masterKey, 'base64')
  const name = `hub_${randomBytes(8).toString('hex')}`
  // Copies whole files. By default the server copies pages through its buffers and its log, which takes three times the work.
  await asAdministrator(cluster.superuser, `create database ${name} template hub strategy file_copy owner hub_owner`)
  const owner = { ...cluster.owner, database: name }
  const logins = serviceLogins(masterKey)
  const targets = { owner, app: asRole(owner, logins.app), ingest: asRole(owner, logins.ingest) }
  const pooler = options.pooler && { ...owner, host: '127.0.0.1', port: options.pooler.port }
  const database = openPools({ ...options, ...targets, pooler, size: options.poolSize ?? 8 })
  const proofs = createRowProofs(masterKey)
  database.useProofs(proofs)
  const clients: pg.Client[] = []
  async function superuserClient(): Promise<pg.Client> {
    const client = new pg.Client(clientConfig({ ...cluster.superuser, database: name }, 'hub-test'))
    client.on('error', () => {})
    await client.connect()
    clients.push(client)
    return client
  }
  return {
    database,
    url: connectionUrl(owner),
    masterKey,
    targets,
    superuserClient,
    proveRows: async (table) => {
      const tables = allProvenRows.filter((rows) => table === undefined || rows.table === table)
      await proveEveryRow(await superuserClient(), proofs, tables)
    },
    drop: async () => {
      await Promise.all([database.close(), ...clients.map((client) => client.end())])
      await asAdministrator(cluster.superuser, `drop database ${name} with (force)`)
    },
  }
}

async function asAdministrator(superuser: ConnectionTarget, statement: string): Promise<void> {
  const client = new pg.Client(clientConfig(superuser, 'hub-test'))
  await client.connect()
  await client.query(statement).finally(() => client.end())
}
