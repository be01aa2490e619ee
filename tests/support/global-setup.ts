import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { loadConfig } from '../../server/config.ts'
import { asRole, type ConnectionTarget, connectionUrl, parseDatabaseUrl } from '../../server/db/connection-settings.ts'
import { bootstrapOwner, embeddedAccounts } from '../../server/db/embedded-bootstrap.ts'
import { prepareLayout } from '../../server/db/embedded-layout.ts'
import { startEmbedded } from '../../server/db/embedded-server.ts'
import { openDatabase } from '../../server/db/open-database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    testCluster: { superuser: ConnectionTarget; owner: ConnectionTarget; masterKey: string }
  }
}

/** Fixed, so that keys and role names are the same in every run. */
const masterKey = Buffer.alloc(32, 'org-memory-hub tests')

/** Speed for a cluster that no one will miss. The product never runs with these. */
const throwawaySettings = { fsync: 'off', full_page_writes: 'off', max_connections: '500', autovacuum: 'off' }

interface Cluster {
  superuser: ConnectionTarget
  owner: ConnectionTarget
  stop(): Promise<void>
}

/** A database of one cluster for the whole run, migrated, that every test file gets a copy of. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const url = process.env.HUB_TEST_DATABASE_URL
  const cluster = url ? await useServer(url) : await startCluster()
  const template = await openDatabase(
    loadConfig({
      HUB_DATABASE_URL: connectionUrl(cluster.owner),
      HUB_MASTER_KEY: masterKey.toString('base64'),
    }),
    { purpose: 'command' },
  )
  await template.stop()
  project.provide('testCluster', {
    superuser: cluster.superuser,
    owner: cluster.owner,
    masterKey: masterKey.toString('base64'),
  })
  return () => cluster.stop()
}

async function startCluster(): Promise<Cluster> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hub-test-'))
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

/** Another version of PostgreSQL: a throwaway server, named by the URL of its superuser. */
async function useServer(url: string): Promise<Cluster> {
  const superuser = parseDatabaseUrl(url)
  const { owner } = embeddedAccounts(masterKey)
  const targets = { superuser, owner: asRole({ ...superuser, database: 'hub' }, owner) }
  await bootstrapOwner(targets)
  return { ...targets, stop: async () => {} }
}
