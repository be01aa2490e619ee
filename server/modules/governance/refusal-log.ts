import type { Database, DatabaseLog } from '../../db/database.ts'
import type { GovernanceLog, RefusalLog } from './governance-types.ts'

export function createRefusalLog(_deps: {
  database: Database
  governance: GovernanceLog
  log: DatabaseLog
}): RefusalLog {
  return { note: () => {}, settled: async () => {} }
}
