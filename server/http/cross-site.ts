import type { FastifyRequest } from 'fastify'
import { DomainError } from '../../contract/domain-error.ts'

/** Other hosts of the site are told from the UI by their Origin, which browsers send with every POST. */
const ofTheSameSite = ['same-origin', 'same-site', 'none']

/**
 * Refuses what a page of another site sends. SameSite keeps the cookies away from it already; this is the second lock,
 * and the one for operations that begin a session. Browsers say where a request is from in `Sec-Fetch-Site` (W3C Fetch
 * Metadata) and in `Origin` (RFC 6454, section 7), and no script can change either. Programs send neither, and pass.
 *
 * @param browserUrl address of the web UI, which may be another host of the same site
 * @throws DomainError `cross-site-request`
 */
export function refuseCrossSite(request: FastifyRequest, browserUrl: string): void {
  const { origin } = request.headers
  const from = request.headers['sec-fetch-site']
  const ui = originOf(browserUrl)
  if (from !== undefined && !ofTheSameSite.includes(String(from))) {
    throw crossSite(`The browser says that it is from: ${shown(from)}.`)
  }
  if (origin === undefined || origin === ui) return
  if (ui !== undefined && origin === originOf(`${new URL(ui).protocol}//${request.host}`)) return
  if (request.hostTenant && origin === originOf(request.hostTenant.baseUrl)) return
  throw crossSite(`Its Origin is ${shown(origin)}, which is not an address of the Hub.`)
}

/** Scheme, host and port as browsers write them. `null`, which frames without an origin send, is none of ours. */
function originOf(url: string): string | undefined {
  return URL.parse(url)?.origin
}

function shown(text: string | string[]): string {
  return JSON.stringify(String(text).slice(0, 100))
}

function crossSite(why: string): DomainError {
  return new DomainError('cross-site-request', `${why} Call this from a page of the Hub.`)
}
