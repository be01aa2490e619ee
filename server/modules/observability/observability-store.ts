import { sql } from 'kysely'
import type { RegistryTx } from '../../db/database.ts'

/** Asks the database for nothing, to see whether it answers. */
export async function pingDatabase(tx: RegistryTx): Promise<void> {
  await sql`select 1`.execute(tx.db)
}
