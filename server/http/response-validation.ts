import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { PointedError } from '../../contract/domain-error.ts'
import { compileSchema } from './request-validation.ts'
import type { RouteSchema } from './route-schema.ts'

type Check = (value: unknown) => PointedError[]

/** Fails every response that its route's schema does not describe. It costs a second parse, so only tests enable it. */
export function validateResponses(app: FastifyInstance): void {
  const compiled = new WeakMap<RouteSchema, Map<number, Check>>()
  app.addHook('onSend', async (request, reply, payload) => {
    const route = request.routeOptions.config.route
    // Problem documents have their own tests.
    if (route === undefined || request.problemSlug !== null) return payload
    const schema = route.schema.response[reply.statusCode]
    if (schema === undefined) throw new Error(`${route.operationId} does not declare the response ${reply.statusCode}`)
    if (payload instanceof Readable) return payload
    const checks = compiled.get(route.schema) ?? new Map<number, Check>()
    compiled.set(route.schema, checks)
    const check = checks.get(reply.statusCode) ?? compileSchema(schema)
    checks.set(reply.statusCode, check)
    const isPage = /^text\/html/.test(String(reply.getHeader('content-type')))
    const errors = check(isPage ? String(payload) : bodyOf(payload))
    if (errors.length > 0) {
      throw new Error(`${route.operationId} ${reply.statusCode} differs from its schema: ${JSON.stringify(errors)}`)
    }
    return payload
  })
}

function bodyOf(payload: unknown): unknown {
  if (payload === undefined || payload === null || payload === '') return null
  return JSON.parse(String(payload)) as unknown
}
