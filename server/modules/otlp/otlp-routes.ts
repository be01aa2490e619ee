import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../../contract/domain-error.ts'
import { bodyBounds } from '../../../contract/limits.ts'
import { tenantHeaderOf } from '../../http/auth-middleware.ts'
import { parseStrictJsonInTurns } from '../../http/body/strict-json.ts'
import { runYielding } from '../../http/event-loop-yielder.ts'
import { addProtocol, sendProtocolText } from '../../http/protocol.ts'
import { countHeader } from '../../http/request-headers.ts'
import { addRoute } from '../../http/route.ts'
import type { BasicAuthenticator } from '../auth/auth-types.ts'
import { decodeJson } from './decode/json-decoder.ts'
import { decodeProtobuf } from './decode/protobuf-decoder.ts'
import { wantedNames } from './mapping/event-mapping.ts'
import { OtlpMappingBody, OtlpMappingSchema } from './mapping/mapping-schemas.ts'
import type { OtlpMappings } from './mapping/mapping-service.ts'
import { encodeResponse, encodeStatus, encodingOf, mediaTypes, type rejectedNames } from './otlp-encoding.ts'
import type { OtlpIngest } from './otlp-service.ts'
import type { ExportResult, OtlpItem, Signal } from './otlp-types.ts'

const access = { kind: 'token', anyOf: [['telemetry:write']] } as const
/** A request counts as one of its rate class for each started thousand of items, like a batch of events. */
const itemsPerRequest = 1000
const metricsDropped = 'Metrics are not stored. Send traces and logs.'

/** Adds OTLP/HTTP at `/api/v1/otlp`, with `/v1/traces`, `/v1/logs` and `/v1/metrics`. */
export function addOtlpProtocol(
  app: FastifyInstance,
  deps: { basic: BasicAuthenticator; ingest: OtlpIngest; mappings: OtlpMappings },
): void {
  addProtocol(app, '/api/v1/otlp', {
    name: 'otlp',
    rateClass: 'telemetry-ingest',
    mediaType: mediaTypes.protobuf,
    body: 'otlp',
    bodyFormat: 'raw',
    access,

    admit: (request) => admitByBasic(request, deps.basic),

    renderError(error, request) {
      const encoding = encodingOf(request.headers['content-type'])
      return { status: error.status, body: encodeStatus(encoding, error), mediaType: mediaTypes[encoding] }
    },

    async handle(request, reply) {
      const kind = kindOf(request, reply)
      const encoding = encodingOf(request.headers['content-type'])
      const result = kind === 'metrics' ? { rejected: 0, message: metricsDropped } : await receive(request, kind, deps)
      reply.status(200).type(mediaTypes[encoding])
      return sendProtocolText(reply, encodeResponse(encoding, kind, result))
    },
  })
}

/** Authenticates a service account by HTTP Basic, for exporters whose headers are static. */
async function admitByBasic(request: FastifyRequest, basic: BasicAuthenticator): Promise<void> {
  if (countHeader(request, 'authorization') > 1) {
    throw new DomainError('authentication-failed', 'The Authorization header is repeated.')
  }
  const origin = {
    ...{ address: request.callerAddress, requestId: request.id },
    hostTenant: request.hostTenant?.slug,
  }
  const { clientId, tenant, scopes } = await basic.authenticate(
    request.headers.authorization ?? '',
    { tenantHeader: tenantHeaderOf(request), scope: 'telemetry:write', operation: 'otlp' },
    request.credentialCharges,
    origin,
  )
  request.hubTenant = tenant
  request.admittedCaller = {
    ...{ subject: clientId, clientId, tokenId: clientId, tenant, scopes },
    ...{ address: request.callerAddress, requestId: request.id },
  }
}

function kindOf(request: FastifyRequest, reply: FastifyReply): keyof typeof rejectedNames {
  const { '*': path = '' } = request.params as { '*'?: string }
  const kind = /^v1\/(traces|logs|metrics)$/.exec(path)?.[1] as keyof typeof rejectedNames | undefined
  if (kind === undefined) throw new DomainError('not-found', 'No operation exists at this address.')
  if (request.method !== 'POST') {
    reply.header('allow', 'POST')
    throw new DomainError('method-not-allowed', `This address accepts POST, not ${request.method}.`)
  }
  return kind
}

async function receive(
  request: FastifyRequest,
  signal: Signal,
  { ingest, mappings }: { ingest: OtlpIngest; mappings: OtlpMappings },
): Promise<ExportResult> {
  const { caller } = request
  const mapping = await mappings.of(caller.tenant.slug)
  const items = await decode(request, signal, wantedNames(mapping))
  for (let from = itemsPerRequest; from < items.length; from += itemsPerRequest) await request.chargeAgain?.()
  return ingest.export(caller, signal, items, mapping)
}

/** Decodes the whole body before anything is stored. An empty body is a request without resources. */
async function decode(request: FastifyRequest, signal: Signal, wanted: ReadonlySet<string>): Promise<OtlpItem[]> {
  const bytes = request.body as Buffer | undefined
  if (encodingOf(request.headers['content-type']) === 'protobuf') {
    return bytes === undefined ? [] : runYielding(decodeProtobuf(bytes, signal, wanted))
  }
  if (bytes === undefined) throw new DomainError('malformed-json', 'The request has no body.')
  return runYielding(decodeJson(await parseStrictJsonInTurns(bytes, bodyBounds.otlp), signal, wanted))
}

export function addMappingRoutes(app: FastifyInstance, mappings: OtlpMappings): void {
  addRoute(
    app,
    'getOtlpMapping',
    {
      description: 'How spans and log records of OpenTelemetry become events, in addition to the fixed mapping.',
      response: { 200: OtlpMappingSchema },
    },
    async (request) => mappings.get(request.caller.tenant),
  )

  addRoute(
    app,
    'replaceOtlpMapping',
    {
      description: 'Replaces the whole mapping; absent members get their defaults. It applies to spans from now on.',
      body: OtlpMappingBody,
      response: { 200: OtlpMappingSchema },
    },
    async (request) => mappings.replace(request.caller, request.body),
  )
}
