import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { addRoute, rawJson } from '../../http/route.ts'
import type { HealthService } from './health-service.ts'
import type { OpenApiDocument } from './openapi-document.ts'

const retryAfterSeconds = 2

function healthSchema(status: 'ok' | 'unavailable', description: string) {
  const ok = status === 'ok'
  return Type.Object(
    {
      status: Type.Literal(status),
      version: Type.String({ description: 'Version of the software', examples: ['0.1.0'] }),
      checks: Type.Object({
        database: Type.Object({
          ok: Type.Literal(ok),
          latency_ms: Type.Optional(Type.Number({ minimum: 0, ...(ok && { examples: [0.8] }) })),
          reason: Type.Optional(
            Type.Literal('storage is full', { description: 'A write met a full disk of the database within a minute' }),
          ),
        }),
      }),
    },
    { description },
  )
}

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
        200: healthSchema('ok', 'The service answers requests'),
        503: healthSchema(
          'unavailable',
          'The database is away, and the service recovers by itself; or its disk is full',
        ),
      },
      responseHeaders: { 503: { 'retry-after': Type.Integer({ description: 'Seconds to wait', minimum: 1 }) } },
    },
    async (_request, reply) => {
      const found = await health.check()
      if (found.status === 'unavailable') reply.code(503).header('retry-after', String(retryAfterSeconds))
      return found as { status: 'ok'; version: string; checks: { database: { ok: true } } }
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
