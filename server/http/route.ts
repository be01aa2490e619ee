import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HTTPMethods,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { Static, TSchema } from 'typebox'
import { bodyBounds } from '../../contract/limits.ts'
import { object } from '../../contract/object-schema.ts'
import { type Operation, type OperationId, operations } from '../../contract/operations.ts'
import type { Caller } from './caller.ts'
import { compileRequestValidator, type RequestValidator } from './request-validation.ts'
import type { FormBody, RouteSchema } from './route-schema.ts'

type StaticOf<Schema> = Schema extends TSchema ? Static<Schema> : undefined

/** A request whose every part has passed its schema. `caller` is set on operations that require a token. */
export type RouteRequest<S extends RouteSchema> = FastifyRequest<
  {
    Params: StaticOf<S['params']>
    Querystring: StaticOf<S['querystring']>
    Headers: StaticOf<S['headers']>
    Body: S['bodyFormat'] extends 'form'
      ? FormBody
      : S['bodyFormat'] extends 'bytes'
        ? Buffer | undefined
        : StaticOf<S['body']>
  },
  RawServerDefault,
  RawRequestDefaultExpression
>

declare const rawJsonBrand: unique symbol
/** JSON text that is sent unchanged. */
export type RawJson = string & { readonly [rawJsonBrand]: true }

/** Sends existing JSON text without parsing and serialising it again. */
export function rawJson(reply: FastifyReply, text: string): RawJson {
  reply.type('application/json; charset=utf-8')
  return text as RawJson
}

export type RouteResponse<S extends RouteSchema> = Static<S['response'][keyof S['response'] & number]> | RawJson

export type RouteHandler<S extends RouteSchema> = (
  request: RouteRequest<S>,
  reply: FastifyReply,
) => Promise<RouteResponse<S> | FastifyReply>

/** Describes the route of a request to the hooks of the server. */
export interface RouteDescription {
  operationId: OperationId
  operation: Operation
  schema: RouteSchema
  validate: RequestValidator
}

declare module 'fastify' {
  interface FastifyContextConfig {
    route?: RouteDescription
  }
  interface FastifyRequest {
    /** The caller and its tenant. Throws on operations that do not require a token. */
    caller: Caller
  }
  interface FastifyInstance {
    /** Every added operation, for the description of the API. */
    hubRoutes: Map<OperationId, RouteDescription>
  }
}

/**
 * Adds an operation of the operations table. Before `handler` runs, everything up to and including the schemas has been
 * checked (in the order of `createHttpServer`). A handler throws DomainError and never writes an error.
 */
export function addRoute<const S extends RouteSchema>(
  app: FastifyInstance,
  operationId: OperationId,
  schema: S,
  handler: RouteHandler<S>,
): void {
  const operation: Operation = operations[operationId]
  const route: RouteDescription = { operationId, operation, schema, validate: compileRequestValidator(schema) }
  app.hubRoutes.set(operationId, route)
  app.route({
    method: operation.method as HTTPMethods,
    url: routerPath(operation.path),
    bodyLimit: bodyBounds[operation.body ?? 'settings'].bytes,
    config: { route },
    handler: handler as unknown as (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
  })
}

/** An empty JSON object: the body of actions without one. */
export const emptyBody = object({})

/** Parameters whose values callers choose, and which may contain colons. */
const idsWithColons: ReadonlySet<string> = new Set(['skill_id'])

/**
 * Converts an OpenAPI path template to the router's syntax. A parameter before `:verb` matches the longest text that
 * leaves the verb. A last parameter whose path has `:verb` siblings matches no colon, so that `GET …/x:restore` is not
 * a GET of `x`, unless it is an id that may contain colons.
 */
export function routerPath(template: string): string {
  const verbSiblings = Object.values(operations).some((other) => other.path.startsWith(`${template}:`))
  const escaped = template.replaceAll(':', '::')
  return escaped.replaceAll(/\{([a-z_]+)\}(::)?/g, (whole, name: string, verb: string | undefined, at: number) => {
    if (verb) return `:${name}(^.+)::`
    const isLast = at + whole.length === escaped.length
    return isLast && verbSiblings && !idsWithColons.has(name) ? `:${name}(^[^:]+)` : `:${name}`
  })
}
