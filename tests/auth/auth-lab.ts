import { loadConfig } from '../../server/config.ts'
import { createModules, type Modules } from '../../server/create-modules.ts'
import type { Database } from '../../server/db/database.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

export const baseUrl = 'http://127.0.0.1:4711'
export const operator = { operator: 'test' }
export const quiet = { info() {}, warn() {}, error() {} }

/** The modules on a database of their own, without HTTP. */
export interface AuthLab {
  store: TestDatabase
  modules: Modules
  close(): Promise<void>
}

export async function openAuthLab(): Promise<AuthLab> {
  const store = await createTestDatabase()
  const { database, masterKey } = store
  const config = loadConfig({ HUB_BASE_URL: baseUrl })
  const modules = await createModules({ config, database, masterKey, baseUrl: () => baseUrl, log: quiet })
  return {
    store,
    modules,
    async close() {
      await modules.close()
      await store.drop()
    },
  }
}

export interface GovernanceEventRecord {
  event_kind: string
  subject: string
  details: Record<string, unknown>
}

/** The governance events of a tenant, oldest first. */
export async function eventsOf(database: Database, tenant: string): Promise<GovernanceEventRecord[]> {
  const rows = await database.withTenant(tenant, async (tx) =>
    tx.db
      .selectFrom('hub.records')
      .select('canonical')
      .where('tenant_id', '=', tenant)
      .where('record_type', '=', 'governance_event')
      .orderBy('record_id')
      .execute(),
  )
  return rows.map((row) => JSON.parse(row.canonical))
}
