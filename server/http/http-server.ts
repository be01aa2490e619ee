import type { IncomingMessage, ServerResponse } from 'node:http'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyContextConfig,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { DomainError } from '../../contract/domain-error.ts'
import { bodyBounds, recordBodyBytesMax } from '../../contract/limits.ts'
import type { Config } from '../config.ts'
import { type AuthMiddlewareOptions, authenticateCaller } from './auth-middleware.ts'
import { BodyDeadline } from './body/body-deadline.ts'
import { createBodyMemoryLimit } from './body/body-memory-limit.ts'
import { handleMalformedRequests } from './body/malformed-requests.ts'
import { boundPipelining } from './body/pipelined-requests.ts'
import { readBody } from './body/request-body.ts'
import { createResponseBudget, limitResponses } from './body/response-budget.ts'
import type { Caller, Tenant } from './caller.ts'
import { admitBrowserOrigin, isForeignOptions, rejectCrossSite } from './cross-origin.ts'
import { checkOperator, checkSomeCredential } from './own-credentials.ts'
import { asDomainError } from './problem-document.ts'
import { prefersHtml, problemSender } from './problem-sender.ts'
import { isByToken, type Protocol } from './protocol.ts'
import { parseQuery } from './query-string.ts'
import { type CredentialCharges, credentialCharges } from './rate-limits/credential-charges.ts'
import {
  callerAddressOf,
  checkHost,
  checkLoopbackHost,
  checkVersion,
  requestIdHeader,
  requestIdOf,
} from './request-headers.ts'
import { logRequests } from './request-log.ts'
import { traceRequests } from './request-trace.ts'
import { validateResponses } from './response-validation.ts'
import { RouteIndex } from './route-index.ts'
import { headersOfEveryResponse } from './security-headers.ts'

export interface HttpServerOptions extends Omit<AuthMiddlewareOptions, 'limitFactor'> {
  config: Pick<Config, 'environment' | 'trustedProxies' | 'limitFactor'>
  /** Returns the address without a trailing slash. Called at each use, because it is known only once the port is. */
  baseUrl: () => string
  /** Returns the address of the web UI, in the same way; default: `baseUrl`. */
  browserUrl?: () => string
  logger: FastifyBaseLogger
  /** The token of the operator; without it the operator's operations are closed. */
  operatorToken?: string | undefined
  /** Milliseconds for a body, in addition to those for its size. Default 20,000. */
  bodyGraceMs?: number
  /**
   * Milliseconds after which an inactive connection is closed, twice as many while data waits to be sent. Default
   * 120,000.
   */
  inactiveMs?: number
  /** Compares every response with the schema of its route and fails the request if it differs: for tests. */
  checkResponses?: boolean
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns the web UI's page for an unknown address, and sets its headers; undefined without one. */
    notFoundPage: ((request: FastifyRequest, reply: FastifyReply) => Promise<string | undefined>) | undefined
  }
  interface FastifyRequest {
    /** The authenticated caller; `caller` throws without one. */
    admittedCaller: Caller | null
    /** The tenant of the request, once it is known to be the caller's; problem types use its address. */
    hubTenant: Tenant | null
    /** The only tenant that is served at the host of the request, if that is a tenant's own address. */
    hostTenant: Tenant | null
    /** Counts an operation with a credential of its own, or the form of a page. */
    credentialCharges: CredentialCharges
    /** Counts one more request of the caller, for a large body; null without a known caller. Throws `rate-limited`. */
    chargeAgain: (() => Promise<void>) | null
    /** The address of the caller, read while the connection exists: after a hang-up it would be unknown. */
    callerAddress: string
    /** The response whose close releases everything held for the request. */
    rawResponse: ServerResponse
  }
}

/** Bounds the responses that wait for their readers: eight pages of the largest records. */
const responsesBytesMax = 128 * 1024 * 1024
const requestTimeoutMs = 120_000
/** Longer than any request takes: it ends connections whose client does not accept its response. */
const inactiveMsDefault = 120_000
const headersTimeoutMs = 20_000
/** Milliseconds between two searches for connections that exceeded one of the two timeouts. */
const connectionsCheckedMs = 5_000
const bodyGraceMsDefault = 20_000
/** Maximum bytes of all large bodies together; parsed, they take several times as much. */
const bodiesBytesMax = 96 * 1024 * 1024

/**
 * Creates the HTTP server without routes: request ids, problem documents, access, limits, bodies, logs. Routes are
 * added only by `addRoute` and `addPage`, and nothing else answers.
 * Order of checks: host, 404/405, version 406, cross-site 403, credential 401 (if the handler checks it, only its
 * presence), tenant header 400, tenant 403, scope 403, rate 429, media type 415, size 413, JSON 400, schemas 400; then
 * those of the handler. Preflights of a web UI at another host are answered before all checks.
 */
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const { config, logger, baseUrl, browserUrl } = options
  const headers = headersOfEveryResponse(config.environment)
  const sendProblem = problemSender(baseUrl, headers)
  const app = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    requestIdHeader: false,
    genReqId: (raw) => requestIdOf(raw.headers[requestIdHeader]),
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    bodyLimit: recordBodyBytesMax,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: options.inactiveMs ?? inactiveMsDefault,
    // Requests that arrive while the server drains are still answered; only the connection is closed afterwards.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // The header size bounds it; a shorter limit would answer before the order of checks.
    routerOptions: { maxParamLength: 16_384, querystringParser: parseQuery },
    rewriteUrl: (raw) => plainColons(raw.url ?? '/'),
    http: {
      requireHostHeader: false,
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: connectionsCheckedMs,
    },
    frameworkErrors: (error, request, reply) => sendProblem(request, reply as FastifyReply, error),
  })
  app.addHook('onRequest', (request, reply, done) => {
    request.callerAddress = callerAddressOf(request)
    request.rawResponse = reply.raw
    reply.header(requestIdHeader, request.id).headers(headers)
    done()
  })
  traceRequests(app)
  if (browserUrl) admitBrowserOrigin(app, browserUrl)
  const index = new RouteIndex()
  app.decorate('hubRoutes', new Map())
  app.decorate('notFoundPage', undefined)
  app.addHook('onRoute', (route) => index.add(route))
  decorateRequests(app)
  handleMalformedRequests(app.server, baseUrl, headers)
  boundPipelining(app.server)
  limitResponses(
    app,
    createResponseBudget(responsesBytesMax, () =>
      logger.warn('a connection was closed: the client does not read its responses'),
    ),
  )
  limitBodies(app, new BodyDeadline(options.bodyGraceMs ?? bodyGraceMsDefault))
  logRequests(app)

  const access = { ...options, limitFactor: config.limitFactor }
  app.addHook('onRequest', async (request, reply) => {
    checkHost(request)
    request.hostTenant = (await access.access.tenantAt(request.host)) ?? null
    if (config.environment === 'development') checkLoopbackHost(request.headers.host)
    if (request.is404 || isForeignOptions(request)) {
      const error = notFound(index.methodsAt(request.url), request, reply)
      const page = error.slug === 'not-found' && isOfPeople(request) && (await app.notFoundPage?.(request, reply))
      if (!page) throw error
      request.problemSlug = error.slug
      return reply.code(404).send(page)
    }
    const { route, page, protocol } = request.routeOptions.config
    if (route?.operation.access.kind === 'own' || page !== undefined || (protocol && !isByToken(protocol, request))) {
      const rateClass = route?.operation.rateClass ?? protocol?.rateClass ?? 'auth'
      const failures = protocol?.access ? 'auth' : rateClass
      request.credentialCharges = credentialCharges(request, reply, access, rateClass, failures)
    }
    checkVersion(request.headers.accept)
    if (route?.operation.sameSiteOnly || page === 'action') rejectCrossSite(request, baseUrl(), browserUrl?.())
    await admit(request, reply, access)
  })
  // Checks all parts of the request together; a route's own `schema` would stop at its first part.
  app.addHook('preValidation', (request, _reply, done) => {
    request.routeOptions.config.route?.validate(request)
    done()
  })
  if (options.checkResponses) validateResponses(app)
  app.setErrorHandler(async (error, request, reply) => {
    // Every refusal of an operation with a credential of its own is counted here, regardless of its source.
    const charges = request.credentialCharges as CredentialCharges | undefined
    return sendProblem(request, reply, charges ? await charges.refused(asDomainError(error)) : error)
  })
  app.setNotFoundHandler((request, reply) => sendProblem(request, reply, notFound([], request, reply)))
  app.setSerializerCompiler(() => JSON.stringify)
  return app
}

type TokenProtocol = Protocol & { access: object }

async function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  options: AuthMiddlewareOptions & Pick<HttpServerOptions, 'operatorToken'>,
): Promise<void> {
  const { route, protocol } = request.routeOptions.config
  if (protocol?.access && isByToken(protocol, request)) {
    request.admittedCaller = await authenticateCaller(request, reply, protocol as TokenProtocol, options)
    return
  }
  await protocol?.admit(request)
  if (route === undefined) return
  const { access, rateClass, isProtectedResource } = route.operation
  if (access.kind === 'own') checkSomeCredential(request, reply, route.schema.credentials)
  if (route.schema.credentials?.includes('operator')) await checkOperator(request, options.operatorToken)
  if (access.kind !== 'token') return
  request.admittedCaller = await authenticateCaller(request, reply, { access, rateClass, isProtectedResource }, options)
}

function decorateRequests(app: FastifyInstance): void {
  app.decorateRequest('admittedCaller', null)
  app.decorateRequest('hubTenant', null)
  app.decorateRequest('hostTenant', null)
  app.decorateRequest('credentialCharges')
  app.decorateRequest('chargeAgain', null)
  app.decorateRequest('callerAddress', '')
  app.decorateRequest('rawResponse')
  app.decorateRequest('caller', {
    getter(this: FastifyRequest): Caller {
      if (this.admittedCaller === null) throw new Error('This operation takes no token, so it has no caller.')
      return this.admittedCaller
    },
  })
}

/** Replaces the body parsers, and ends bodies that are too slow, read or not. */
function limitBodies(app: FastifyInstance, deadline: BodyDeadline): void {
  const budget = createBodyMemoryLimit(bodiesBytesMax)
  app.removeAllContentTypeParsers()
  // Fastify finds named types at once; for those that only `*` matches, it parses the header of every request again.
  const mediaTypes = ['application/json', 'application/x-www-form-urlencoded', '*']
  app.addContentTypeParser(mediaTypes, (request: FastifyRequest, payload: IncomingMessage) => {
    const { config } = request.routeOptions
    const kind = config.page === 'action' ? 'form' : (config.protocol?.body ?? config.route?.operation.body)
    const tooSlow = deadline.watch(payload)
    const body = readBody(request.headers, payload, {
      format: config.page === 'action' ? formatOfAction(request) : bodyFormatOf(config),
      mediaType: config.protocol?.mediaType,
      // A GET or DELETE needs no body, but may have one.
      bounds: bodyBounds[kind ?? 'settings'],
      held: budget.bodyOf(request.rawResponse),
      charge: request.chargeAgain,
    })
    return tooSlow ? Promise.race([body, tooSlow]) : body
  })
  // Handles requests that were answered without their body, such as refused ones.
  app.addHook('onResponse', (request, _reply, done) => {
    void deadline.watch(request.raw)
    done()
  })
}

function bodyFormatOf({ route, protocol }: FastifyContextConfig): 'json' | 'form' | 'bytes' | 'raw' {
  return protocol?.bodyFormat ?? route?.schema.bodyFormat ?? 'json'
}

/** Returns the format of an action: browsers send forms, programs JSON. */
function formatOfAction(request: FastifyRequest): 'form' | 'json' {
  return request.headers['content-type']?.startsWith('application/json') ? 'json' : 'form'
}

/** Decodes `%3A` in a path to a colon: clients differ in whether they encode the colon before a verb. */
function plainColons(url: string): string {
  const queryAt = url.indexOf('?')
  const path = queryAt < 0 ? url : url.slice(0, queryAt)
  if (!/%3a/i.test(path)) return url
  return path.replaceAll(/%3a/gi, ':') + (queryAt < 0 ? '' : url.slice(queryAt))
}

/** First segments of the addresses that programs call. A mistyped one gets a problem document, in browsers too. */
const ofPrograms = ['api', 'v1', 'scim', '.well-known', 'assets']

/** Returns whether a browser shows the response to a person: an address of pages, called by a navigation. */
function isOfPeople({ method, url, headers }: FastifyRequest): boolean {
  const [, segment = ''] = /^\/([^/?]*)/.exec(url) ?? []
  return (method === 'GET' || method === 'HEAD') && !ofPrograms.includes(segment) && prefersHtml(headers.accept)
}

function notFound(methods: string[], request: FastifyRequest, reply: FastifyReply): DomainError {
  if (methods.length === 0) return new DomainError('not-found', 'No operation exists at this address.')
  const allowed = methods.join(', ')
  reply.header('allow', allowed)
  return new DomainError('method-not-allowed', `This address accepts ${allowed}, not ${request.method}.`)
}
