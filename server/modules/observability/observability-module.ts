import type { FastifyInstance } from 'fastify'
import type { Database } from '../../db/database.ts'
import { addErrorPages } from './error-pages.ts'
import { HealthService } from './health-service.ts'
import { addObservabilityRoutes } from './observability-routes.ts'
import { pingDatabase } from './observability-store.ts'
import { type OpenApiDocument, openApiDocument } from './openapi-document.ts'
import { addReferencePages } from './reference-pages.ts'

export interface ObservabilityModule {
  routes(app: FastifyInstance): void
}

/** Health, the description of the API in three forms, and the pages behind problem types. */
export function createObservabilityModule(deps: {
  database: Pick<Database, 'withRegistry'>
  version: string
}): ObservabilityModule {
  const health = new HealthService({
    version: deps.version,
    pingDatabase: () => deps.database.withRegistry(pingDatabase),
  })
  return {
    routes(app) {
      // Made when first asked for: only then have all modules added their routes.
      let document: OpenApiDocument | undefined
      const describe = () => {
        document ??= openApiDocument(app.hubRoutes)
        return document
      }
      addObservabilityRoutes(app, health, describe)
      addErrorPages(app)
      addReferencePages(app, describe)
    },
  }
}
