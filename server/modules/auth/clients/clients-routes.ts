import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { DomainError, validationFailed } from '../../../../contract/domain-error.ts'
import { authorizationPathLengthMax } from '../../../../contract/limits.ts'
import { clearSignInCookies, hasCookie, readCookie } from '../../../http/cookies.ts'
import { type Page, sendPage } from '../../../http/page.ts'
import { addRoute } from '../../../http/route.ts'
import type { FormBody } from '../../../http/route-schema.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import { type LiveSession, SessionEndedError, type SessionService } from '../sessions/sessions-types.ts'
import { redirectHeaders } from '../sign-in/oidc-schemas.ts'
import {
  type AuthorizationParameters,
  type AuthorizationRequest,
  parameterNames,
  RejectedAuthorization,
  readAuthorization,
  responseTo,
} from './authorization-request.ts'
import { type ClientAuthorizations, offeredScopes } from './authorizations-service.ts'
import { readClientMetadata } from './client-metadata.ts'
import type { ClientRegistrations } from './client-registrations.ts'
import { AuthorizationQuery, ClientInformation, ClientMetadata, ConsentForm, ConsentPage } from './clients-schemas.ts'
import { consentPage, continuePage } from './consent-page.ts'
import { isLoopback } from './redirect-uris.ts'

/** Title and link of error pages. */
const notConnected = { title: 'The program cannot be connected', next: { path: '/', text: 'Open the Hub' } }

export interface ClientRoutesDeps {
  registrations: ClientRegistrations
  authorizations: ClientAuthorizations
  sessions: Pick<SessionService, 'admit'>
  directory: Pick<TenantDirectory, 'commonUrl'>
}

/** Adds the registration of OAuth clients, and the page on which people authorize them. */
export function addClientRoutes(app: FastifyInstance, deps: ClientRoutesDeps): void {
  addRegistrationRoute(app, deps.registrations)
  const issuerOf = (request: FastifyRequest) => request.hostTenant?.baseUrl ?? deps.directory.commonUrl()
  const read = (request: FastifyRequest, parameters: AuthorizationParameters) =>
    readAuthorization(parameters, {
      registrations: deps.registrations,
      place: request.method === 'GET' ? '/query' : '',
      issuer: issuerOf(request),
      hostTenant: request.hostTenant?.slug,
    })
  addAuthorizationRoute(app, deps, read)
  addConsentRoute(app, deps, read)
}

type ReadRequest = (request: FastifyRequest, parameters: AuthorizationParameters) => AuthorizationRequest

function addRegistrationRoute(app: FastifyInstance, registrations: ClientRegistrations): void {
  addRoute(
    app,
    'registerClient',
    {
      description:
        'Registers a public client for the authorization code grant with PKCE. It needs no credential and gives no ' +
        'access. The id contains the registration, so it does not expire. Errors also have `error` and ' +
        '`error_description`.',
      body: ClientMetadata,
      oauthErrors: true,
      response: { 201: ClientInformation },
    },
    async (request, reply) => {
      await request.credentialCharges.attempt('registration')
      const client = registrations.register(readClientMetadata(request.body), request.hostTenant?.slug)
      reply.status(201)
      return {
        client_id: client.clientId,
        client_id_issued_at: Math.floor(Date.now() / 1000),
        client_name: client.name,
        redirect_uris: [...client.redirectUris],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none' as const,
      }
    },
  )
}

function addAuthorizationRoute(app: FastifyInstance, { sessions }: ClientRoutesDeps, read: ReadRequest): void {
  addRoute(
    app,
    'authorizeClient',
    {
      description:
        'Shows the consent page, after signing in if needed (authorization code with PKCE S256). If client or redirect ' +
        'URI are not valid, the answer is a page and never a redirect.',
      querystring: AuthorizationQuery,
      response: { 200: ConsentPage, 302: Type.Null() },
      responseHeaders: { 302: { location: redirectHeaders.location } },
      problems: ['invalid-tenant', 'authentication-failed'],
      htmlErrors: notConnected,
    },
    async (request, reply) =>
      withRejections(request, reply, 302, async () => {
        if (request.url.length > authorizationPathLengthMax) throw tooLong()
        const asked = read(
          request,
          pick((name) => request.query[name]),
        )
        const live = await admitted(request, reply, sessions)
        if (live) return sendPage(consentPage(asked, live, offeredScopes(asked, live)), reply)
        if (request.headers['sec-fetch-site'] === 'cross-site') return sendPage(continuePage(asked, request.url), reply)
        return reply.redirect(`/sign-in?${new URLSearchParams({ return_to: request.url })}`, 302)
      }),
  )
}

function addConsentRoute(app: FastifyInstance, deps: ClientRoutesDeps, read: ReadRequest): void {
  addRoute(
    app,
    'decideAuthorization',
    {
      description:
        'The form of the consent page. Redirects the browser to the client with `code`, or with `error`; always with ' +
        '`iss` (RFC 9207).',
      credentials: ['session'],
      body: ConsentForm,
      bodyFormat: 'form',
      response: { 200: ConsentPage, 303: Type.Null() },
      responseHeaders: { 303: { location: redirectHeaders.location } },
      htmlErrors: notConnected,
    },
    async (request, reply) =>
      withRejections(request, reply, 303, async () => {
        const form = request.body ?? {}
        const live = await sessionOf(request, reply, deps.sessions)
        const asked = read(
          request,
          pick((name) => single(form, name)),
        )
        const again = (notice: string) => showAgain(asked, live, notice, reply)
        if (single(form, 'session') !== live.sessionId) {
          return again('You are signed in as somebody else than before. Check the page, then decide again.')
        }
        const decision = single(form, 'decision')
        if (decision === 'deny') return reply.redirect(responseTo(asked, { error: 'access_denied' }), 303)
        if (decision !== 'approve') {
          throw validationFailed([{ pointer: '/decision', detail: 'must be one of approve, deny' }])
        }
        const offered = offeredScopes(asked, live)
        const chosen = [form.scopes ?? []].flat()
        if (chosen.some((name) => !offered.some((scope) => scope === name))) {
          throw validationFailed([
            { pointer: '/scopes', detail: 'must be scopes of the page: requested, and of the role' },
          ])
        }
        if (chosen.length === 0) return again('Choose at least one permission, or cancel.')
        const scopes = offered.filter((scope) => chosen.includes(scope))
        const location = await deps.authorizations.approve(asked, live, scopes, {
          address: request.callerAddress,
          requestId: request.id,
          userAgent: request.headers['user-agent'],
        })
        return reply.redirect(location, 303)
      }),
  )
}

function showAgain(asked: AuthorizationRequest, live: LiveSession, notice: string, reply: FastifyReply): FastifyReply {
  const page: Page = consentPage(asked, live, offeredScopes(asked, live), notice)
  return sendPage(page, reply)
}

/**
 * Redirects faults that the client may learn to a program on the person's machine. For another site they are a page:
 * anybody can register a client, so the Hub would redirect people to any address.
 */
async function withRejections(
  request: FastifyRequest,
  reply: FastifyReply,
  status: 302 | 303,
  work: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof RejectedAuthorization) || !isLoopback(error.redirectUri)) throw error
    await request.credentialCharges.attempt()
    return reply.redirect(error.location, status)
  }
}

/** Returns the session of the browser; undefined without one, which counts the request against the address. */
async function admitted(
  request: FastifyRequest,
  reply: FastifyReply,
  sessions: Pick<SessionService, 'admit'>,
): Promise<LiveSession | undefined> {
  if (!hasCookie(request, 'session')) {
    await request.credentialCharges.attempt()
    return undefined
  }
  try {
    return await sessionOf(request, reply, sessions)
  } catch (error) {
    if (!(error instanceof DomainError) || error.slug !== 'authentication-failed') throw error
    await request.credentialCharges.attempt()
    return undefined
  }
}

async function sessionOf(
  request: FastifyRequest,
  reply: FastifyReply,
  sessions: Pick<SessionService, 'admit'>,
): Promise<LiveSession> {
  try {
    return await sessions.admit(
      {
        address: request.callerAddress,
        requestId: request.id,
        tenantHeader: undefined,
        hostTenant: request.hostTenant?.slug,
        charge: request.credentialCharges,
      },
      readCookie(request, reply, 'session'),
    )
  } catch (error) {
    if (error instanceof SessionEndedError) clearSignInCookies(reply)
    throw error
  }
}

function tooLong(): DomainError {
  const detail = `must have at most ${authorizationPathLengthMax} characters, with the path`
  return validationFailed([{ pointer: '/query', detail }])
}

function pick(read: (name: (typeof parameterNames)[number]) => string | undefined): AuthorizationParameters {
  return Object.fromEntries(parameterNames.map((name) => [name, read(name) || undefined]))
}

/** Returns the value of a field; a repeated one is refused (RFC 6749, section 3.1). */
function single(form: FormBody, name: string): string | undefined {
  const value = Object.hasOwn(form, name) ? form[name] : undefined
  if (Array.isArray(value)) throw validationFailed([{ pointer: `/${name}`, detail: 'must be given once' }])
  return value
}
