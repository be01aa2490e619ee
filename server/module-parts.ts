import type { Database, DatabaseLog } from './db/database.ts'
import type { EventBus } from './event-bus.ts'
import type { TenantSecrets } from './modules/cmek/cmek-types.ts'
import type { GovernanceLog } from './modules/governance/governance-types.ts'
import type { ProvenanceKeys } from './modules/keys/keys-types.ts'
import type { TenantLogs } from './modules/log/log-types.ts'
import type { TenantDirectory } from './modules/tenants/tenants-types.ts'
import type { RecordClock } from './records/record-clock.ts'

/** The parts that most modules receive from `app.ts`. A service picks those that it uses. */
export interface ModuleParts {
  database: Database
  masterKey: Buffer
  /** Authenticates the cursors of lists. */
  cursorKey: Buffer
  clock: RecordClock
  events: EventBus
  governance: GovernanceLog
  /** Signs seals. */
  keys: ProvenanceKeys
  /** Encrypts secrets of tenants, in Mode B under their own key. */
  secrets: TenantSecrets
  directory: TenantDirectory
  logs: TenantLogs
  log: DatabaseLog
}
