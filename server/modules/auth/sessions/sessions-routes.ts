import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { validationFailed } from '../../../../contract/domain-error.ts'
import { pageSizeDefault } from '../../../../contract/limits.ts'
import { PageQuery } from '../../../../contract/request-schemas.ts'
import { bearerToken, tenantHeaderOf } from '../../../http/auth-middleware.ts'
import { clearCookie, clearSignInCookies, readCookie, setRefreshCookie } from '../../../http/cookies.ts'
import { addRoute } from '../../../http/route.ts'
import { UserTokenResponse } from '../auth-schemas.ts'
import {
  LogoutBody,
  MeResponse,
  OptionalTenantHeader,
  RefreshBody,
  SessionList,
  SessionParams,
} from './sessions-schemas.ts'
import { type Credentials, type SessionCall, SessionEndedError, type SessionService } from './sessions-types.ts'

const headers = OptionalTenantHeader
const byEither = ['session', 'bearer'] as const

export function addSessionRoutes(app: FastifyInstance, sessions: SessionService): void {
  addSignedInRoutes(app, sessions)
  addCurrentUserRoutes(app, sessions)
}

/** Adds the routes that continue and end the session of a browser. */
function addSignedInRoutes(app: FastifyInstance, sessions: SessionService): void {
  addRoute(
    app,
    'issueUserToken',
    {
      description:
        'With the cookie `service_session` and no body, returns the first tokens. With `refresh_token` and the ' +
        'cookie `__Secure-service_refresh`, which the first response sets, returns the next ones. Each refresh ' +
        'token is valid once. For 20 seconds after its use it returns the same successor, for tabs that refresh ' +
        'at the same time; a later use ends the session.',
      credentials: ['session', 'refresh'],
      headers,
      body: RefreshBody,
      bodyOptional: true,
      response: { 200: UserTokenResponse },
    },
    async (request, reply) => {
      const refreshToken = refreshTokenOf(request.body ?? {})
      const issued = await clearingWhatIsOver(reply, async () => {
        const call = callOf(request)
        const cookies = cookiesOf(request, reply)
        return refreshToken === undefined
          ? sessions.issue(call, cookies.session)
          : sessions.refresh(call, refreshToken, cookies.refresh)
      })
      setRefreshCookie(reply, issued.refreshCookie, issued.expiresAtMs)
      return issued.token
    },
  )

  addRoute(
    app,
    'logOut',
    {
      description: 'Authenticates by session cookie or access token. The cookies are cleared in every case.',
      credentials: byEither,
      headers,
      body: LogoutBody,
      bodyOptional: true,
      response: { 204: Type.Null() },
    },
    async (request, reply) => {
      await clearingWhatIsOver(reply, async () => {
        const everywhere = request.body?.everywhere ?? false
        await sessions.logOut(unlimited(callOf(request), request), credentialsOf(request, reply), everywhere)
      })
      clearSignInCookies(reply)
      clearCookie(reply, 'login')
      return reply.code(204).send()
    },
  )
}

/** Adds the routes about the caller and its sessions. */
function addCurrentUserRoutes(app: FastifyInstance, sessions: SessionService): void {
  addRoute(
    app,
    'getMe',
    {
      description: 'Authenticates by access token of a person or service account, or by session cookie.',
      credentials: byEither,
      headers,
      response: { 200: MeResponse },
    },
    async (request, reply) => bySignIn(request, reply, (call, credentials) => sessions.me(call, credentials)),
  )

  addRoute(
    app,
    'listSessions',
    {
      description:
        'Returns active sessions, newest first. Authorizations of OAuth clients are sessions with `client_name`. With ' +
        'the token of such a client, only its own. A service account has none.',
      credentials: byEither,
      headers,
      querystring: PageQuery,
      response: { 200: SessionList },
      problems: ['invalid-cursor'],
    },
    async (request, reply) => {
      const { limit = pageSizeDefault, cursor } = request.query
      return bySignIn(request, reply, (call, credentials) => sessions.list(call, credentials, { limit, cursor }))
    },
  )

  addRoute(
    app,
    'endSession',
    {
      description:
        "Ends one of the caller's sessions, such as the authorization of an OAuth client; its access tokens end within " +
        '5 seconds. With the token of a client, only its own authorization.',
      credentials: byEither,
      headers,
      params: SessionParams,
      response: { 204: Type.Null() },
    },
    async (request, reply) => {
      const { session_id: sessionId } = request.params
      const { current } = await bySignIn(request, reply, (call, credentials) =>
        sessions.end(unlimited(call, request), credentials, sessionId),
      )
      if (current) clearSignInCookies(reply)
      return reply.code(204).send()
    },
  )
}

function callOf(request: FastifyRequest): SessionCall {
  return {
    address: request.callerAddress,
    requestId: request.id,
    tenantHeader: tenantHeaderOf(request),
    hostTenant: request.hostTenant?.slug,
    charge: request.credentialCharges,
  }
}

/** Counts calls that end sessions without limiting them, so that nobody has to wait to sign out. */
function unlimited(call: SessionCall, { credentialCharges }: FastifyRequest): SessionCall {
  return { ...call, charge: { succeed: credentialCharges.count } }
}

/** Reads both cookies, also the one the call does not need: a cookie that occurs twice was planted. */
function cookiesOf(request: FastifyRequest, reply: FastifyReply) {
  return { session: readCookie(request, reply, 'session'), refresh: readCookie(request, reply, 'refresh') }
}

function credentialsOf(request: FastifyRequest, reply: FastifyReply): Credentials {
  return {
    bearer: request.headers.authorization === undefined ? undefined : bearerToken(request),
    sessionToken: readCookie(request, reply, 'session'),
  }
}

/**
 * Clears the cookies of an ended session, unless the call used an access token: the cookies may belong to another
 * session.
 */
async function bySignIn<Answer>(
  request: FastifyRequest,
  reply: FastifyReply,
  work: (call: SessionCall, credentials: Credentials) => Promise<Answer>,
): Promise<Answer> {
  const call = callOf(request)
  const credentials = credentialsOf(request, reply)
  if (credentials.bearer !== undefined) return work(call, credentials)
  return clearingWhatIsOver(reply, () => work(call, credentials))
}

async function clearingWhatIsOver<Answer>(reply: FastifyReply, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof SessionEndedError) clearSignInCookies(reply)
    throw error
  }
}

function refreshTokenOf(body: { grant_type?: 'refresh_token'; refresh_token?: string }): string | undefined {
  const { grant_type: grantType, refresh_token: refreshToken } = body
  if (grantType !== undefined && refreshToken === undefined) {
    throw validationFailed([{ pointer: '/refresh_token', detail: 'is required when grant_type is' }])
  }
  if (refreshToken !== undefined && grantType === undefined) {
    throw validationFailed([{ pointer: '/grant_type', detail: 'must be "refresh_token" if refresh_token is present' }])
  }
  return refreshToken
}
