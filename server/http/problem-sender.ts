import type { FastifyReply, FastifyRequest } from 'fastify'
import { type DomainError, isStorageFull } from '../../contract/domain-error.ts'
import { html, type Page, sendPage } from './page.ts'
import { asDomainError, type ProblemDocument, problemDocument, withOAuthMembers } from './problem-document.ts'
import { sendProtocolText } from './protocol.ts'
import { acceptedTypes, requestIdHeader } from './request-headers.ts'
import type { ErrorPageHints } from './route-schema.ts'

export type SendProblem = (request: FastifyRequest, reply: FastifyReply, error: unknown) => FastifyReply

/**
 * Responds to any error with a problem document and the headers of its kind; logs unexpected errors.
 *
 * @param headers common headers of every response
 */
export function problemSender(serviceBaseUrl: () => string, headers: Readonly<Record<string, string>>): SendProblem {
  return (request, reply, thrown) => {
    const error = asDomainError(thrown)
    logFailure(request, error, thrown)
    request.problemSlug = error.slug
    const { baseUrl = serviceBaseUrl() } = request.hubTenant ?? request.hostTenant ?? {}
    const document = problemDocument(error, baseUrl, request.id)
    const { route, page, protocol } = request.routeOptions?.config ?? {}
    const { oauthErrors: isOAuth = false, htmlErrors } = route?.schema ?? {}
    reply.status(error.status).headers(headers).header(requestIdHeader, request.id)
    setRetryAfter(reply, error)
    setChallenge(request, reply, error, baseUrl)
    // The parser requests a close, but the rest of the body is discarded so that the response arrives.
    reply.removeHeader('connection')
    if (error.slug === 'unsupported-media-type') {
      reply.header('accept-encoding', route?.schema.bodyFormat === 'bytes' ? 'identity' : 'gzip, identity')
    }
    if (protocol) {
      const { status, body, mediaType = protocol.mediaType } = protocol.renderError(error, request)
      return sendProtocolText(reply.status(status).type(mediaType), body)
    }
    if ((htmlErrors || page !== undefined) && prefersHtml(request.headers.accept)) {
      return sendPage(problemPage(error, document, htmlErrors), reply)
    }
    reply.type(isOAuth && asksForPlainJson(request) ? 'application/json' : 'application/problem+json')
    return reply.send(JSON.stringify(isOAuth ? withOAuthMembers(document) : document))
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The slug of the problem in the response, for the log. */
    problemSlug: string | null
  }
}

function logFailure(request: FastifyRequest, error: DomainError, thrown: unknown): void {
  const isFull: boolean = isStorageFull(error)
  if (error.slug === 'internal')
    request.log.error({ err: thrown === error ? (error.cause ?? error) : thrown }, 'request failed')
  else if (isFull) request.log.error({ err: error.cause ?? error, full: error.extensions.full }, 'storage is full')
  else if (error.status >= 500 && error.logged)
    request.log.warn({ err: error.cause ?? error }, 'request could not be served')
}

function setRetryAfter(reply: FastifyReply, error: DomainError): void {
  const seconds = error.retryAfterSeconds ?? (error.slug === 'hub-unavailable' ? 2 : undefined)
  if (seconds !== undefined) reply.header('retry-after', String(Math.max(1, Math.ceil(seconds))))
}

/**
 * Sets `WWW-Authenticate`, in the form of RFC 6750, section 3 if a bearer token is required. If a client may
 * authenticate by Basic, a refused Authorization header gets a challenge; a refused body does not (RFC 6749, section
 * 5.2).
 */
function setChallenge(request: FastifyRequest, reply: FastifyReply, error: DomainError, baseUrl: string): void {
  const { route, protocol } = request.routeOptions?.config ?? {}
  const { operation, schema } = route ?? {}
  if (schema?.credentials?.includes('clientBasic') && request.headers.authorization !== undefined) {
    if (error.slug === 'authentication-failed') reply.header('www-authenticate', 'Basic realm="Org-Memory Hub"')
  }
  if (operation?.access.kind !== 'token' && !protocol) return
  if (error.slug === 'authentication-failed') {
    const sent = request.headers.authorization !== undefined
    const metadata = operation?.isProtectedResource
      ? `, resource_metadata="${baseUrl}/.well-known/oauth-protected-resource"`
      : ''
    reply.header('www-authenticate', `Bearer realm="hub"${sent ? ', error="invalid_token"' : ''}${metadata}`)
  } else if (error.slug === 'insufficient-scope') {
    const scope = (error.extensions.required_scopes as string[] | undefined)?.join(' ') ?? ''
    reply.header('www-authenticate', `Bearer realm="hub", error="insufficient_scope", scope="${scope}"`)
  }
}

/**
 * Returns whether the client accepts only plain JSON: standard OAuth clients accept application/json and read nothing
 * else.
 */
function asksForPlainJson(request: FastifyRequest): boolean {
  const accepted = acceptedTypes(request.headers.accept)
  return accepted.has('application/json') && !accepted.has('application/problem+json')
}

/** Renders a problem for people: its cause, its fix, and the request id for an administrator. */
export function problemPage(error: DomainError, document: ProblemDocument, hints?: ErrorPageHints): Page {
  const { status, detail, type, instance } = document
  const { title = document.title, next } = hints ?? {}
  const places = error.errors && error.errors.length > 1 ? error.errors : []
  const body = html`<h1>${title}</h1>
<p>${detail}</p>
${places.map((place) => html`<p>${place.pointer} ${place.detail}</p>`)}
${next ? html`<p><a href="${next.path}">${next.text}</a></p>` : html``}
<p class="soft"><a href="${type}">What this error means</a>. If it stays, tell your administrator
the request id <code>${instance}</code>.</p>`
  return { title, body, status, noStore: true }
}

/** Returns whether an Accept header prefers HTML to JSON (RFC 9110, section 12.5.1). */
export function prefersHtml(accept: string | undefined): boolean {
  const weights = acceptedTypes(accept)
  const json = Math.max(weights.get('application/json') ?? 0, weights.get('application/problem+json') ?? 0)
  return (weights.get('text/html') ?? 0) > json
}
