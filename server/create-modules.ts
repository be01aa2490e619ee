import type { Config } from './config.ts'
import type { Database, DatabaseLog } from './db/database.ts'
import { listenForTenants } from './db/tenant-notifier.ts'
import { EventBus } from './event-bus.ts'
import { cursorKeyPurpose } from './http/cursor.ts'
import { JobSender } from './jobs/job-sender.ts'
import { Mailer } from './mail/mailer.ts'
import { createAuthModule } from './modules/auth/auth-module.ts'
import { openRevocations } from './modules/auth/revocation/revocations.ts'
import { createBudgetsModule } from './modules/budgets/budgets-module.ts'
import { createCmekModule, createContentEncryption } from './modules/cmek/cmek-module.ts'
import { CustomerKeys } from './modules/cmek/customer-keys-service.ts'
import { DestroyedKeysList } from './modules/cmek/destroyed-keys-list.ts'
import { CredentialVault } from './modules/connectors/connector-credentials.ts'
import { createConnectorsModule } from './modules/connectors/connectors-module.ts'
import { createDistributionModule } from './modules/distribution/distribution-module.ts'
import { createEntitlementModule } from './modules/entitlement/entitlement-module.ts'
import { createErasureJournal } from './modules/erasure/erasure-journal.ts'
import { type ExportSettings, exportQuotaOf } from './modules/exports/export-quota.ts'
import { createExportsModule } from './modules/exports/exports-module.ts'
import { DenialLog } from './modules/governance/denial-log.ts'
import { createGovernanceLog } from './modules/governance/governance-log.ts'
import { createIdentityModule, createScimAccess } from './modules/identity/identity-module.ts'
import { createInboundModule } from './modules/inbound/inbound-module.ts'
import { createInboundSecrets } from './modules/inbound/inbound-secrets.ts'
import { createKeysModule } from './modules/keys/keys-module.ts'
import { ProvenanceKeyRotator } from './modules/keys/provenance-key-rotation.ts'
import { createHoldJournal } from './modules/legal-holds/hold-journal.ts'
import { createSignInLinks } from './modules/links/links-service.ts'
import { openCheckpointStore } from './modules/log/checkpoint-sinks/checkpoint-store.ts'
import { arrivalsChannel, createLogModule } from './modules/log/log-module.ts'
import { createNotificationsModule } from './modules/notifications/notifications-module.ts'
import { createObservabilityModule } from './modules/observability/observability-module.ts'
import { WorkLag } from './modules/observability/work-lag.ts'
import { createOtlpModule } from './modules/otlp/otlp-module.ts'
import { createRosterModule } from './modules/roster/roster-module.ts'
import { createScimModule, resourceReader } from './modules/scim/scim-module.ts'
import { createRollupModule } from './modules/telemetry/rollups/rollup-module.ts'
import { telemetrySpending } from './modules/telemetry/summary/spending-reader.ts'
import { telemetryWindows } from './modules/telemetry/summary/window-reader.ts'
import { createTelemetryModule } from './modules/telemetry/telemetry-module.ts'
import { createTenantsModule } from './modules/tenants/tenants-module.ts'
import { createViewsModule } from './modules/views/views-module.ts'
import { createWebhooksModule } from './modules/webhooks/webhooks-module.ts'
import { createOutboundClients } from './outbound/outbound.ts'
import { createRecordModules, createRecordStore, createRecordVerification } from './record-modules.ts'
import { createRecordClock, type TimeSource } from './records/record-clock.ts'
import { deriveKey } from './secrets/encryption.ts'
import { createDiskSpace, type DiskSettings, type FreeBytes } from './storage/disk-space.ts'
import { openStorage } from './storage/open-storage.ts'

/** Every module of the service. */
export type Modules = Awaited<ReturnType<typeof createModules>>

export interface ModulesOptions {
  config: Pick<
    Config,
    | 'environment'
    | 'version'
    | 'browserUrl'
    | 'baseUrl'
    | 'smtpUrl'
    | 'outboundAllow'
    | 'checkpointSinks'
    | 'aws'
    | 'keyringDir'
    | 'vault'
    | 'keyNames'
  > &
    DiskSettings &
    ExportSettings
  database: Database
  masterKey: Buffer
  /** Returns the common address without a trailing slash; it is known only once the service listens. */
  baseUrl: () => string
  log: DatabaseLog
  /** Reads the free space of disks. Tests replace it. */
  freeBytes?: FreeBytes
  /** Milliseconds before a new token key signs (see the key ring). Tests shorten it. */
  signingDelayMs?: number
  /** The clock of records, holds, recovery periods and exports. Tests may advance it. */
  time?: TimeSource
}

/** Creates what the modules share: keys, records, governance events and the bus of events between modules. */
async function createFoundation(options: ModulesOptions) {
  const { config, database, masterKey, log } = options
  const events = new EventBus()
  const encryption = createContentEncryption(options)
  const keys = await createKeysModule(options)
  const clock = createRecordClock(options.time)
  const recordStore = createRecordStore({ database, keys: keys.provenance, clock, events })
  const governance = createGovernanceLog({ ...recordStore.records, events })
  const shared = {
    ...{ database, masterKey, log, events, governance, ...recordStore },
    ...{ keys: keys.provenance, secrets: encryption.secrets, environment: config.environment },
    cursorKey: deriveKey(masterKey, cursorKeyPurpose),
    /** The sender that `Background` connects to the job queue; a command never connects it. */
    jobSender: new JobSender(),
  }
  return {
    ...{ shared, encryption, keys, recordStore },
    customerKeys: new CustomerKeys({ ...shared, ...encryption }),
    inboundSecrets: createInboundSecrets(shared),
    denials: new DenialLog(shared),
    revocations: await openRevocations(shared),
    links: createSignInLinks(),
    mailer: new Mailer(config, log),
    outbound: createOutboundClients(config),
    storage: openStorage(config),
    disk: createDiskSpace(config, options.freeBytes),
  }
}

/** Creates the modules that decide who may do what: tenants, people, identity providers and sessions. */
function createAccessModules(
  { config, baseUrl }: ModulesOptions,
  foundation: Awaited<ReturnType<typeof createFoundation>>,
) {
  const { shared, keys, customerKeys, inboundSecrets, outbound, denials, revocations, links, mailer } = foundation
  const tenants = createTenantsModule({
    ...{ ...shared, links, keyring: customerKeys, baseUrl, mailer },
    httpsOnly: config.environment !== 'development',
  })
  const { directory } = tenants

  const scimAccess = createScimAccess({ ...shared, directoryOutbound: outbound.directory })
  const roster = createRosterModule({
    ...{ ...shared, revoker: revocations, adminEmail: tenants.adminEmail, tenants: directory },
    ...{ connections: scimAccess.connections, sources: scimAccess.sources, reader: resourceReader },
  })
  const identity = createIdentityModule({
    ...{ ...shared, scim: scimAccess, outbound: outbound.common, inboundSecrets },
    ...{ archetypes: roster.bundle, upkeep: roster.sync.upkeep },
  })
  const auth = createAuthModule({
    ...{ ...shared, keys: keys.tokens, directory, denials, revocations, links, mailer },
    ...{ users: roster.signInUsers, providers: identity.providers, browserUrl: browserUrlOf(config, baseUrl) },
  })
  return { tenants, scimAccess, roster, identity, auth }
}

/**
 * Creates every module and passes it the interfaces of earlier ones. A module that concerns later ones publishes events.
 * This is the only place that knows all modules; the HTTP server and the command line both use it.
 */
export async function createModules(options: ModulesOptions) {
  const { config, database, masterKey } = options
  const foundation = await createFoundation(options)
  const { shared, encryption, keys, recordStore, customerKeys, inboundSecrets, outbound, storage, disk } = foundation
  const { denials, revocations, links, mailer } = foundation

  const access = createAccessModules(options, foundation)
  const { tenants, scimAccess, roster, identity } = access
  const { directory } = tenants

  const rollups = createRollupModule({ ...shared, listTenants: () => directory.slugs() })
  const entitlement = createEntitlementModule({ ...shared, bundle: roster.bundle, references: roster.references })
  const vault = new CredentialVault(encryption.secrets)
  const distribution = createDistributionModule({
    ...{ ...shared, directory, outbound: outbound.publishing, grants: entitlement.grants, credentials: vault },
  })
  const connectors = createConnectorsModule({
    ...{ ...shared, outbound: outbound.common, inboundSecrets, vault },
    ...{ deliveries: distribution.deliveries, tester: distribution.tester },
  })

  const tenantLog = createLogModule({ ...shared, directory, records: recordStore.loggedRecords })
  const { logs } = tenantLog
  const checkpoints = openCheckpointStore({ ...shared, config, directory, logs })
  const verification = createRecordVerification({ ...shared, directory })

  const wallMs = () => options.time?.wallMs() ?? Date.now()
  const webhooks = createWebhooksModule({
    ...{ ...shared, directory, outbound: outbound.webhooks, profiles: roster.profiles, windows: telemetryWindows },
    wallMs,
  })
  const budgets = createBudgetsModule({
    ...{ ...shared, directory, webhooks, mailer, wallMs, spending: telemetrySpending },
    listen: (wake) => listenForTenants(database, arrivalsChannel, wake),
  })
  const views = createViewsModule(shared)
  const notifications = createNotificationsModule({ ...shared, readable: recordStore.readable, wallMs })
  const telemetry = createTelemetryModule({
    ...{ ...shared, archetypes: roster.bundle, skills: entitlement.registry, invocationOutbox: webhooks },
    ...{ verifiedEvents: verification.verifiedEvents, unproven: verification.pricesUnproven },
    findTenant: (slug) => directory.find(slug, { evenSuspended: true }),
  })
  const otlp = createOtlpModule({
    ...{ ...shared, skills: entitlement.registry, references: roster.references },
    ...{ telemetry: telemetry.telemetry, basic: access.auth.basic },
  })
  const hub = createRecordModules({
    ...{ ...shared, verification, skills: entitlement.registry, logs, directory, storedCheckpoints: checkpoints },
    ...{ erasureList: createErasureJournal(storage), holdList: createHoldJournal(storage) },
    figures: { audit: rollups.audit, prices: telemetry.priceProof.read },
  })
  const exports = createExportsModule({
    ...{ ...shared, storage, disk, denials, directory, logs },
    ...{ quota: exportQuotaOf(config), ownQuota: tenants.exportQuota },
    ...{ records: recordStore.sealedRecords, verification: verification.stored },
    search: hub.searchMatches,
    evidence: { checkpoints, ...hub, retention: verification.retention },
  })
  const cmek = createCmekModule({
    ...{ ...shared, ...encryption, customerKeys, content: hub.destruction },
    ...{ destroyed: [exports.expiry, webhooks.keyDestruction] },
    destroyedKeys: new DestroyedKeysList(storage),
  })
  const { connections } = scimAccess
  const scim = createScimModule({ database, directory: roster.directory, tenants: directory, connections })
  const inbound = createInboundModule({
    ...{ database, masterKey, vault: inboundSecrets, tenants: directory, reader: resourceReader },
    ...{ platformOf: connectors.platformOf, telemetry: telemetry.telemetry, directory: roster.directory },
  })
  const observability = createObservabilityModule({
    ...{ database, version: config.version, clock: shared.clock, lostLogs: () => checkpoints.lostLogs() },
    sources: {
      milestones: tenants.milestones,
      contentKey: async (tx, { mode }) => (mode === 'B' ? cmek.keyState(tx) : undefined),
      scim: (tx) => scimAccess.connections.of(tx),
      unknownArchetypes: identity.unknownArchetypes,
      lastSyncedAt: (tx) => roster.sync.lastSynced.lastSyncedAt(tx),
      connectors: connectors.publishStates,
      roster: (tx) => roster.directory.counts(tx),
      skills: (tx) => entitlement.grants.counts(tx),
      eventsReceived: telemetry.countEvents,
      sso: (tenant) => identity.ssoHealth.of(tenant),
    },
  })

  return {
    ...{ events: shared.events, jobSender: shared.jobSender, governance: shared.governance, keys, recordStore },
    provenanceKeyRotation: new ProvenanceKeyRotator({ ...shared, logs }),
    ...{ ...access, revocations, links, scim, customerKeys, cmek },
    ...{ verification, hub, entitlement, connectors, distribution, telemetry, otlp, rollups },
    ...{ log: tenantLog, checkpoints },
    workLag: new WorkLag({
      ...{ database, log: shared.log, listTenants: () => directory.slugs() },
      oldest: { folding: rollups.oldestDelta, log: tenantLog.oldestArrival },
    }),
    ...{ exports, inbound, storage, disk, observability, webhooks, budgets, views, notifications, denials },
    /** Waits for work that continues after responses, and stops timers. Call it before the database closes. */
    close: async () => {
      mailer.close()
      await Promise.all([distribution.publisher.stop(), distribution.settled(), webhooks.stop(), budgets.stop()])
      const settling = [webhooks, verification, exports, denials, scimAccess.connections]
      const closing = [outbound, keys, revocations, encryption.contentKeys]
      await Promise.all([...settling.map((part) => part.settled()), ...closing.map((part) => part.close())])
      await checkpoints.close()
    },
  }
}

/** Returns the address of the web UI: its own if configured, else the common address, which is known only later. */
export function browserUrlOf(config: Pick<Config, 'browserUrl' | 'baseUrl'>, baseUrl: () => string): () => string {
  return () => (config.browserUrl === config.baseUrl ? baseUrl() : config.browserUrl)
}
