import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { loadConfig } from '../../server/config.ts'
import { type ConnectionTarget, connectionUrl } from '../../server/db/connection-settings.ts'
import { openDatabase } from '../../server/db/database.ts'
import { prepareLayout } from '../../server/db/embedded-layout.ts'
import { startEmbedded } from '../../server/db/embedded-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    testCluster: { superuser: ConnectionTarget; owner: ConnectionTarget; masterKey: string }
  }
}

/** Fixed, so that keys and role names are the same in every run. */
const masterKey = Buffer.alloc(32, 'org-memory-hub tests')

/** Speed for a cluster that no one will miss. The product never runs with these. */
const throwawaySettings = { fsync: 'off', full_page_writes: 'off', max_connections: '500', autovacuum: 'off' }

/** One embedded cluster for the whole run, with a migrated database that every test file gets a copy of. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hub-test-'))
  const layout = await prepareLayout(dataDir)
  const server = await startEmbedded({ layout, masterKey, purpose: 'serve', settings: throwawaySettings })
  const template = await openDatabase(
    loadConfig({
      HUB_DATABASE_URL: connectionUrl(server.owner),
      HUB_MASTER_KEY: masterKey.toString('base64'),
      HUB_DATA_DIR: dataDir,
    }),
    { purpose: 'command' },
  )
  await template.stop()
  project.provide('testCluster', {
    superuser: server.superuser,
    owner: server.owner,
    masterKey: masterKey.toString('base64'),
  })
  return async () => {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}
