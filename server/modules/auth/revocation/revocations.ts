import type { Database, DatabaseLog } from '../../../db/database.ts'
import type { Revocations } from '../auth-types.ts'

export async function openRevocations(_deps: { database: Database; log: DatabaseLog }): Promise<Revocations> {
  return {
    isRevoked: () => false,
    revoke: async () => {},
    close: async () => {},
  }
}
