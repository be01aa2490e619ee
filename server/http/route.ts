import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HTTPMethods,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import { bodyBounds } from '../../contract/limits.ts'
import { type Operation, type OperationId, operations } from '../../contract/operations.ts'
import type { Caller } from './caller.ts'
import { compileRequestValidator, type RequestValidator } from './request-validation.ts'
import type { FormBody, RouteSchema } from './route-schema.ts'

type StaticOf<Schema> = Schema extends TSchema ? Static<Schema> : undefined

/** A request whose every part has passed its schema. `caller` is set on operations that take a token. */
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
/** JSON text that is sent as it is. */
export type RawJson = string & { readonly [rawJsonBrand]: true }

/** Sends JSON text that exists already, without parsing and serialising it again. */
export function rawJson(reply: FastifyReply, text: string): RawJson {
  reply.type('application/json; charset=utf-8')
  return text as RawJson
}

export type RouteAnswer<S extends RouteSchema> = Static<S['response'][keyof S['response'] & number]> | RawJson

export type RouteHandler<S extends RouteSchema> = (
  request: RouteRequest<S>,
  reply: FastifyReply,
) => Promise<RouteAnswer<S> | FastifyReply>

/** What the hooks of the server know about the route of a request. */
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
    /** Who calls, for which tenant. Throws on operations that do not take a token. */
    caller: Caller
  }
  interface FastifyInstance {
    /** Every operation that has been added, for the description of the API. */
    hubRoutes: Map<OperationId, RouteDescription>
  }
}

/**
 * Adds an operation of the operations table. Before `handler` runs, everything up to and including the schemas has
 * been checked (in the order that `createHttpServer` names). A handler throws DomainError and never writes an error.
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

/** An empty JSON object: the body of actions that take none. */
export const emptyBody = Type.Object({}, { additionalProperties: false })

/** Parameters whose values are given by callers, and may have colons. */
const idsWithColons: ReadonlySet<string> = new Set(['skill_id'])

/**
 * The OpenAPI path template in the router's language. A parameter before `:verb` takes the longest text that leaves
 * the verb; a last one whose path has `:verb` siblings takes no colon, so that `GET …/x:restore` is not a GET of `x`,
 * unless it is an id that may have colons itself.
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
