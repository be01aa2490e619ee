// Makes one request for each operation and shape of a heavy body, with its tenants, tokens and connections.
import { createHmac } from 'node:crypto'
import { bodyBounds } from '../../contract/limits.ts'
import { type Operation, operations } from '../../contract/operations.ts'
import { scopeNames } from '../../contract/scopes.ts'
import { signatureHeader } from '../../contract/webhook-signature.ts'
import { hubCommand } from '../../tests/support/hub-process.ts'
import { accessToken, type BenchHub } from './bench-hub.ts'
import { type BodySchema, brokenBodies } from './broken-bodies.ts'
import {
  batchShapes,
  eventShapes,
  inboundShapes,
  listShapes,
  recordShapes,
  scimShapes,
  shapesOf,
} from './heavy-bodies.ts'

const tenant = 'bench'
/** Names a Mode B tenant, whose content keys can be destroyed. */
const doomed = 'doomed'
const operatorToken = 'operator-of-this-benchmark'
/** Settings of the Hub that takes the requests. */
export const heavySettings = { HUB_OPERATOR_TOKEN: operatorToken }

const fewValues = bodyBounds.settings.values

type Headers = Record<string, string>

export interface HeavyRequest {
  operation: string
  shape: string
  method: string
  path: string
  text: string
  headers: Headers
  /** True if the body must stay byte for byte: the signature of an inbound message covers its bytes. */
  plain?: true
}

export interface HeavyRequests {
  /** Headers for the tenant that takes all requests but one. */
  bearer: Headers
  /** Yields all requests of one round, each with a new body. */
  round(): AsyncGenerator<HeavyRequest>
  /** Takes the new token from a response to `rotateScimToken`. */
  answered(request: HeavyRequest, answer: { status: number; body: string }): void
}

interface Answer {
  status: number
  body: string
}

export async function prepareHeavyRequests(
  hub: BenchHub,
  send: (request: HeavyRequest) => Promise<Answer>,
): Promise<HeavyRequests> {
  const operator = { authorization: `Bearer ${operatorToken}` }
  await hub.tenant(tenant)
  const sent = async (path: string, body: object, headers: Headers) => {
    const method = path.endsWith('/archetypes') ? 'PUT' : 'POST'
    const request = { operation: path, shape: '', method, path, headers, text: JSON.stringify(body) }
    const answer = await send(request)
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.body}`)
    return JSON.parse(answer.body)
  }
  await sent(operations.createTenant.path, { slug: doomed, mode: 'B', admin_email: 'a@doomed.example' }, operator)
  const bearer = await bearerOf(hub, tenant)
  const bearerOfDoomed = await bearerOf(hub, doomed)
  const configured = await sent(operations.configureScim.path, { mode: 'push', group_archetype_map: [] }, bearer)
  let scimToken: string = configured.bearer_token
  const scimHeaders = () => ({ authorization: `Bearer ${scimToken}` })
  const scim = `/scim/v2/${tenant}`
  const { id: groupId } = await sent(`${scim}/Groups`, { displayName: 'heavy' }, scimHeaders())
  const chat = { platform: 'slack', display_name: 'heavy', delivery: 'pull' }
  const { inbound } = await sent(operations.createConnector.path, chat, bearer)
  const described = (await (await fetch(`${hub.url}/v1/openapi.json`)).json()) as Described
  const schemas = schemasOf(described)

  function headersOf(operation: string, path: string, text: string): Headers {
    if (operation === 'receiveInbound') return { [signatureHeader]: signatureOf(text, inbound.secret) }
    if (operation === 'destroyContentKeys') return bearerOfDoomed
    return path.startsWith('/api/v1/operator/') ? operator : bearer
  }

  function* ofOperation(operation: string, { path: template, method, body }: Operation): Generator<HeavyRequest> {
    const path = template
      .replace('{slug}', tenant)
      .replace('{connection_id}', inbound.connection_id)
      .replaceAll(/\{\w+\}/g, 'heavy')
    const bounds = bodyBounds[body!]
    // With few values, a body cannot be invalid in many places.
    const schema = bounds.values > fewValues ? schemas.get(operation) : undefined
    const shapes = {
      ...shapesOf(bounds),
      ...(schema && brokenBodies(schema, described.components.schemas, bounds)),
      ...acceptedShapes(operation),
    }
    for (const [shape, text] of Object.entries(shapes)) {
      const common = { operation, shape, method, path, text, headers: headersOf(operation, path, text) }
      yield operation === 'receiveInbound' ? { ...common, plain: true } : common
    }
  }

  return {
    bearer,
    answered({ operation }, { status, body }) {
      if (operation === 'rotateScimToken' && status === 200) scimToken = JSON.parse(body).bearer_token
    },
    async *round() {
      await sent(operations.provisionHub.path, { cmek: { provider: 'local', key_ref: 'heavy' } }, bearerOfDoomed)
      for (const [operation, declared] of Object.entries<Operation>(operations)) {
        if (declared.body !== undefined) yield* ofOperation(operation, declared)
      }
      for (const { method, path, shape, text } of scimShapes(groupId)) {
        const operation = `SCIM ${method} ${path.split('/')[1]}`
        yield { operation, shape, method, path: `${scim}${path}`, text, headers: scimHeaders() }
      }
    },
  }
}

async function bearerOf(hub: BenchHub, slug: string): Promise<Headers> {
  const { client_id: clientId, client_secret: clientSecret } = await hubCommand<Record<string, string>>(
    hub.dataDir,
    ...['service-account', 'create', '--tenant', slug, '--name', 'heavy', '--scope', scopeNames.join(' ')],
  )
  const token = await accessToken(hub.url, { tenant: slug, clientId: clientId!, clientSecret: clientSecret! })
  return { authorization: `Bearer ${token}`, 'x-service-tenant': slug }
}

function acceptedShapes(operation: string): Record<string, string> {
  if (operation === 'ingestBatch') return batchShapes()
  if (operation === 'writeRecord') return recordShapes()
  if (operation === 'ingestEvent') return eventShapes()
  if (operation === 'receiveInbound') return inboundShapes()
  if (operation === 'rotateScimToken') return { 'an empty object': '{}' }
  if (operation === 'destroyContentKeys') {
    return { 'a reason of 500 characters': JSON.stringify({ confirm: doomed, reason: 'é'.repeat(500) }) }
  }
  return listShapes()[operation] ?? {}
}

interface Described {
  components: { schemas: Record<string, BodySchema> }
  paths: Record<string, Record<string, DescribedOperation>>
}

interface DescribedOperation {
  operationId: string
  requestBody?: { content: Record<string, { schema: BodySchema }> }
}

function schemasOf({ paths }: Described): Map<string, BodySchema> {
  const described = Object.values(paths).flatMap((path) => Object.values(path))
  const found = described.flatMap(({ operationId, requestBody }) => {
    const schema = requestBody?.content['application/json']?.schema
    return schema === undefined ? [] : ([[operationId, schema]] as const)
  })
  return new Map(found)
}

function signatureOf(text: string, secret: string): string {
  const t = Math.floor(Date.now() / 1000)
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${text}`).digest('hex')}`
}
