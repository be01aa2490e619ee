import type { Scope } from '../../contract/scopes.ts'
import type { JsonObject } from '../../provenance/index.ts'
import type { TestHub, TestTenant } from '../support/hub.ts'
import { readResponse, readStatus, toProtobuf } from './otlp-bodies.ts'

export const encodings = ['application/x-protobuf', 'application/json'] as const
export type MediaType = (typeof encodings)[number]

interface SendOptions {
  tenant?: TestTenant
  encoding?: MediaType
  headers?: Record<string, string>
  path?: string
  method?: string
  scopes?: readonly Scope[]
}

export interface OtlpResponse {
  status: number
  headers: Headers
  /** Read in the encoding of the response. */
  body: Record<string, unknown>
}

/** Sends an export request over HTTP, by default with a bearer token. A Buffer is sent unchanged. */
export async function send(
  hub: TestHub,
  request: JsonObject | Buffer,
  options: SendOptions = {},
): Promise<OtlpResponse> {
  const { tenant = 'acme', encoding = 'application/x-protobuf', scopes = ['telemetry:write'] } = options
  const { headers = {}, method = 'POST' } = options
  const { path = Buffer.isBuffer(request) || 'resourceSpans' in request ? 'traces' : 'logs' } = options
  const body = Buffer.isBuffer(request)
    ? request
    : encoding === 'application/json'
      ? Buffer.from(JSON.stringify(request))
      : toProtobuf(request)
  const credentials: Record<string, string> = headers.authorization
    ? {}
    : { authorization: `Bearer ${await hub.token(tenant, scopes)}`, 'x-service-tenant': tenant }
  const response = await fetch(`${hub.baseUrl}/api/v1/otlp/v1/${path}`, {
    method,
    headers: { 'content-type': encoding, ...credentials, ...headers },
    ...(method === 'GET' ? {} : { body: new Uint8Array(body) }),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const isJson = response.headers.get('content-type') === 'application/json'
  const read = response.ok ? readResponse : readStatus
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? (JSON.parse(bytes.toString()) as Record<string, unknown>) : read(bytes),
  }
}

export async function eventsOf(hub: TestHub, tenant: TestTenant, query = ''): Promise<Record<string, unknown>[]> {
  const { body } = await hub.call(tenant, 'GET', `/api/v1/hub/records?record_type=telemetry_event&limit=1000${query}`)
  return body.records
}

export async function setMapping(hub: TestHub, tenant: TestTenant, mapping: object): Promise<void> {
  const answer = await hub.call(tenant, 'PUT', '/api/v1/telemetry/otlp-mapping', { body: mapping })
  if (answer.status !== 200) throw new Error(answer.text)
}
