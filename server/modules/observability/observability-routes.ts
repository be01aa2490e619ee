import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { addRoute, rawJson } from '../../http/route.ts'
import type { HealthService } from './health-service.ts'
import type { OpenApiDocument } from './openapi-components.ts'

const retryAfterSeconds = 2

const LostLogs = Type.Object(
  {
    ok: Type.Literal(false),
    reason: Type.String({ examples: ['Logs with stored checkpoints are missing from the database.'] }),
  },
  { description: 'Absent if every log with stored checkpoints has its tenant and its file' },
)
const Version = Type.String({ description: 'Version of the software', examples: ['0.1.0'] })
const FullStorage = Type.Optional(
  Type.Literal('storage is full', { description: 'A write failed on a full database disk within the last minute' }),
)
const Answering = Type.Object({
  ok: Type.Literal(true),
  latency_ms: Type.Optional(Type.Number({ minimum: 0, examples: [0.8] })),
  reason: FullStorage,
})
const Away = Type.Object({
  ok: Type.Literal(false),
  latency_ms: Type.Optional(Type.Number({ minimum: 0 })),
  reason: FullStorage,
})

const Healthy = Type.Object(
  {
    status: Type.Literal('ok'),
    degraded: Type.Optional(
      Type.Literal(true, {
        description: 'The service answers requests, but a check below is not ok',
        examples: [true],
      }),
    ),
    version: Version,
    checks: Type.Object({ database: Answering, logs: Type.Optional(LostLogs) }),
  },
  { description: 'The service is healthy. `degraded` is present if logs of tenants are missing' },
)
const Unavailable = Type.Object(
  { status: Type.Literal('unavailable'), version: Version, checks: Type.Object({ database: Away }) },
  { description: 'The database is unavailable, and the service recovers by itself; or its disk is full' },
)

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
