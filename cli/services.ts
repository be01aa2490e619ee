import { pino } from 'pino'
import { type Config, loadConfig } from '../server/config.ts'
import type { Modules } from '../server/create-modules.ts'
import type { OpenedDatabase } from '../server/db/open-database.ts'
import { readInstanceFile } from '../server/embedded-postgres/data-directory.ts'
import type { Tenant } from '../server/http/caller.ts'
import type { ServiceAccounts } from '../server/modules/auth/auth-types.ts'
import type { Erasure } from '../server/modules/erasure/erasure-types.ts'
import type { createServiceEvents } from '../server/modules/governance/governance-log.ts'
import type { Actor } from '../server/modules/governance/governance-types.ts'
import type { Sweeper } from '../server/modules/integrity-sweep/sweep-types.ts'
import type { LogAudit } from '../server/modules/log/audit/audit-types.ts'
import type { CheckpointStore } from '../server/modules/log/checkpoint-sinks/checkpoint-store.ts'
import type { createLogRetirement } from '../server/modules/log/checkpoint-sinks/log-retirement.ts'
import type { createRestoredTenants } from '../server/modules/log/checkpoint-sinks/restored-tenants.ts'
import type { LogModule } from '../server/modules/log/log-module.ts'
import type { Archetypes } from '../server/modules/roster/roster-service.ts'
import type { AcceptAdjustments } from '../server/modules/telemetry/adjustments/adjustment-acceptance.ts'
import type { TelemetryRepricing } from '../server/modules/telemetry/prices/repricing-types.ts'
import type { Rollups } from '../server/modules/telemetry/rollups/rollup-service.ts'
import type { TenantDirectory } from '../server/modules/tenants/tenants-types.ts'
import { StartupError } from '../server/startup-error.ts'

/** The actor of commands in governance events. */
export const operator: Actor = { operator: 'command-line' }

/** The services that commands use, on the same database with or without a running server. */
export interface Services {
  config: Config
  /** The URL of the server that runs on this database, as far as known. */
  baseUrl: string
  administration: Modules['tenants']['administration']
  operated: Modules['tenants']['operated']
  directory: TenantDirectory
  serviceAccounts: ServiceAccounts
  tokenKeys: Modules['keys']['tokens']
  provenanceKeys: Modules['provenanceKeyRotation']
  serviceEvents: ReturnType<typeof createServiceEvents>
  archetypes: Archetypes
  rollups: Rollups
  acceptAdjustments: AcceptAdjustments
  log: Pick<LogModule, 'integrate'>
  erasure: Erasure
  sweeper: Sweeper
  rating: TelemetryRepricing
  logAudit: LogAudit
  checkpoints: CheckpointStore
  logRetirement: ReturnType<typeof createLogRetirement>
  restoredTenants: ReturnType<typeof createRestoredTenants>
  /** Migrations applied when the database was opened. */
  migrationsApplied: readonly string[]
}

/** The open database of a command, its configuration and its log. */
export interface OpenedForCommands {
  config: Config
  database: OpenedDatabase
  log: pino.Logger
}

/** Opens the database, runs `work`, and closes everything again. Logs go to stderr: stdout belongs to the command. */
export async function withDatabase<T>(work: (opened: OpenedForCommands) => Promise<T>): Promise<T> {
  const config = loadConfig()
  const log = pino({ level: config.logLevel === 'info' ? 'warn' : config.logLevel }, pino.destination(2))
  const { openDatabase } = await import('../server/db/open-database.ts')
  const database = await openDatabase(config, { purpose: 'command', log })
  try {
    return await work({ config, database, log })
  } finally {
    await database.stop()
  }
}

/** Works like {@link withDatabase}, and creates the modules that commands use. */
export function withServices<T>(work: (services: Services) => Promise<T>): Promise<T> {
  return withDatabase(async (opened) => {
    // Loading all modules takes two seconds of CPU time, which most commands do not need.
    const { openServices } = await import('./open-services.ts')
    const { services, close } = await openServices(opened)
    try {
      return await work(services)
    } finally {
      await close()
    }
  })
}

/** Returns a tenant. Throws StartupError if it does not exist. */
export async function tenantNamed({ directory }: Services, slug: string): Promise<Tenant> {
  const tenant = await directory.find(slug, { evenSuspended: true })
  if (tenant) return tenant
  throw new StartupError(
    `There is no tenant ${JSON.stringify(slug)}.`,
    `Make it with: npm run hub -- tenant create ${slug} --mode A --admin-email you@example.com`,
  )
}

/** Returns the tenant of `--tenant`, or all. Throws StartupError if it does not exist. */
export async function chosenTenants(services: Services, slug: string | undefined): Promise<readonly string[]> {
  return slug === undefined ? services.directory.slugs() : [(await tenantNamed(services, slug)).slug]
}

/** Returns the URL of the server on this data directory, whose command line may have set its port. */
export function addressOf(config: Config): string {
  if (config.baseUrlConfigured) return config.baseUrl
  return readInstanceFile(config.dataDir)?.url ?? config.baseUrl
}
