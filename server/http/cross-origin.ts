import cors from '@fastify/cors'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { DomainError } from '../../contract/domain-error.ts'

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

/** Values of `Sec-Fetch-Site` for pages of this host, and for the address bar. */
const ofThisHost = ['same-origin', 'none']

/**
 * Refuses requests from pages of other sites. SameSite already withholds the cookies; this is the second defence, and
 * the only one for operations that begin a session. Browsers state the source of a request in `Sec-Fetch-Site` (W3C
 * Fetch Metadata) and in `Origin` (RFC 6454, section 7), and no script can change either. Programs send neither, and
 * pass.
 * Other hosts of the same site are refused too, except the one in `HUB_BROWSER_URL`: its Origin, which browsers send
 * with every POST, distinguishes it from its neighbours.
 *
 * @param own address of the API
 * @param browserUrl address of the web UI if it has another host of the same site
 * @throws DomainError `cross-site-request`
 */
export function rejectCrossSite(request: FastifyRequest, own: string, browserUrl?: string): void {
  const { origin } = request.headers
  const from = request.headers['sec-fetch-site']
  const ui = browserUrl === undefined ? undefined : originOf(browserUrl)
  const isOfUi = ui !== undefined && (origin === undefined || origin === ui)
  if (from !== undefined && !ofThisHost.includes(String(from)) && !(from === 'same-site' && isOfUi)) {
    throw crossSite(`Its Sec-Fetch-Site is: ${shown(from)}.`)
  }
  if (origin === undefined || origin === (ui ?? originOf(own))) return
  if (origin === originOf(`${new URL(ui ?? own).protocol}//${request.host}`)) return
  if (request.hostTenant && origin === originOf(request.hostTenant.baseUrl)) return
  throw crossSite(`Its Origin is ${shown(origin)}, which is not an address of the Hub.`)
}

/** Returns scheme, host and port as browsers write them. `null`, which frames without an origin send, never matches. */
function originOf(url: string): string | undefined {
  return URL.parse(url)?.origin
}

function shown(text: string | string[]): string {
  return JSON.stringify(String(text).slice(0, 100))
}

function crossSite(why: string): DomainError {
  return new DomainError('cross-site-request', `${why} Call it from a page of the Hub.`)
}
