import type { Config } from '../../server/config.ts'
import { StartupError } from '../../server/startup-error.ts'
import type { FreeBytes } from '../../server/storage/disk-space.ts'
import { checkClock } from './checks/clock.ts'
import { checkConfiguration } from './checks/configuration.ts'
import { checkDisks } from './checks/disk.ts'
import { checkJobs } from './checks/jobs.ts'
import { checkKeyFits, checkMasterKey, masterKeyCheck } from './checks/master-key.ts'
import { checkNeighbours } from './checks/neighbours.ts'
import { checkReplica } from './checks/replica.ts'
import { checkMigrations, checkPartitions, hasSchema } from './checks/schema.ts'
import { checkService } from './checks/service.ts'
import { checkSettings } from './checks/settings.ts'
import { checkTenantWork } from './checks/tenant-work.ts'
import { type ExaminedDatabase, hasCluster, isServerRunning, withExaminedDatabase } from './examined-database.ts'
import { type Finding, ok, problem, warning, worstOf } from './finding.ts'

export interface ExamineOptions {
  readonly env: NodeJS.ProcessEnv
  /** Reads the free space of disks. Tests replace it. */
  readonly freeBytes?: FreeBytes
  /** The clock in milliseconds. Tests replace it. */
  readonly now?: () => number
  /** The number of tenants whose work and checkpoints are checked. Tests replace it. */
  readonly tenantsMax?: number
}

/**
 * Runs every check that the configuration allows, beside a running Hub or without one. Changes nothing. A check that
 * fails unexpectedly is a problem of its own, and the others still run.
 */
export async function examine({ env, freeBytes, now = Date.now, tenantsMax }: ExamineOptions): Promise<Finding[]> {
  const { config, findings: first } = await checkConfiguration(env)
  if (config === undefined) {
    return [
      ...first,
      warning('database', 'It was not checked, because the configuration is invalid.', 'Correct it first.'),
    ]
  }
  const { key, findings: ofKey } = await checkMasterKey(config)
  const [disks, neighbours] = await Promise.all([
    guarded('disk', () => checkDisks(config, freeBytes)),
    guarded('neighbours', () => checkNeighbours(config)),
  ])
  const isFull = worstOf(disks) === 'problem'
  const ofDatabase = await guarded('database', () => examineDatabase(config, { key, now, tenantsMax, isFull }))
  return [...first, ...ofKey, ...ofDatabase, ...disks, ...neighbours]
}

interface DatabaseOptions {
  key: Buffer | undefined
  now: () => number
  tenantsMax: number | undefined
}

async function examineDatabase(
  config: Config,
  { isFull, ...options }: DatabaseOptions & { isFull: boolean },
): Promise<Finding[]> {
  const check = 'database'
  if (config.databaseUrl === undefined) {
    if (!hasCluster(config)) return [ok(check, 'There is none yet: the first start creates it.')]
    if (options.key === undefined) {
      const action = 'Solve the problem of the master key first.'
      return [warning(check, 'It was not checked, because it needs the master key.', action)]
    }
    if (isFull && !(await isServerRunning(config))) {
      return [warning(check, 'It is stopped, and was not started because its disk is full.', 'Free space first.')]
    }
  }
  try {
    return await withExaminedDatabase(config, options.key, (database) => examineOpened(config, database, options))
  } catch (error) {
    if (!(error instanceof StartupError)) throw error
    const isKey = error.message.includes('different master key')
    return [problem(isKey ? masterKeyCheck : check, error.message, error.fix)]
  }
}

async function examineOpened(
  config: Config,
  database: ExaminedDatabase,
  { key, now, tenantsMax }: DatabaseOptions,
): Promise<Finding[]> {
  const findings = [
    ...(await guarded('service', async () => [await checkService(config, database)])),
    ...(await guarded('database', () => checkSettings(config, database))),
    ...(await guarded('replica', () => checkReplica(config, database))),
    ...(await guarded('clock', async () => [await checkClock(database, now)])),
  ]
  if (!(await hasSchema(database))) {
    return [...findings, warning('migrations', 'The database is empty.', 'Run: hub migrate, or start the Hub.')]
  }
  return [
    ...findings,
    ...(await guarded(masterKeyCheck, () => checkKeyFits(database, key))),
    ...(await guarded('migrations', async () => [await checkMigrations(database)])),
    ...(await guarded('partitions', async () => [await checkPartitions(database)])),
    ...(await guarded('jobs', () => checkJobs(database))),
    ...(await guarded('queues', () => checkTenantWork(config, database, { now, tenantsMax }))),
  ]
}

async function guarded(check: string, work: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof StartupError) return [problem(check, error.message, error.fix)]
    return [problem(check, `It could not be checked: ${(error as Error).message}.`, 'Solve that, and run it again.')]
  }
}
