import { createModules } from '../server/create-modules.ts'
import { createErasureJournal } from '../server/modules/erasure/erasure-journal.ts'
import { createServiceEvents } from '../server/modules/governance/governance-log.ts'
import { createHoldJournal } from '../server/modules/legal-holds/hold-journal.ts'
import { createLogAudit } from '../server/modules/log/audit/log-audit.ts'
import { createLogRetirement } from '../server/modules/log/checkpoint-sinks/log-retirement.ts'
import { createRestoredTenants } from '../server/modules/log/checkpoint-sinks/restored-tenants.ts'
import { addressOf, type OpenedForCommands, type Services } from './services.ts'

/** Creates the services that commands use. Call `close` after the last use. */
export async function openServices(opened: OpenedForCommands): Promise<{ services: Services; close(): Promise<void> }> {
  const { config, database, log } = opened
  const baseUrl = () => addressOf(config)
  const modules = await createModules({ config, database, masterKey: database.masterKey, baseUrl, log })
  modules.log.tellOthers()
  const { directory } = modules.tenants
  const { governance } = modules
  const services: Services = {
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
  }
  return {
    services,
    close: async () => {
      await modules.log.stop()
      await modules.close()
    },
  }
}
