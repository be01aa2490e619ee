import type { IncomingMessage, ServerResponse } from 'node:http'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { DomainError } from '../../contract/domain-error.ts'
import { bodyBounds, recordBodyBytesMax } from '../../contract/limits.ts'
import type { Config } from '../config.ts'
import { type AuthMiddlewareOptions, authenticateCaller } from './auth-middleware.ts'
import { createAnswerBudget, limitAnswers } from './body/answer-budget.ts'
import { BodyDeadline } from './body/body-deadline.ts'
import { createBodyMemoryLimit } from './body/body-memory-limit.ts'
import { handleMalformedRequests } from './body/malformed-requests.ts'
import { boundPipelining } from './body/pipelined-requests.ts'
import { readBody } from './body/request-body.ts'
import type { Caller, Tenant } from './caller.ts'
import { callerAddressOf } from './caller-address.ts'
import { admitBrowserOrigin, isForeignOptions } from './cors.ts'
import { rejectCrossSite } from './csrf-protection.ts'
import { checkOperator } from './operator-access.ts'
import { checkSomeCredential } from './own-credentials.ts'
import { asDomainError } from './problem-document.ts'
import { prefersHtml } from './problem-page.ts'
import { problemSender } from './problem-sender.ts'
import { parseQuery } from './query-string.ts'
import { type CredentialCharges, credentialCharges } from './rate-limits/credential-charges.ts'
import { checkHost, checkLoopbackHost, checkVersion } from './request-headers.ts'
import { requestIdHeader, requestIdOf } from './request-id.ts'
import { logRequests } from './request-log.ts'
import { validateResponses } from './response-validation.ts'
import { RouteIndex } from './route-index.ts'
import { headersOfEveryAnswer } from './security-headers.ts'

export interface HttpServerOptions extends Omit<AuthMiddlewareOptions, 'limitFactor'> {
  config: Pick<Config, 'environment' | 'trustedProxies' | 'limitFactor'>
  /** Asked at each use, for it is settled only when the port is. Without a trailing slash. */
  baseUrl: () => string
  /** Address of the web UI where it may be another, in the same way; without it the UI is at `baseUrl`. */
  browserUrl?: () => string
  logger: FastifyBaseLogger
  /** Of whoever runs the service; without it nobody gets into the operator's operations. */
  operatorToken?: string | undefined
  /** The time for a body, beside what its size adds; 20 s by default. */
  bodyGraceMs?: number
  /** The time after which a connection on which nothing moves is closed, twice as long while something waits to be sent; 120 s by default. */
  inactiveMs?: number
  /** Compares every answer with the schema of its route and fails the request when it differs: for tests. */
  checkAnswers?: boolean
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns the page of the web UI that says that nothing is at an address, and sets its headers; undefined without one. */
    notFoundPage: ((request: FastifyRequest, reply: FastifyReply) => Promise<string | undefined>) | undefined
  }
  interface FastifyRequest {
    /** The caller once admitted; `caller` throws where there is none. */
    admittedCaller: Caller | null
    /** The tenant of the request, as soon as it is known to be the caller's; its address is that of problem types. */
    hubTenant: Tenant | null
    /** The one tenant that is served at the host of the request, where that is a tenant's own address. */
    hostTenant: Tenant | null
    /** How an operation with a credential of its own, or the form of a page, is counted. */
    credentialCharges: CredentialCharges
    /** Counts one more request of the caller, for a large body; null where no caller is known. Throws `rate-limited`. */
    chargeAgain: (() => Promise<void>) | null
    /** Of the caller, read while the connection is there: later a caller who hung up would have none. */
    callerAddress: string
    /** Its closing ends what is held for the request. */
    rawAnswer: ServerResponse
  }
}

/** Bounds the answers that wait for their readers: eight pages of the largest records. */
const answersBytesMax = 128 * 1024 * 1024
const requestTimeoutMs = 120_000
/** Longer than any request is handled: it ends connections whose client does not take its answer. */
const inactiveMsDefault = 120_000
const headersTimeoutMs = 20_000
/** Between two looks for connections that have passed one of the two. */
const connectionsCheckedMs = 5_000
const bodyGraceMsDefault = 20_000
/** Of all large bodies together; parsed, they take some times as much. */
const bodiesBytesMax = 96 * 1024 * 1024

/**
 * The HTTP server before any route: request ids, problem documents, access, limits, bodies, logs. Routes are added by
 * `addRoute` and `addPage` only, and nothing else answers.
 *
 * Order of checks: host, 404/405, version 406, cross-site 403, credential 401 (where the handler looks at it, only whether
 * there is one), tenant header 400, tenant 403, scope 403, rate 429, media type 415, size 413, JSON 400, schemas 400; then
 * the handler's own. Before all of them, preflights of the web UI are answered, where it is at another host.
 */
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const { config, logger, baseUrl, browserUrl } = options
  const headers = headersOfEveryAnswer(config.environment)
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
    // A request that arrives while the server drains is still answered; only the connection is not kept.
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
    request.rawAnswer = reply.raw
    reply.header(requestIdHeader, request.id).headers(headers)
    done()
  })
  if (browserUrl) admitBrowserOrigin(app, browserUrl)
  const index = new RouteIndex()
  app.decorate('hubRoutes', new Map())
  app.decorate('notFoundPage', undefined)
  app.addHook('onRoute', (route) => index.add(route))
  decorateRequests(app)
  handleMalformedRequests(app.server, baseUrl, headers)
  boundPipelining(app.server)
  limitAnswers(
    app,
    createAnswerBudget(answersBytesMax, () =>
      logger.warn('a connection was closed: too much was sent that nobody reads'),
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
    if (route?.operation.access.kind === 'own' || page !== undefined || protocol) {
      const rateClass = route?.operation.rateClass ?? protocol?.rateClass ?? 'auth'
      request.credentialCharges = credentialCharges(request, reply, access, rateClass)
    }
    checkVersion(request.headers.accept)
    if (route?.operation.sameSiteOnly || page === 'action') rejectCrossSite(request, baseUrl(), browserUrl?.())
    await admit(request, reply, access)
  })
  // Everything of the request together; a route's own `schema` would stop at its first part.
  app.addHook('preValidation', (request, _reply, done) => {
    request.routeOptions.config.route?.validate(request)
    done()
  })
  if (options.checkAnswers) validateResponses(app)
  app.setErrorHandler(async (error, request, reply) => {
    // Every refusal of what takes a credential of its own is counted here, whoever refused it.
    const charges = request.credentialCharges as CredentialCharges | undefined
    return sendProblem(request, reply, charges ? await charges.refused(asDomainError(error)) : error)
  })
  app.setNotFoundHandler((request, reply) => sendProblem(request, reply, notFound([], request, reply)))
  app.setSerializerCompiler(() => JSON.stringify)
  return app
}

async function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  options: AuthMiddlewareOptions & Pick<HttpServerOptions, 'operatorToken'>,
): Promise<void> {
  const { route, protocol } = request.routeOptions.config
  await protocol?.admit(request)
  if (route === undefined) return
  const { access, rateClass } = route.operation
  if (access.kind === 'own') checkSomeCredential(request, reply, route.schema.credentials)
  if (route.schema.credentials?.includes('operator')) await checkOperator(request, options.operatorToken)
  if (access.kind !== 'token') return
  request.admittedCaller = await authenticateCaller(request, reply, { access, rateClass }, options)
}

function decorateRequests(app: FastifyInstance): void {
  app.decorateRequest('admittedCaller', null)
  app.decorateRequest('hubTenant', null)
  app.decorateRequest('hostTenant', null)
  app.decorateRequest('credentialCharges')
  app.decorateRequest('chargeAgain', null)
  app.decorateRequest('callerAddress', '')
  app.decorateRequest('rawAnswer')
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
  // Named ones are found at once; for those that only `*` takes, Fastify parses the header of every request anew.
  const mediaTypes = ['application/json', 'application/x-www-form-urlencoded', '*']
  app.addContentTypeParser(mediaTypes, (request: FastifyRequest, payload: IncomingMessage) => {
    const { config } = request.routeOptions
    const kind = config.page === 'action' ? 'form' : (config.protocol?.body ?? config.route?.operation.body)
    const tooSlow = deadline.watch(payload)
    const body = readBody(request.headers, payload, {
      format: config.page === 'action' ? formatOfAction(request) : (config.route?.schema.bodyFormat ?? 'json'),
      mediaType: config.protocol?.mediaType,
      // A GET or DELETE has no use for a body, and may have one.
      bounds: bodyBounds[kind ?? 'settings'],
      held: budget.bodyOf(request.rawAnswer),
      charge: request.chargeAgain,
    })
    return tooSlow ? Promise.race([body, tooSlow]) : body
  })
  // A request that was answered without its body, such as a refused one.
  app.addHook('onResponse', (request, _reply, done) => {
    void deadline.watch(request.raw)
    done()
  })
}

/** Browsers send forms, programs what they always send. */
function formatOfAction(request: FastifyRequest): 'form' | 'json' {
  return request.headers['content-type']?.startsWith('application/json') ? 'json' : 'form'
}

/** `%3A` in a path is a colon here: clients differ in whether they encode the one before a verb. */
function plainColons(url: string): string {
  const queryAt = url.indexOf('?')
  const path = queryAt < 0 ? url : url.slice(0, queryAt)
  if (!/%3a/i.test(path)) return url
  return path.replaceAll(/%3a/gi, ':') + (queryAt < 0 ? '' : url.slice(queryAt))
}

/** First segments of the addresses that programs call. A mistyped one is answered by a problem document, to browsers too. */
const ofPrograms = ['api', 'v1', 'scim', '.well-known', 'assets']

/** Whether a browser shows the answer to a person: an address of pages, called by a navigation. */
function isOfPeople({ method, url, headers }: FastifyRequest): boolean {
  const [, segment = ''] = /^\/([^/?]*)/.exec(url) ?? []
  return (method === 'GET' || method === 'HEAD') && !ofPrograms.includes(segment) && prefersHtml(headers.accept)
}

function notFound(methods: string[], request: FastifyRequest, reply: FastifyReply): DomainError {
  if (methods.length === 0) return new DomainError('not-found', 'There is nothing at this address.')
  const allowed = methods.join(', ')
  reply.header('allow', allowed)
  return new DomainError('method-not-allowed', `This address takes ${allowed}, not ${request.method}.`)
}
