import type { FastifyInstance } from 'fastify'
import { type DatabaseLog, readTenant, type TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { JobSender } from '../../jobs/job-sender.ts'
import type { JobDefinition } from '../../jobs/queue.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { SkillRegistry } from '../entitlement/entitlement-types.ts'
import type { Idempotency } from '../idempotency/idempotency-types.ts'
import type { Records } from '../records/records-types.ts'
import type { ArchetypeBundle } from '../roster/roster-types.ts'
import { createCostExceptions } from './exceptions/exceptions-service.ts'
import { createEventWriter, type InvocationOutbox } from './ingest/event-writer.ts'
import { FoldPressure } from './ingest/fold-pressure.ts'
import { GroupCommit } from './ingest/group-commit.ts'
import { createKeyedIngest } from './ingest/keyed-ingest.ts'
import { createCatalogues, createReferenceReader } from './ingest/telemetry-catalogue.ts'
import { createTenantLive } from './ingest/tenant-live-service.ts'
import { addPricesRoutes, addRepricingRoutes } from './prices/prices-routes.ts'
import { createPrices } from './prices/prices-service.ts'
import { createPriceProof, type PriceProof, type VerifiedEvents } from './prices/proven-prices.ts'
import { createRepricingRuns, repricingJob, repricingJobData, repricingJobName } from './prices/repricing-service.ts'
import type { TelemetryRepricing } from './prices/repricing-types.ts'
import { createTenantPrices } from './prices/tenant-prices.ts'
import { createTelemetrySummaries } from './summary/summary-service.ts'
import { telemetryWindows } from './summary/window-reader.ts'
import type { TelemetryWindows } from './summary/window-types.ts'
import { addExceptionsRoutes, addSummaryRoutes, addTelemetryRoutes } from './telemetry-routes.ts'
import { createTelemetry } from './telemetry-service.ts'
import { countEvents, deltasAmong } from './telemetry-store.ts'
import type { Telemetry } from './telemetry-types.ts'
import { addTracesRoutes } from './traces/traces-routes.ts'
import { createTraces } from './traces/traces-service.ts'

export interface TelemetryModule {
  telemetry: Telemetry
  rating: TelemetryRepricing
  windows: TelemetryWindows
  priceProof: PriceProof
  /** Slows down ingest while aggregation is behind. */
  pressure: Pick<FoldPressure, 'start' | 'stop'>
  /** Returns the number of telemetry records of a tenant, counted up to `max`. */
  countEvents(tx: TenantTx, max: number): Promise<number>
  /** Jobs for the queue. */
  jobs: readonly JobDefinition[]
  routes(app: FastifyInstance): void
}

export function createTelemetryModule(
  deps: Pick<ModuleParts, 'database' | 'cursorKey' | 'governance' | 'events'> & {
    records: Records
    idempotency: Idempotency
    archetypes: ArchetypeBundle
    skills: SkillRegistry
    /** The wanted messages about invocations, and their outbox. */
    invocationOutbox: InvocationOutbox
    /** Reads verified governance events, which price lists are compared with. */
    verifiedEvents: VerifiedEvents
    /** Reports a tenant whose price list differs from its signed event. */
    unproven(tenantId: string, eventId: string | undefined): void
    findTenant: (slug: string) => Promise<Tenant | undefined>
    jobSender: Pick<JobSender, 'send'>
    log: Pick<DatabaseLog, 'warn' | 'error'>
  },
): TelemetryModule {
  const catalogues = createCatalogues(deps)
  deps.events.on('catalogueChanged', ({ tenantId }) => catalogues.changed(tenantId))
  const stored = (tenantId: string, events: number) => {
    deps.events.publish('telemetryStored', { tenantId, events })
    deps.events.publish('recordsSealed', { tenantId })
  }
  const proof = createPriceProof(deps)
  const tenantPrices = createTenantPrices({ ...deps, proof })
  const pressure = new FoldPressure({
    stillWaiting: (tenantId, deltaIds) => readTenant(deps.database, tenantId, (tx) => deltasAmong(tx, deltaIds)),
  })
  const writer = createEventWriter({
    ...{ ...deps, prices: tenantPrices },
    deltaStored: (tenantId, deltaId, events) => pressure.committed(tenantId, deltaId, events),
  })
  const ingest = {
    ...{ idempotency: deps.idempotency, catalogues, writer, prices: tenantPrices },
    references: createReferenceReader({ catalogues, writer }),
    groups: new GroupCommit(writer, {
      stored,
      pauseMs: (tenantId) => pressure.pauseMs(tenantId),
      slowed: (outcome) => deps.events.publish('ingestSlowed', { outcome }),
    }),
    live: createTenantLive(deps),
  }
  const telemetry = { ...createTelemetry(ingest), ...createKeyedIngest(ingest) }
  const summaries = createTelemetrySummaries(deps)
  const exceptions = createCostExceptions({ ...deps, prices: tenantPrices })
  const traces = createTraces(deps)
  const runs = createRepricingRuns({
    ...deps,
    prices: tenantPrices,
    send: async (tenant, order) => {
      const data = await deps.database.withTenant(tenant.slug, async (tx) => repricingJobData(tx, order))
      await deps.jobSender.send(repricingJobName, data)
    },
    rated: (tenantId) => stored(tenantId, 0),
  })
  return {
    telemetry,
    countEvents,
    rating: runs,
    windows: telemetryWindows,
    priceProof: proof,
    pressure,
    jobs: [repricingJob({ ...deps, runs })],
    routes: (app) => {
      addTelemetryRoutes(app, telemetry)
      addSummaryRoutes(app, summaries)
      addExceptionsRoutes(app, exceptions)
      addTracesRoutes(app, traces)
      addRepricingRoutes(app, runs)
      addPricesRoutes(app, createPrices({ ...deps, tenantPrices, proof }))
    },
  }
}
