import type { FastifyInstance, FastifyRequest } from 'fastify'
import { runAs, tracer, type Work } from '../tracing/current-work.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Names the request for the log of slow statements, and has its span while traces are exported. */
    work: Work
  }
}

const versionOfTraceContext = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/**
 * Runs each request as work of its own, with a span that continues the trace of the caller. Call it before adding any
 * hook that reads the database.
 */
export function traceRequests(app: FastifyInstance): void {
  app.decorateRequest('work', null as unknown as Work)
  app.addHook('onRequest', (request, reply, done) => {
    const { traceparent } = request.headers
    const parent = typeof traceparent === 'string' && versionOfTraceContext.test(traceparent) ? traceparent : undefined
    const operation = operationOf(request)
    const span = tracer()?.start('server', `${request.method} ${routeOf(request)}`, parent)
    request.work = { operation, span }
    if (span) {
      span.set('http.request.method', request.method)
      span.set('http.route', routeOf(request))
      span.set('hub.operation', operation)
      span.set('hub.request_id', request.id)
      // It also closes when the caller hangs up, before the response has ended.
      reply.raw.once('close', () => {
        if (request.hubTenant) span.set('hub.tenant_id', request.hubTenant.slug)
        span.set('http.response.status_code', reply.raw.statusCode)
        if (request.problemSlug) span.set('hub.problem', request.problemSlug)
        if (!reply.raw.writableEnded) span.end({ type: 'closed' })
        else span.end(reply.raw.statusCode >= 500 ? { type: String(reply.raw.statusCode) } : undefined)
      })
    }
    runAs(request.work, done)
  })
  // The end of a body is an event of the connection, which belongs to no request.
  app.addHook('preValidation', (request, _reply, done) => runAs(request.work, done))
}

function operationOf({ routeOptions }: FastifyRequest): string {
  const { route, protocol } = routeOptions.config
  return route?.operationId ?? protocol?.name ?? 'none'
}

function routeOf({ routeOptions }: FastifyRequest): string {
  return routeOptions.config.route?.operation.path ?? routeOptions.url ?? 'none'
}
