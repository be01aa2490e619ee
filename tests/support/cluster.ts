import { rm } from 'node:fs/promises'
import { loadConfig } from '../../server/config.ts'
import { asRole, type ConnectionTarget, connectionUrl, parseDatabaseUrl } from '../../server/db/connection-settings.ts'
import { openDatabase } from '../../server/db/open-database.ts'
import { prepareLayout } from '../../server/embedded-postgres/data-directory.ts'
import { startEmbedded } from '../../server/embedded-postgres/server.ts'
import { bootstrapOwner, embeddedAccounts } from '../../server/embedded-postgres/superuser.ts'
import { scratchDataDirectory } from './scratch-folder.ts'

/** Where test databases are made. */
export interface TestCluster {
  superuser: ConnectionTarget
  owner: ConnectionTarget
  /** Base64 */
  masterKey: string
}

/** Fixed, so that keys and role names are the same in every run. */
const masterKey = Buffer.alloc(32, 'org-memory-hub tests')

/** Speed for a cluster that no one will miss. The product never runs with these. */
const throwawaySettings = {
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '500',
  autovacuum: 'off',
  // Bounds the log of the server, which may be in memory.
  max_wal_size: '512MB',
}

type Server = Omit<TestCluster, 'masterKey'> & { stop(): Promise<void> }

/**
 * A cluster with a migrated template of which every test database is a copy.
 * @param url of the superuser of another, throwaway server, say of another version of PostgreSQL
 */
export async function startTestCluster(url?: string): Promise<{ cluster: TestCluster; stop(): Promise<void> }> {
  const server = url ? await existingServer(url) : await throwawayServer()
  const template = await openDatabase(
    loadConfig({
      HUB_DATABASE_URL: connectionUrl(server.owner),
      HUB_MASTER_KEY: masterKey.toString('base64'),
    }),
    { purpose: 'command' },
  )
  await template.stop()
  const { superuser, owner, stop } = server
  return { cluster: { superuser, owner, masterKey: masterKey.toString('base64') }, stop }
}

async function throwawayServer(): Promise<Server> {
  const dataDir = await scratchDataDirectory()
  const layout = await prepareLayout(dataDir)
  const server = await startEmbedded({ layout, masterKey, purpose: 'serve', settings: throwawaySettings })
  return {
    superuser: server.superuser,
    owner: server.owner,
    stop: async () => {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function existingServer(url: string): Promise<Server> {
  const superuser = parseDatabaseUrl(url)
  const { owner } = embeddedAccounts(masterKey)
  const targets = { superuser, owner: asRole({ ...superuser, database: 'hub' }, owner) }
  await bootstrapOwner(targets)
  return { ...targets, stop: async () => {} }
}
