import cors from '@fastify/cors'
import type { FastifyInstance, FastifyRequest } from 'fastify'

const preflightSeconds = 600
/** Of the router's own making, for addresses that take no OPTIONS: see {@link isForeignOptions}. */
const anyAddress = '*'

/**
 * Lets pages of the web UI call the API with their cookies, where the UI is at another host of the same site. Pages of
 * other origins are told nothing, so browsers keep answers from them. Preflights, which have no credential, are answered
 * here, before anything is asked of the request.
 *
 * @param browserUrl address of the web UI, asked at each use
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
  // Called rather than registered: its hook has to stand before those that refuse, and registering is for later.
  cors(app, options, (error) => {
    if (error) throw error
  })
}

/** Whether the request is an OPTIONS that is not the UI's: no address takes it, though the router has a route for it. */
export function isForeignOptions(request: FastifyRequest): boolean {
  return request.method === 'OPTIONS' && request.routeOptions.url === anyAddress
}
