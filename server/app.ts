import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Config } from './config.ts'
import type { Database, DatabaseLog } from './db/database.ts'
import { createHttpServer } from './http/http-server.ts'
import { MemoryRateLimiter, type RateLimiter } from './http/rate-limits/rate-limiter.ts'
import { countRequests } from './http/request-metrics.ts'
import { JobSender } from './jobs/job-sender.ts'
import { countDecisions } from './limits/counted-limiter.ts'
import { createMailer } from './mail/mailer.ts'
import type { Metrics } from './metrics/metrics.ts'
import { type AuthModule, createAuthModule } from './modules/auth/auth-module.ts'
import type { Revocations } from './modules/auth/auth-types.ts'
import { openRevocations } from './modules/auth/revocation/revocations.ts'
import { type CmekModule, createCmekModule, createContentEncryption } from './modules/cmek/cmek-module.ts'
import { createDestroyedKeysList } from './modules/cmek/destroyed-keys-list.ts'
import { type ConnectorsModule, createConnectorsModule } from './modules/connectors/connectors-module.ts'
import { createDistributionModule, type DistributionModule } from './modules/distribution/distribution-module.ts'
import { createEntitlementModule, type EntitlementModule } from './modules/entitlement/entitlement-module.ts'
import { createErasureJournal } from './modules/erasure/erasure-journal.ts'
import { createExportErasure } from './modules/exports/export-erasure.ts'
import { type ExportSettings, exportQuotaOf } from './modules/exports/export-quota.ts'
import { createExportsModule, type ExportsModule } from './modules/exports/exports-module.ts'
import { createDenialLog } from './modules/governance/denial-log.ts'
import { createGovernanceLog } from './modules/governance/governance-log.ts'
import type { GovernanceLog, RefusalLog } from './modules/governance/governance-types.ts'
import { createIdentityModule, type IdentityModule } from './modules/identity/identity-module.ts'
import { createInboundModule, type InboundModule } from './modules/inbound/inbound-module.ts'
import { createInboundSecrets } from './modules/inbound/inbound-secrets.ts'
import { createKeysModule, type KeysModule } from './modules/keys/keys-module.ts'
import type { ProvenanceKeyRotator } from './modules/keys/keys-types.ts'
import { createProvenanceKeyRotation } from './modules/keys/provenance-key-rotation.ts'
import { createHoldJournal } from './modules/legal-holds/hold-journal.ts'
import { createSignInLinks } from './modules/links/links-service.ts'
import type { SignInLinks } from './modules/links/links-types.ts'
import { type CheckpointStore, openCheckpointStore } from './modules/log/checkpoint-sinks/checkpoint-store.ts'
import { createLogModule, type LogModule } from './modules/log/log-module.ts'
import { createObservabilityModule } from './modules/observability/observability-module.ts'
import { createRosterModule, type RosterModule } from './modules/roster/roster-module.ts'
import { createScimModule, resourceReader, type ScimModule } from './modules/scim/scim-module.ts'
import { createRollupModule, type RollupModule } from './modules/telemetry/rollups/rollup-module.ts'
import { createTelemetryModule, type TelemetryModule } from './modules/telemetry/telemetry-module.ts'
import { createTenantsModule, type TenantsModule } from './modules/tenants/tenants-module.ts'
import { createViewsModule, type ViewsModule } from './modules/views/views-module.ts'
import { createWebUiModule } from './modules/web-ui/web-ui-module.ts'
import { createWebhooksModule, type WebhooksModule } from './modules/webhooks/webhooks-module.ts'
import type { GovernanceOutbox } from './modules/webhooks/webhooks-types.ts'
import { createOutboundClients } from './outbound/outbound.ts'
import { createRecordModules, createRecordStore, type RecordModules, type RecordStore } from './record-modules.ts'
import type { TimeSource } from './records/record-clock.ts'
import { createRecordClock } from './records/record-clock.ts'
import { createDiskSpace, type DiskSettings, type DiskSpace, type FreeBytes } from './storage/disk-space.ts'
import { openStorage } from './storage/open-storage.ts'
import type { Storage } from './storage/storage.ts'

/** Holds every module of the service, wired to the others. */
export interface Modules {
  keys: KeysModule
  governance: GovernanceLog
  provenanceKeyRotation: ProvenanceKeyRotator
  tenants: TenantsModule
  auth: AuthModule
  revocations: Revocations
  links: SignInLinks
  identity: IdentityModule
  scim: ScimModule
  recordStore: RecordStore
  cmek: CmekModule
  hub: RecordModules
  roster: RosterModule
  entitlement: EntitlementModule
  connectors: ConnectorsModule
  distribution: DistributionModule
  telemetry: TelemetryModule
  rollups: RollupModule
  log: LogModule
  checkpoints: CheckpointStore
  exports: ExportsModule
  inbound: InboundModule
  storage: Storage
  disk: DiskSpace
  observability: ReturnType<typeof createObservabilityModule>
  webhooks: WebhooksModule
  views: ViewsModule
  refusals: RefusalLog
  /** The sender that `Background` connects to the job queue; a command never connects it. */
  jobSender: JobSender
  /** Waits for work that continues after responses, and stops timers. Call it before the database closes. */
  close(): Promise<void>
}

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

/**
 * Creates every module and passes it the interfaces of the others. This is the only place that knows all modules; the
 * HTTP server and the command line both use it.
 */
export async function createModules(options: ModulesOptions): Promise<Modules> {
  const { config, database, masterKey, baseUrl, log } = options
  const encryption = createContentEncryption(options)
  const keys = await createKeysModule(options)
  const recordStore = createRecordStore({
    database,
    keys: keys.provenance,
    clock: createRecordClock(options.time),
    sealed: (tenantId) => tenantLog.sealed(tenantId),
  })
  const outbox: GovernanceOutbox = { written: (...events) => webhooks.governanceOutbox.written(...events) }
  const governance = createGovernanceLog({ ...recordStore.records, outbox })
  const shared = { database, masterKey, governance, log }
  const jobSender = new JobSender()
  const { environment } = config
  const revocations = await openRevocations({ database, log })
  const refusals = createDenialLog(shared)
  const waysOut = createOutboundClients(config)
  const outbound = waysOut.common
  const mailer = createMailer(config, log)
  const links = createSignInLinks()
  const inboundSecrets = createInboundSecrets({ secrets: encryption.secrets })

  const tenants = createTenantsModule({
    ...shared,
    keys: keys.provenance,
    links,
    keyring: () => cmek.keyring,
    baseUrl,
    httpsOnly: environment !== 'development',
  })

  // These closures close the two cycles. Skills and archetypes notify telemetry of changes, and telemetry reads both. A
  // deactivation ends sessions, and a session belongs to a user.
  const catalogueChanged = (tenantId: string) => telemetry.catalogueChanged(tenantId)
  const roster = createRosterModule({
    ...shared,
    revoker: revocations,
    endSessions: (tx, userId) => auth.sessions.endAll(tx, userId),
    adminEmail: tenants.adminEmail,
    catalogueChanged,
    archetypesRemoved: (...removal) => entitlement.archetypesRemoved(...removal),
    ...{ tenants: tenants.directory, jobSender, reader: resourceReader },
    connections: {
      of: (tx) => identity.scimConnections.of(tx),
      pullTokenOf: (tx, tenant) => identity.scimConnections.pullTokenOf(tx, tenant),
    },
    sources: { open: (...address) => identity.scimSources.open(...address) },
  })
  const identity: IdentityModule = createIdentityModule({
    ...{ ...shared, outbound, directoryOutbound: waysOut.directory, inboundSecrets, tenantSecrets: encryption.secrets },
    archetypes: roster.bundle,
    upkeep: () => roster.sync.upkeep,
  })
  const auth: AuthModule = createAuthModule({
    ...shared,
    keys: keys.tokens,
    directory: tenants.directory,
    refusals,
    revocations,
    users: roster.signInUsers,
    providers: identity.providers,
    links,
    mailer,
    jobSender,
    environment,
    browserUrl: browserUrlOf(config, baseUrl),
  })
  const entitlement: EntitlementModule = createEntitlementModule({
    ...{ ...shared, ...recordStore, catalogueChanged },
    bundle: roster.bundle,
    references: roster.references,
    secrets: encryption.secrets,
    skillsChanged: (tenant) => distribution.publisher.changed(tenant),
  })
  const views = createViewsModule(shared)
  const storage = openStorage(config)
  const disk = createDiskSpace(config, options.freeBytes)
  const { directory } = tenants
  const connectors = createConnectorsModule({
    ...{ ...shared, outbound, inboundSecrets, secrets: encryption.secrets },
    distribution: () => distribution,
  })
  const distribution: DistributionModule = createDistributionModule({
    ...{ ...shared, directory, outbound: waysOut.publishing, keys: keys.provenance },
    grants: entitlement.grants,
    credentials: connectors.credentials,
  })
  const checkpoints = openCheckpointStore({
    ...{ config, database, directory, log },
    logs: () => tenantLog.logs,
    disagreed: (tenant, found) => hub.logDisagreed(tenant, found),
  })
  const tenantLog: LogModule = createLogModule({
    ...shared,
    keys: keys.provenance,
    directory,
    clock: recordStore.clock,
    records: () => hub.loggedRecords,
    headSigned: (tenant, head) => checkpoints.keeper.headSigned(tenant, head),
  })
  const hub: RecordModules = createRecordModules({
    ...shared,
    ...recordStore,
    keys: keys.provenance,
    ...{ skills: entitlement.registry, logs: tenantLog.logs, directory },
    erasureList: createErasureJournal(storage),
    holdList: createHoldJournal(storage),
    keptCheckpoints: checkpoints,
    erasureParticipants: () => [...erasures(), createExportErasure(exports.expiry)],
    figures: () => ({ audit: rollups.audit, prices: telemetry.priceProof.read }),
  })
  const erasures = () => [rollups.erasure, entitlement.erasure, ...webhooks.erasure, views.erasure]
  const exports: ExportsModule = createExportsModule({
    ...{ ...shared, clock: recordStore.clock, storage, disk, refusals, directory },
    ...{ quota: exportQuotaOf(config), ownQuota: tenants.exportQuota },
    ...{ secrets: encryption.secrets, keys: keys.provenance, logs: tenantLog.logs, jobSender },
    records: hub.sealedRecords,
    verification: hub.verification,
  })
  const webhooks: WebhooksModule = createWebhooksModule({
    ...{ ...shared, directory, clock: recordStore.clock, secrets: encryption.secrets, profiles: roster.profiles },
    ...{ outbound: waysOut.webhooks, wallMs: () => options.time?.wallMs() ?? Date.now() },
    windows: { eachGroup: (...asked) => telemetry.windows.eachGroup(...asked) },
  })
  const listTenants = () => directory.slugs()
  const rollups: RollupModule = createRollupModule({ ...shared, ...recordStore, listTenants })
  const telemetry: TelemetryModule = createTelemetryModule({
    ...shared,
    ...recordStore,
    ...{ archetypes: roster.bundle, skills: entitlement.registry },
    ingested: (tenantId) => {
      rollups.folder.ingested(tenantId)
      tenantLog.sealed(tenantId)
    },
    invocationOutbox: webhooks,
    ...{ verifiedEvents: hub.verifiedEvents, unproven: hub.pricesUnproven },
    findTenant: (slug) => tenants.directory.find(slug, { evenSuspended: true }),
    jobSender,
  })
  const cmek: CmekModule = createCmekModule({
    ...{ ...shared, ...encryption },
    content: () => hub.destruction,
    destroyedKeys: createDestroyedKeysList(storage),
    destroyed: {
      lock: (tx) => webhooks.keyDestruction.lock(tx),
      async forget(tx, at) {
        const always = { createdAt: '0001-01-01T00:00:00.000000Z', purgedAt: at }
        await exports.expiry.expireHolding(tx, always, 'The key of the tenant was destroyed, and its content with it.')
        await webhooks.keyDestruction.forget(tx)
      },
    },
  })
  const inbound = createInboundModule({
    ...{ database, masterKey, vault: inboundSecrets, tenants: tenants.directory, reader: resourceReader },
    ...{ connectors: connectors.connectors, telemetry: telemetry.telemetry, directory: roster.directory },
  })
  const observability = createObservabilityModule({
    ...{ database, version: config.version, clock: recordStore.clock, lostLogs: () => checkpoints.lostLogs() },
    sources: {
      milestones: tenants.milestones,
      contentKey: async (tx, { mode }) => (mode === 'B' ? cmek.keyState(tx) : undefined),
      scim: (tx) => identity.scimConnections.of(tx),
      unknownArchetypes: identity.unknownArchetypes,
      lastSyncedAt: (tx) => roster.sync.lastSynced.lastSyncedAt(tx),
      connectors: (tx) => connectors.connectors.all(tx),
      roster: (tx) => roster.directory.counts(tx),
      skills: (tx) => entitlement.grants.counts(tx),
      eventsReceived: telemetry.countEvents,
      sso: (tenant) => identity.ssoHealth.of(tenant),
    },
  })

  return {
    jobSender,
    keys,
    governance,
    provenanceKeyRotation: createProvenanceKeyRotation({
      ...shared,
      keys: keys.provenance,
      logs: tenantLog.logs,
    }),
    tenants,
    auth,
    revocations,
    links,
    identity,
    scim: createScimModule({
      ...{ database, directory: roster.directory, tenants: tenants.directory },
      connections: identity.scimConnections,
    }),
    ...{ recordStore, cmek, hub, roster, entitlement, connectors, distribution, telemetry, rollups },
    log: tenantLog,
    checkpoints,
    exports,
    inbound,
    ...{ storage, disk },
    observability,
    webhooks,
    views,
    refusals,
    close: async () => {
      mailer.close()
      await Promise.all([distribution.publisher.stop(), distribution.settled(), webhooks.stop()])
      await Promise.all([
        waysOut.close(),
        webhooks.settled(),
        keys.close(),
        hub.settled(),
        exports.settled(),
        refusals.settled(),
        identity.settled(),
        revocations.close(),
        encryption.contentKeys.close(),
      ])
      await checkpoints.close()
    },
  }
}

export interface AppOptions {
  config: Pick<
    Config,
    | 'environment'
    | 'version'
    | 'trustedProxies'
    | 'limitFactor'
    | 'bodySeconds'
    | 'browserUrl'
    | 'baseUrl'
    | 'operatorToken'
  >
  baseUrl: () => string
  logger: FastifyBaseLogger
  limiter?: RateLimiter
  /** Counts responses and decisions, if metrics are shown. */
  metrics?: Metrics | undefined
  /** Why the web UI could not be built, and its folder if that is not `web/dist`. */
  webUi?: { problem?: string | undefined; dist?: string } | undefined
  /** Compares every response with its schema. Tests set it. */
  checkAnswers?: boolean
}

/** Builds the HTTP server with every route. It does not listen yet. */
export async function createApp(modules: Modules, options: AppOptions): Promise<FastifyInstance> {
  const { tenants, auth, observability } = modules
  const { metrics, limiter = new MemoryRateLimiter() } = options
  const browserUrl = browserUrlOf(options.config, options.baseUrl)
  const app = createHttpServer({
    ...options,
    operatorToken: options.config.operatorToken,
    bodyGraceMs: options.config.bodySeconds * 1000,
    limiter: metrics ? countDecisions(limiter, metrics) : limiter,
    access: auth.access,
    limitsOf: (slug) => tenants.directory.limitsOf(slug),
    ...(options.config.browserUrl !== options.config.baseUrl && { browserUrl }),
  })
  if (metrics) countRequests(app, metrics)
  const { connectors, distribution, webhooks } = modules
  const { keys, identity, scim, cmek, hub, log, exports, roster, entitlement, telemetry } = modules
  const parts = [
    [createWebUiModule({ ...options, ...options.webUi, browserUrl, tabKey: auth.sessions.tabKey }), modules.views],
    [keys, tenants, auth, identity, scim, cmek, hub, log, exports, roster, entitlement],
    [connectors, distribution, telemetry, webhooks, modules.inbound, observability],
  ].flat()
  for (const { routes } of parts) routes(app)
  await app.ready()
  return app
}

/** Returns the address of the web UI: its own if configured, else the common address, which is known only later. */
function browserUrlOf(config: Pick<Config, 'browserUrl' | 'baseUrl'>, baseUrl: () => string): () => string {
  return () => (config.browserUrl === config.baseUrl ? baseUrl() : config.browserUrl)
}
