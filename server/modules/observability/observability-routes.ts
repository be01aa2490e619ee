import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { addRoute, rawJson } from '../../http/route.ts'
import { type HealthService, Healthy, Unavailable } from './health-service.ts'
import type { OpenApiDocument } from './openapi-components.ts'
import { TenantHealthResponse } from './tenant-health-schemas.ts'
import { readTenantHealth, type TenantHealthDeps } from './tenant-health-service.ts'

const retryAfterSeconds = 2

const Description = Type.Object(
  { openapi: Type.String(), paths: Type.Object({}) },
  { description: 'OpenAPI 3.1 document', examples: [{ openapi: '3.1.0', paths: {} }] },
)

export function addObservabilityRoutes(
  app: FastifyInstance,
  health: HealthService,
  describe: () => OpenApiDocument,
): void {
  addRoute(
    app,
    'getHealth',
    {
      description: 'Needs no token and no tenant header.',
      response: {
        200: Healthy,
        503: Unavailable,
      },
      responseHeaders: { 503: { 'retry-after': Type.Integer({ description: 'Seconds to wait', minimum: 1 }) } },
    },
    async (_request, reply) => {
      const found = await health.check()
      if (found.status === 'unavailable') reply.code(503).header('retry-after', String(retryAfterSeconds))
      return found as Static<typeof Healthy>
    },
  )

  let text: string | undefined
  addRoute(
    app,
    'getOpenApi',
    { description: 'Needs no token and no tenant header.', response: { 200: Description } },
    async (_request, reply) => {
      text ??= JSON.stringify(describe())
      reply.header('cache-control', 'public, max-age=60')
      return rawJson(reply, text)
    },
  )
}

export function addTenantHealthRoutes(app: FastifyInstance, deps: TenantHealthDeps): void {
  addRoute(
    app,
    'getTenantHealth',
    {
      description:
        'Accepts any valid token of the tenant. Each check has figures, and explains what is missing and which ' +
        'operation to call.',
      response: { 200: TenantHealthResponse },
    },
    async ({ caller }) => readTenantHealth(deps, caller),
  )
}
