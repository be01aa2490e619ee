import type { FastifyInstance } from 'fastify'
import type { Database } from '../../db/database.ts'
import type { RecordClock } from '../../records/record-clock.ts'
import type { StoredCheckpoints } from '../log/log-types.ts'
import { HealthService } from './health-service.ts'
import { addObservabilityRoutes, addTenantHealthRoutes } from './observability-routes.ts'
import type { OpenApiDocument } from './openapi-components.ts'
import { openApiDocument } from './openapi-document.ts'
import { addErrorPages, addReferencePages } from './reference-pages.ts'
import type { HealthSources } from './tenant-health-types.ts'

export interface ObservabilityModule {
  routes(app: FastifyInstance): void
}

/** Creates the module: health, the description of the API in three forms, and the pages of problem types. */
export function createObservabilityModule(deps: {
  database: Pick<Database, 'ping' | 'withTenant'>
  version: string
  clock: RecordClock
  lostLogs: StoredCheckpoints['lostLogs']
  /** Sources of the health of a tenant. */
  sources: HealthSources
}): ObservabilityModule {
  const health = new HealthService({
    version: deps.version,
    pingDatabase: () => deps.database.ping(),
    areLogsLost: async () => (await deps.lostLogs()).length > 0,
  })
  return {
    routes(app) {
      // Created on first request: only then have all modules added their routes.
      let document: OpenApiDocument | undefined
      const describe = () => {
        document ??= openApiDocument(app.hubRoutes)
        return document
      }
      addObservabilityRoutes(app, health, describe)
      addTenantHealthRoutes(app, deps)
      addErrorPages(app)
      addReferencePages(app, describe)
    },
  }
}
