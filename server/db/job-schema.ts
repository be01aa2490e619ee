import type pg from 'pg'
import manifest from 'pg-boss/package.json' with { type: 'json' }
import { StartupError } from '../startup-error.ts'

/** The schema of the job queue. Its tables are local to the coordinator on a distributed database. */
export const jobSchema = 'hub_jobs'

const wantedVersion = manifest.pgboss.schema

/**
 * Migrates the tables of the job queue to the version that its library expects. The owner runs it, because the role
 * that runs jobs may not change tables. Call it under the migration lock.
 */
export async function migrateJobSchema(owner: pg.Client): Promise<void> {
  const version = await installedVersion(owner)
  if (version === wantedVersion) return
  if (version !== undefined && version > wantedVersion) {
    throw new StartupError(
      `The job queue's tables are at version ${version}, newer than this program's ${wantedVersion}.`,
      'Start the newer version of the Hub that this database was last used with.',
    )
  }
  // Loaded here, because a database that is up to date needs none of it.
  const { getConstructionPlans, getMigrationPlans } = await import('pg-boss')
  await owner.query(version === undefined ? getConstructionPlans(jobSchema) : getMigrationPlans(jobSchema, version))
  await owner.query(`
    grant usage on schema ${jobSchema} to hub_app;
    grant select, insert, update, delete on all tables in schema ${jobSchema} to hub_app;
    grant usage on all sequences in schema ${jobSchema} to hub_app;
    grant execute on all functions in schema ${jobSchema} to hub_app`)
}

async function installedVersion(owner: pg.Client): Promise<number | undefined> {
  const { rows } = await owner.query<{ installed: boolean }>(
    `select to_regclass('${jobSchema}.version') is not null as installed`,
  )
  if (!rows[0]?.installed) return undefined
  const versions = await owner.query<{ version: number }>(`select version from ${jobSchema}.version`)
  return versions.rows[0]?.version
}
