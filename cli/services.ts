import { pino } from 'pino'
import { createModules, type Modules } from '../server/app.ts'
import { type Config, loadConfig } from '../server/config.ts'
import { type OpenedDatabase, openDatabase } from '../server/db/open-database.ts'
import { readInstanceFile } from '../server/embedded-postgres/data-directory.ts'
import type { Tenant } from '../server/http/caller.ts'
import type { ServiceAccounts } from '../server/modules/auth/auth-types.ts'
import { createErasureJournal } from '../server/modules/erasure/erasure-journal.ts'
import type { Erasure } from '../server/modules/erasure/erasure-types.ts'
import { createServiceEvents } from '../server/modules/governance/governance-log.ts'
import type { Actor } from '../server/modules/governance/governance-types.ts'
import type { Sweeper } from '../server/modules/integrity-sweep/sweep-types.ts'
import { createHoldJournal } from '../server/modules/legal-holds/hold-journal.ts'
import type { LogAudit } from '../server/modules/log/audit/audit-types.ts'
import { createLogAudit } from '../server/modules/log/audit/log-audit.ts'
import type { CheckpointStore } from '../server/modules/log/checkpoint-sinks/checkpoint-store.ts'
import { createLogRetirement } from '../server/modules/log/checkpoint-sinks/log-retirement.ts'
import { createRestoredTenants } from '../server/modules/log/checkpoint-sinks/restored-tenants.ts'
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

/** Opens the database, runs `work`, and closes everything again. Logs go to stderr: stdout belongs to the command. */
export async function withDatabase<T>(
  work: (opened: { config: Config; database: OpenedDatabase; log: pino.Logger }) => Promise<T>,
): Promise<T> {
  const config = loadConfig()
  const log = pino({ level: config.logLevel === 'info' ? 'warn' : config.logLevel }, pino.destination(2))
  const database = await openDatabase(config, { purpose: 'command', log })
  try {
    return await work({ config, database, log })
  } finally {
    await database.stop()
  }
}

/** Works like {@link withDatabase}, and creates the modules that commands use. */
export function withServices<T>(work: (services: Services) => Promise<T>): Promise<T> {
  return withDatabase(async ({ config, database, log }) => {
    const baseUrl = () => addressOf(config)
    const modules = await createModules({ config, database, masterKey: database.masterKey, baseUrl, log })
    modules.log.tellOthers()
    const { directory } = modules.tenants
    const { governance } = modules
    try {
      return await work({
        config,
        baseUrl: baseUrl(),
        administration: modules.tenants.administration,
        operated: modules.tenants.operated,
        directory,
        serviceAccounts: modules.auth.serviceAccounts,
        tokenKeys: modules.keys.tokens,
        provenanceKeys: modules.provenanceKeyRotation,
        serviceEvents: createServiceEvents({ database, directory, governance }),
        archetypes: modules.roster.archetypes,
        rollups: modules.rollups.rollups,
        acceptAdjustments: modules.rollups.acceptAdjustments,
        log: modules.log,
        erasure: modules.hub.erasure,
        sweeper: modules.hub.sweeper,
        rating: modules.telemetry.rating,
        logAudit: createLogAudit({ database, logs: modules.log.logs, keys: modules.keys.provenance }),
        checkpoints: modules.checkpoints,
        logRetirement: createLogRetirement({
          database,
          logs: modules.log.logs,
          keys: modules.keys.provenance,
          governance,
          checkpoints: modules.checkpoints,
        }),
        restoredTenants: createRestoredTenants({
          database,
          logs: modules.log.logs,
          erasure: modules.hub.erasure,
          erasureList: createErasureJournal(modules.storage),
          holds: modules.hub.holdsAfterRestore,
          holdList: createHoldJournal(modules.storage),
          checkpoints: modules.checkpoints,
          governance,
          destroyKeysAgain: (tenant, actor) => modules.cmek.destruction.reapply(tenant, actor),
        }),
        migrationsApplied: database.migrationsApplied,
      })
    } finally {
      await modules.log.stop()
      await modules.close()
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
