import type { IncomingMessage, ServerResponse } from 'node:http'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { DomainError, invalidTenant, validationFailed } from '../../contract/domain-error.ts'
import { bodyBounds } from '../../contract/limits.ts'
import { createBodyMemoryLimit } from '../../server/http/body/body-memory-limit.ts'
import { handleMalformedRequests } from '../../server/http/body/malformed-requests.ts'
import { readBody } from '../../server/http/body/request-body.ts'
import { problemSender } from '../../server/http/problem-sender.ts'
import { checkLoopbackHost, countHeader, requestIdHeader, requestIdOf } from '../../server/http/request-headers.ts'
import { apiHeaders } from '../../server/http/security-headers.ts'
import { constantTimeEqual } from '../../server/secrets/constant-time-equal.ts'
import type { ConnectorConfig } from './connector-config.ts'
import type { ConnectorStatus } from './connector-status.ts'
import { batchPath, bodyOf, type EventIntake, eventPath } from './event-intake.ts'
import type { StoredSubmission } from './spool-intake.ts'

type RoutesConfig = Pick<ConnectorConfig, 'hubUrl' | 'tenant' | 'host' | 'sharedSecret'>

const bodiesBytesMax = 96 * 1024 * 1024
const requestTimeoutMs = 120_000
const healthPath = '/v1/health'

/**
 * Creates the server for producers: the two telemetry endpoints, status and health. Only events reach the Hub, and no
 * response of the Hub reaches producers.
 */
export function createConnectorServer(deps: {
  config: RoutesConfig
  version: string
  intake: EventIntake
  status: () => ConnectorStatus
  log: FastifyBaseLogger
}): FastifyInstance {
  const { config, version, intake, status, log } = deps
  const hubUrl = () => config.hubUrl
  const sendProblem = problemSender(hubUrl, apiHeaders)
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    requestIdHeader: false,
    genReqId: (raw) => requestIdOf(raw.headers[requestIdHeader]),
    requestTimeout: requestTimeoutMs,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    rewriteUrl: (raw) => (raw.url ?? '/').replace(/%3a/i, ':'),
    http: { requireHostHeader: false },
    frameworkErrors: (error, request, reply) => sendProblem(request, reply as FastifyReply, error),
  })
  app.decorateRequest('hubTenant', null)
  app.decorateRequest('hostTenant', null)
  app.decorateRequest('rawResponse')
  handleMalformedRequests(app.server, hubUrl, apiHeaders)
  readBodies(app)

  app.addHook('onRequest', async (request, reply) => {
    request.rawResponse = reply.raw as ServerResponse
    reply.header(requestIdHeader, request.id).headers(apiHeaders)
    // Without a secret, only programs of this machine may connect, not web pages that use DNS rebinding.
    if (config.sharedSecret === undefined) checkLoopbackHost(request.headers.host)
    if (request.is404) throw new DomainError('not-found', `There is nothing at this address but ${addresses}.`)
    if (request.routeOptions.url !== healthPath) checkProducer(request, config)
  })
  app.setErrorHandler((error, request, reply) => sendProblem(request, reply, error))
  app.setNotFoundHandler((request, reply) => sendProblem(request, reply, new DomainError('not-found', 'Not here.')))
  app.setSerializerCompiler(() => JSON.stringify)

  app.post(eventPath, { bodyLimit: bodyBounds.event.bytes }, async (request, reply) =>
    answerKept(reply, await intake.takeEvent(bodyOf(request.body), keyOf(request))),
  )
  app.post(batchPath.replace(':', '::'), { bodyLimit: bodyBounds.batch.bytes }, async (request, reply) =>
    answerKept(reply, await intake.takeBatch(bodyOf(request.body), keyOf(request))),
  )
  app.get('/status', async () => status())
  app.get(healthPath, async (_request, reply) => {
    const obstacle = status().intake_obstacle
    reply.code(obstacle === undefined ? 200 : 503)
    return { status: obstacle === undefined ? 'ok' : 'unavailable', version, checks: { spool: obstacle ?? 'ok' } }
  })
  return app
}

const addresses = `POST ${eventPath}, POST ${batchPath}, GET /status and GET ${healthPath}`

/** Responds with 202, not 201: the events are on this machine's disk, and not yet recorded. */
function answerKept(reply: FastifyReply, { answer, replayed }: StoredSubmission): FastifyReply {
  if (replayed) reply.header('idempotent-replayed', 'true')
  return reply.code(202).type('application/json; charset=utf-8').send(answer)
}

function checkProducer(request: FastifyRequest, { sharedSecret, tenant }: RoutesConfig): void {
  const [scheme, secret = ''] = (request.headers.authorization ?? '').split(' ', 2)
  if (sharedSecret !== undefined && (scheme?.toLowerCase() !== 'bearer' || !constantTimeEqual(secret, sharedSecret))) {
    throw new DomainError('authentication-failed', 'Send the shared secret of this connector as a bearer token.')
  }
  const named = request.headers['x-service-tenant']
  if (named !== undefined && named !== tenant) throw invalidTenant(String(named))
}

function keyOf(request: FastifyRequest): string | undefined {
  const name = 'idempotency-key'
  if (countHeader(request, name) > 1) {
    throw validationFailed([{ pointer: `/headers/${name}`, detail: 'must be given exactly once' }])
  }
  return request.headers[name] as string | undefined
}

function readBodies(app: FastifyInstance): void {
  const budget = createBodyMemoryLimit(bodiesBytesMax)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(['application/json', '*'], (request: FastifyRequest, payload: IncomingMessage) =>
    readBody(request.headers, payload, {
      format: 'json',
      bounds: request.routeOptions.url === eventPath ? bodyBounds.event : bodyBounds.batch,
      held: budget.bodyOf(request.rawResponse),
    }),
  )
}
