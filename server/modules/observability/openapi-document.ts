import type { TObject, TSchema } from 'typebox'
import { operations } from '../../../contract/operations.ts'
import { scopes } from '../../../contract/scopes.ts'
import type { RouteDescription } from '../../http/route.ts'
import { type OpenApiDocument, portablePattern, withNamedSchemas } from './openapi-components.ts'
import { exampleOf } from './openapi-examples.ts'
import { problemComponents, problemResponses } from './openapi-problems.ts'
import { scimPaths, scimSchemas } from './openapi-scim.ts'
import { describedWebhooks } from './openapi-webhooks.ts'

/** The version of the contract, not of the software: it changes with the API. */
const contractVersion = '1.0.0'

/**
 * Describes the routes. The same routes give the same text on every host: the order is that of the operations table,
 * and the server is the origin of the document.
 */
export function openApiDocument(routes: ReadonlyMap<string, RouteDescription>): OpenApiDocument {
  const document: OpenApiDocument = {
    openapi: '3.1.0',
    info: {
      title: 'Org-Memory Hub API',
      version: contractVersion,
      description:
        'Typed records of an organisation with verifiable provenance, and telemetry of skill invocations. Errors ' +
        'are problem documents (RFC 7807). People sign in at [/sign-in](/sign-in).',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(Object.values(operations).map((operation) => operation.tag)), 'SCIM'].map((name) => ({
      name,
      description: tagDescriptions[name],
    })),
    paths: {},
    webhooks: describedWebhooks(),
    components: {
      ...commonComponents,
      ...problemComponents,
      schemas: { ...problemComponents.schemas, ...scimSchemas },
      securitySchemes,
    },
  }
  for (const id of Object.keys(operations)) {
    const route = routes.get(id)
    if (route === undefined) continue
    const { path, method } = route.operation
    document.paths[path] ??= {}
    document.paths[path][method.toLowerCase()] = describeOperation(route)
  }
  Object.assign(document.paths, scimPaths)
  // Schemas contain symbols and annotations of the validator, which readers of the document do not need.
  return withNamedSchemas(JSON.parse(JSON.stringify(document, forReaders)) as OpenApiDocument)
}

function forReaders(name: string, value: unknown): unknown {
  if (name === 'x-must-be') return undefined
  return name === 'pattern' && typeof value === 'string' ? portablePattern(value) : value
}

const securitySchemes = {
  serviceAccount: {
    type: 'oauth2',
    description: 'OAuth 2.0 client credentials of a service account',
    flows: { clientCredentials: { tokenUrl: '/api/v1/oauth/token', scopes } },
  },
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'An access token of any grant' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'service_session',
    description: 'Session cookie of a person, set at sign-in and sent only to the same site',
  },
  refresh: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Secure-service_refresh',
    description: 'Binding of a refresh token',
  },
  operator: { type: 'http', scheme: 'bearer', description: 'HUB_OPERATOR_TOKEN of the operator of the service' },
  signature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Service-Signature',
    description:
      '`t=<seconds since 1970>,v1=<hex>`: HMAC-SHA256 of `<t>.<raw body>`, keyed with the secret of the connection',
  },
  scim: { type: 'http', scheme: 'bearer', description: 'The token of the SCIM configuration of a tenant' },
  clientBasic: { type: 'http', scheme: 'basic', description: 'client_id and client_secret of a service account' },
}

const uuidV7Example = '01890a5d-ac96-774b-bcce-b302099a8057'

const commonComponents = {
  parameters: {
    Tenant: {
      name: 'X-Service-Tenant',
      in: 'header',
      required: true,
      description: 'Slug of the tenant that the token was issued for',
      schema: { type: 'string', examples: ['acme'] },
    },
    RequestId: {
      name: 'X-Service-Request-ID',
      in: 'header',
      required: false,
      description: 'UUIDv7 of the request, chosen by the client; the response has it, or a new one',
      schema: { type: 'string', format: 'uuid', examples: [uuidV7Example] },
    },
  },
  headers: {
    RequestId: {
      description: 'Id of the request, also in `instance` of problems and in the log',
      schema: { type: 'string', format: 'uuid', examples: [uuidV7Example] },
    },
    RateLimitPolicy: {
      description: 'Quotas of token and tenant (draft-ietf-httpapi-ratelimit-headers)',
      schema: { type: 'string', examples: ['"token";q=1000;w=60, "tenant";q=10000;w=60'] },
    },
    RateLimit: {
      description: 'Remaining requests of each quota, and seconds until it increases',
      schema: { type: 'string', examples: ['"token";r=999;t=60, "tenant";r=9999;t=60'] },
    },
  },
}

function describeOperation(route: RouteDescription): Record<string, unknown> {
  const { operationId, operation, schema } = route
  const takesBody = schema.body !== undefined
  return {
    operationId,
    tags: [operation.tag],
    summary: operation.summary,
    ...(schema.description && { description: schema.description }),
    parameters: [
      ...(operation.access.kind === 'token' && !operation.isProtectedResource
        ? [{ $ref: '#/components/parameters/Tenant' }]
        : []),
      { $ref: '#/components/parameters/RequestId' },
      ...parametersOf(schema.params, 'path'),
      ...parametersOf(schema.querystring, 'query'),
      ...parametersOf(schema.headers, 'header'),
    ],
    ...(takesBody && { requestBody: requestBodyOf(route, schema.body as TSchema) }),
    responses: { ...responsesOf(route), ...problemResponses(route) },
    security: securityOf(route),
  }
}

function requestBodyOf({ schema }: RouteDescription, body: TSchema): unknown {
  const mediaType = schema.bodyFormat === 'form' ? 'application/x-www-form-urlencoded' : 'application/json'
  return {
    required: schema.bodyOptional !== true,
    content: { [mediaType]: { schema: body, example: exampleOf(body) } },
  }
}

function parametersOf(schema: TObject | undefined, place: 'path' | 'query' | 'header'): unknown[] {
  if (schema === undefined) return []
  const required = new Set<string>((schema as { required?: string[] }).required ?? [])
  return Object.entries(schema.properties).map(([name, property]) => {
    const { description, ...rest } = property as TSchema & { description?: string }
    return {
      name: place === 'header' ? headerCase(name) : name,
      in: place,
      required: place === 'path' || required.has(name),
      ...(description && { description }),
      schema: rest,
    }
  })
}

function headerCase(name: string): string {
  return name.replaceAll(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())
}

function responsesOf({ schema, operation }: RouteDescription): Record<string, unknown> {
  const limits = operation.rateClass && {
    'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
    RateLimit: { $ref: '#/components/headers/RateLimit' },
  }
  return Object.fromEntries(
    Object.entries(schema.response).map(([status, body]) => {
      const { description, type, contentMediaType } = body as Record<string, string | undefined>
      const own = Object.entries(schema.responseHeaders?.[Number(status)] ?? {})
      const headers = {
        'X-Service-Request-ID': { $ref: '#/components/headers/RequestId' },
        ...limits,
        ...Object.fromEntries(own.map(([name, header]) => [headerCase(name), describeHeader(header)])),
      }
      const content =
        type === 'null'
          ? {}
          : { content: { [contentMediaType ?? 'application/json']: { schema: body, example: exampleOf(body) } } }
      return [status, { description: description ?? operation.summary, headers, ...content }]
    }),
  )
}

function describeHeader(schema: TSchema): unknown {
  const { description, ...rest } = schema as TSchema & { description?: string }
  return { ...(description && { description }), schema: rest }
}

/** Lists each alternative as an account's token, and as a token of any origin. */
function securityOf({ operation: { access }, schema }: RouteDescription): unknown[] {
  if (access.kind === 'public') return []
  if (access.kind === 'own')
    return (schema.credentials ?? ['body']).map((name) => (name === 'body' ? {} : { [name]: [] }))
  return access.anyOf.flatMap((all) => [{ serviceAccount: all }, { bearer: all }])
}

/** Describes the groups of operations; the order is that of the operations table. */
export const tagDescriptions: Readonly<Record<string, string>> = {
  Service: 'Health, and this description',
  Keys: 'Public keys of access tokens and of provenance',
  Authentication: 'Sign-in of people, sessions, and tokens of service accounts',
  Hub: 'Records: query, write, purge, restore, verify and relate',
  Governance: 'Legal holds, retention rules, releases and deletion certificates',
  Log: 'The append-only log of a tenant: checkpoints, proofs and the change feed',
  Exports: 'Files of many records, with a signed manifest',
  Telemetry: 'Events of skill invocations, their summaries, costs and prices',
  Tenant: 'Details and settings of a tenant',
  'Service accounts': 'Clients that act for programs, and their secrets',
  Onboarding: 'Sign-on, directory, provisioning and health of a tenant',
  Connectors: 'Connections to LLM platforms',
  Roster: 'People, groups and archetypes',
  'Skill entitlement': 'Skills, skill packs and grants',
  Distribution: 'Publication of skills to connectors',
  Webhooks: 'Messages that the Hub sends and receives',
  Budgets: 'Amounts for a period, what is spent, and thresholds',
  'Saved views': 'Saved filters of the web UI',
  Notifications: 'Recent governance events that need attention, and how far each caller has read them',
  Agents: 'The Model Context Protocol, for AI agents',
  Operator: 'Tenants, for the operator of the service',
  SCIM: 'The SCIM 2.0 server of a tenant (RFC 7644), for identity providers',
}
