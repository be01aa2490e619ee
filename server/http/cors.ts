import cors from '@fastify/cors'
import type { FastifyInstance, FastifyRequest } from 'fastify'

const preflightSeconds = 600
/** The router's own pattern for addresses without OPTIONS (see {@link isForeignOptions}). */
const anyAddress = '*'

/**
 * Lets pages of the web UI call the API with their cookies if the UI has another host of the same site. Pages of other
 * origins get no CORS headers, so browsers hide responses from them. Preflights have no credential, and are answered
 * here before any check of the request.
 *
 * @param browserUrl returns the address of the web UI; called at each use
 */
export function admitBrowserOrigin(app: FastifyInstance, browserUrl: () => string): void {
  const options = {
    origin: async (origin: string | undefined) => origin !== undefined && origin === URL.parse(browserUrl())?.origin,
    credentials: true,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [
      'Authorization',
      'Content-Type',
      'Idempotency-Key',
      'If-Match',
      'If-None-Match',
      'X-Service-Request-ID',
      'X-Service-Tenant',
    ],
    exposedHeaders: ['ETag', 'Location', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Service-Request-ID'],
    maxAge: preflightSeconds,
    strictPreflight: false,
  }
  // Called rather than registered: its hook must run before those that refuse, and registration is deferred.
  cors(app, options, (error) => {
    if (error) throw error
  })
}

/**
 * Returns whether the request is an OPTIONS from outside the UI: no address accepts it, though the router has a route
 * for it.
 */
export function isForeignOptions(request: FastifyRequest): boolean {
  return request.method === 'OPTIONS' && request.routeOptions.url === anyAddress
}
