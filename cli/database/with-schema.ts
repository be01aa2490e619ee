import { loadConfig } from '../../server/config.ts'
import { findMasterKey } from '../../server/db/master-key.ts'
import { StartupError } from '../../server/startup-error.ts'
import { hasSchema } from '../doctor/checks/schema.ts'
import { type ExaminedDatabase, hasCluster, withExaminedDatabase } from '../doctor/examined-database.ts'

/**
 * Runs `work` on the configured database, beside a running Hub or without one. Creates no database, and migrates nothing.
 *
 * @throws StartupError if there is no database with the Hub's schema
 */
export async function withSchema(work: (database: ExaminedDatabase) => Promise<void>): Promise<void> {
  const config = loadConfig()
  const key = await findMasterKey(config)
  if (config.databaseUrl === undefined && (key === undefined || !hasCluster(config))) {
    throw new StartupError(
      `There is no database in ${config.dataDir}.`,
      'Set HUB_DATA_DIR or HUB_DATABASE_URL to an existing one, or start the Hub once to create it.',
    )
  }
  await withExaminedDatabase(config, key, async (database) => {
    if (!(await hasSchema(database))) {
      throw new StartupError('The database has no schema of the Hub.', 'Run: hub migrate, or correct HUB_DATABASE_URL.')
    }
    await work(database)
  })
}
