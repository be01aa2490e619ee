import type { FastifyInstance } from 'fastify'
import type { Database, DatabaseLog } from '../../db/database.ts'
import { cursorKeyPurpose } from '../../http/cursor.ts'
import { deriveKey } from '../../secrets/sealing.ts'
import type { SkillRegistry } from '../entitlement/entitlement-types.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { Records } from '../hub/hub-types.ts'
import type { Idempotency } from '../hub/idempotency-types.ts'
import type { ArchetypeBundle } from '../roster/roster-types.ts'
import type { CatalogueChanged } from '../tenants/tenants-types.ts'
import { createEventGroups } from './event-groups.ts'
import { createEventWriter } from './event-writer.ts'
import { addPricesRoutes } from './prices-routes.ts'
import { createPrices } from './prices-service.ts'
import { addSummaryRoutes } from './summary-routes.ts'
import { createTelemetrySummaries } from './summary-service.ts'
import { createCatalogues } from './telemetry-catalogue.ts'
import { addTelemetryRoutes } from './telemetry-routes.ts'
import { createTelemetry } from './telemetry-service.ts'
import { createTenantLive } from './tenant-live-service.ts'
import { createTenantPrices } from './tenant-prices.ts'

export interface TelemetryModule {
  /** To be called after every commit that changed skills or archetypes of a tenant. */
  catalogueChanged: CatalogueChanged
  routes(app: FastifyInstance): void
}

export function createTelemetryModule(deps: {
  database: Database
  masterKey: Buffer
  records: Records
  idempotency: Idempotency
  governance: GovernanceLog
  archetypes: ArchetypeBundle
  skills: SkillRegistry
  /** Told after each commit that added to the numbers of a tenant. */
  ingested: (tenantId: string) => void
  log: Pick<DatabaseLog, 'warn'>
}): TelemetryModule {
  const catalogues = createCatalogues(deps)
  const tenantPrices = createTenantPrices(deps)
  const writer = createEventWriter({ ...deps, prices: tenantPrices })
  const telemetry = createTelemetry({
    idempotency: deps.idempotency,
    catalogues,
    writer,
    groups: createEventGroups({ writer, stored: deps.ingested }),
    live: createTenantLive(deps),
  })
  const cursorKey = deriveKey(deps.masterKey, cursorKeyPurpose)
  const summaries = createTelemetrySummaries({ database: deps.database, cursorKey })
  return {
    catalogueChanged: catalogues.changed,
    routes: (app) => {
      addTelemetryRoutes(app, telemetry)
      addSummaryRoutes(app, summaries)
      addPricesRoutes(app, createPrices({ ...deps, tenantPrices }))
    },
  }
}
