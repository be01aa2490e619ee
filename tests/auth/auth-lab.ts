import { type AuthModule, createAuthModule } from '../../server/modules/auth/auth-module.ts'
import { createGovernanceLog } from '../../server/modules/governance/governance-log.ts'
import type { GovernanceLog } from '../../server/modules/governance/governance-types.ts'
import { createRecordStore } from '../../server/modules/hub/hub-module.ts'
import { createKeysModule, type KeysModule } from '../../server/modules/keys/keys-module.ts'
import { createRosterModule, type RosterModule } from '../../server/modules/roster/roster-module.ts'
import { createTenantsModule, type TenantsModule } from '../../server/modules/tenants/tenants-module.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

export const baseUrl = 'http://127.0.0.1:4711'
export const operator = { operator: 'test' }
export const quiet = { info() {}, warn() {}, error() {} }

/** The modules of this folder on a database of their own, without HTTP. */
export interface AuthLab {
  store: TestDatabase
  keys: KeysModule
  tenants: TenantsModule
  auth: AuthModule
  roster: RosterModule
  governance: GovernanceLog
  /** Tenants whose skills or archetypes changed. */
  catalogueChanges: string[]
  events(tenant: string): Promise<{ event_kind: string; subject: string; details: Record<string, unknown> }[]>
  close(): Promise<void>
}

export async function openAuthLab(address: () => string = () => baseUrl): Promise<AuthLab> {
  const store = await createTestDatabase()
  const { database, masterKey } = store
  const keys = await createKeysModule({ database, masterKey, log: quiet })
  const { records } = createRecordStore({ database, keys: keys.provenance })
  const governance = createGovernanceLog(records)
  const tenants = createTenantsModule({
    database,
    keys: keys.provenance,
    governance,
    baseUrl: address,
    httpsOnly: false,
  })
  const auth = createAuthModule({ database, masterKey, governance, keys: keys.tokens, directory: tenants.directory })
  const catalogueChanges: string[] = []
  const roster = createRosterModule({
    database,
    masterKey,
    governance,
    catalogueChanged: (tenant) => catalogueChanges.push(tenant),
  })
  return {
    store,
    keys,
    tenants,
    auth,
    roster,
    governance,
    catalogueChanges,
    async events(tenant) {
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
    },
    async close() {
      keys.close()
      await store.drop()
    },
  }
}
